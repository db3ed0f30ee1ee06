cat > promptfooconfig.yaml <<'YAML'
prompts: ["{{text}}"]
providers: [echo]
tests: answers.csv
defaultTest: {assert: [{type: javascript, value: "(1 + output.length % 5) / 5"}]}
YAML
promptfoo eval --no-cache --no-table
