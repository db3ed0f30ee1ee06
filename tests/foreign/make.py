"""Makes the fixtures of the readers anew, each by the tool itself with invented answers.

Run it with a Python that has the tool, from this folder; models are mocked, nothing is sent:

    python make.py inspect_ai     (pip install inspect_ai)
    python make.py deepeval       (pip install deepeval)
    python make.py lm_eval        (pip install lm_eval)
    python make.py label_studio   (pip install label-studio-sdk)
    python make.py promptfoo      (npm install promptfoo, Node 22; PROMPTFOO is its command)
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
QUESTIONS = (
    ("t-001", "When does the library open?", "nine", "At nine.", "At nine, please come in."),
    ("t-002", "May I bring a sandwich?", "no", "No food, please.", "No."),
    (
        "t-003",
        "Where are the atlases?",
        "second floor",
        "On the third floor.",
        "On the second floor.",
    ),
    ("t-004", "Can I renew a book twice?", "yes", "Yes, twice.", "I do not know."),
)


def inspect_ai() -> None:
    """A task with two epochs, a string scorer, a model grader and a scorer of two attributes."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import write_eval_log
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Score, includes, mean, model_graded_qa, scorer
    from inspect_ai.solver import generate

    def outputs(texts):
        made = [ModelOutput.from_content("mockllm/model", text) for text in texts]
        for one in made:
            one.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return made

    @scorer(metrics={"clear": [mean()], "polite": [mean()]})
    def manners():
        async def score(state, target):
            text = state.output.completion
            return Score(
                value={"clear": min(5, 1 + len(text) // 6), "polite": 5 if "please" in text else 3}
            )

        return score

    answers = [row[3] for row in QUESTIONS] + [row[4] for row in QUESTIONS]
    for form in ("json", "eval"):
        grades = [f"GRADE: {letter}" for letter in "CCIPCCCI"]
        grader = get_model("mockllm/grader", custom_outputs=outputs(grades), memoize=False)
        task = Task(
            name="help_desk",
            dataset=MemoryDataset(
                [
                    Sample(id=f"q{at}", input=q, target=t, metadata={"ticket_id": i})
                    for at, (i, q, t, *_) in enumerate(QUESTIONS, 1)
                ]
            ),
            solver=generate(),
            scorer=[includes(), model_graded_qa(partial_credit=True, model=grader), manners()],
            epochs=2,
        )
        model = get_model("mockllm/model", custom_outputs=outputs(answers), memoize=False)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)  # no path and no revision of a repository in the log
            (log,) = evaluate(task, model=model, log_dir=folder, log_format=form, display="none",
                          max_samples=1, log_realtime=False)  # fmt: skip
            if log.status != "success":
                raise SystemExit(log.error)
            for sample in log.samples:  # what happened inside is most of a log, and no rating
                sample.events = []
            (HERE / "inspect_ai").mkdir(exist_ok=True)
            write_eval_log(log, HERE / "inspect_ai" / f"help_desk.{form}", form)


def deepeval() -> None:
    """A test run with a metric that always answers, and one that fails on one case."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DEEPEVAL_RESULTS_FOLDER": folder, "DEEPEVAL_TELEMETRY_OPT_OUT": "YES"}
        os.chdir(folder)
        from deepeval import evaluate
        from deepeval.evaluate.configs import AsyncConfig, DisplayConfig, ErrorConfig
        from deepeval.metrics import BaseMetric
        from deepeval.test_case import LLMTestCase

        class Mocked(BaseMetric):
            threshold, async_mode, evaluation_model = 0.5, False, "mock-grader"

            def __init__(self, name, score):
                self.name, self.by = name, score

            def measure(self, test_case):
                self.score = self.by(test_case)
                self.success, self.reason = self.score >= self.threshold, "invented"
                return self.score

            async def a_measure(self, test_case):
                return self.measure(test_case)

            def is_successful(self):
                return bool(self.success)

            @property
            def __name__(self):
                return self.name

        def helpful(case):
            if "twice" in case.input:
                raise ValueError("the grader did not answer")
            return 0.9 if case.expected_output in case.actual_output.lower() else 0.2

        cases = [
            LLMTestCase(input=q, actual_output=a, expected_output=t, name=i)
            for i, q, t, a, _ in QUESTIONS
        ]
        metrics = [
            Mocked("Polite", lambda case: float("please" in case.actual_output)),
            Mocked("Helpful", helpful),
        ]
        evaluate(
            cases,
            metrics,
            hyperparameters={"model": "desk-a"},
            error_config=ErrorConfig(ignore_errors=True),
            async_config=AsyncConfig(run_async=False),
            display_config=DisplayConfig(print_results=False, show_indicator=False),
        )
        (HERE / "deepeval").mkdir(exist_ok=True)
        shutil.copy(next(Path(folder).glob("test_run_*.json")), HERE / "deepeval/test_run.json")


def lm_eval() -> None:
    """A task of its own over four documents, answered by the harness's dummy model."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        docs = [{"question": q, "answer": t} for _, q, t, *_ in QUESTIONS]
        Path("docs.jsonl").write_text("\n".join(map(json.dumps, docs)) + "\n")
        Path("help_desk.yaml").write_text(
            "task: help_desk\ndataset_path: json\ndataset_kwargs:\n  data_files:\n"
            "    test: docs.jsonl\ntest_split: test\noutput_type: generate_until\n"
            'doc_to_text: "{{question}}"\ndoc_to_target: "{{answer}}"\n'
            "generation_kwargs:\n  until: []\n"
            "filter_list:\n"
            "  - name: strict\n    filter:\n      - function: take_first\n"
            "  - name: loose\n    filter:\n      - function: lowercase\n"
            "      - function: take_first\n"
            "metric_list:\n  - metric: exact_match\n    aggregation: mean\n"
            "    higher_is_better: true\n"
        )
        from lm_eval import simple_evaluate
        from lm_eval.loggers import EvaluationTracker
        from lm_eval.tasks import TaskManager

        manager = TaskManager(include_path=folder, include_defaults=False)
        found = simple_evaluate("dummy", tasks=["help_desk"], task_manager=manager,
                                log_samples=True)  # fmt: skip
        tracker = EvaluationTracker(output_path=folder + "/out")
        tracker.general_config_tracker.model_name_sanitized = "dummy"
        tracker.date_id = "2024-05-01T10-00-00.000000"
        tracker.save_results_samples("help_desk", found["samples"]["help_desk"])
        (HERE / "lm_eval").mkdir(exist_ok=True)
        (made,) = Path(folder).rglob("samples_*.jsonl")
        shutil.copy(made, HERE / "lm_eval" / made.name)


#: Two annotators, one of whom skipped a task; a model's predictions; a draft.
STARS = ((4, 5), (2, 1), (3, 4), (5, None))
TONES = (("polite", "polite"), ("curt", "curt"), ("polite", "neutral"), ("polite", None))


def label_studio() -> None:
    """JSON as Label Studio's server writes it (from documentation: README.md); from it JSON-MIN
    and CSV by the converter of label-studio-sdk.
    """
    config = (
        '<View><Text name="question" value="$question"/><Text name="answer" value="$answer"/>'
        '<Rating name="help" toName="answer" maxRating="5"/>'
        '<Choices name="tone" toName="answer" choice="single"><Choice value="polite"/>'
        '<Choice value="neutral"/><Choice value="curt"/></Choices></View>'
    )
    tasks = [_task(at, row) for at, row in enumerate(QUESTIONS)]
    (HERE / "label_studio").mkdir(exist_ok=True)
    whole = HERE / "label_studio" / "project.json"
    whole.write_text(json.dumps(tasks, indent=1) + "\n")
    pairs = [
        {
            "id": task["id"],
            "data": {"prompt": "Which is clearer?", "one": "No.", "two": "No food, please."},
            "annotations": [
                {"id": 900 + task["id"], "completed_by": 1, "was_cancelled": False,
                 "result": [{"id": "r", "type": "pairwise", "from_name": "pair",
                             "to_name": "one,two", "value": {"selected": "right"}}]}
            ],
            "predictions": [],
        }
        for task in tasks
    ]  # fmt: skip
    (HERE / "label_studio" / "pairwise.json").write_text(json.dumps(pairs, indent=1) + "\n")
    from label_studio_sdk.converter import Converter

    with tempfile.TemporaryDirectory() as folder:
        converter = Converter(config, folder, download_resources=False)
        converter.convert_to_json_min(str(whole), folder + "/min", is_dir=False)
        converter.convert_to_csv(str(whole), folder + "/csv", is_dir=False, sep=",", header=True)
        shutil.copy(folder + "/min/result.json", HERE / "label_studio" / "project_min.json")
        shutil.copy(folder + "/csv/result.csv", HERE / "label_studio" / "project.csv")


def _task(at, row):
    ticket, question, _, answer, _ = row

    def results(stars, tone):
        return [
            {"id": "s", "type": "rating", "from_name": "help", "to_name": "answer",
             "origin": "manual", "value": {"rating": stars}},
            {"id": "t", "type": "choices", "from_name": "tone", "to_name": "answer",
             "origin": "manual", "value": {"choices": [tone]}},
        ]  # fmt: skip

    annotations = [
        {
            "id": 10 * at + who,
            "completed_by": who,
            "result": [] if stars is None else results(stars, tone),
            "was_cancelled": stars is None,
            "ground_truth": False,
            "created_at": "2024-05-01T10:00:00Z",
            "updated_at": "2024-05-01T10:00:00Z",
            "lead_time": 8.5,
        }
        for who, stars, tone in zip((1, 2), STARS[at], TONES[at], strict=True)
    ]
    prediction = {"id": 500 + at, "model_version": "tagger-1", "score": 0.93,
                  "result": results(4, "polite")}  # fmt: skip
    return {
        "id": 100 + at,
        "data": {"ticket_id": ticket, "question": question, "answer": answer},
        "annotations": annotations,
        "predictions": [prediction],
        "drafts": [],
        "created_at": "2024-05-01T09:00:00Z",
        "total_annotations": len(annotations),
    }


CONFIG = {
    "description": "invented answers of a library help desk",
    "prompts": ["Answer briefly: {{question}}"],
    "providers": [{"id": "file://desk.js", "label": name, "config": {"at": at}}
                  for at, name in enumerate(("desk-a", "desk-b"))],
    "defaultTest": {
        "assert": [
            {"type": "javascript", "value": "output.length < 15 ? 1 : 0.5", "metric": "Brief"},
            {"type": "contains", "value": "please", "metric": "Polite"},
            {"type": "llm-rubric", "value": "The answer is helpful", "metric": "Helpful",
             "provider": "file://grader.js"},
        ]
    },
    "tests": [{"vars": {"question": q, "ticket_id": i}} for i, q, *_ in QUESTIONS],
}  # fmt: skip
DESK = """
const said = %s;
module.exports = class {
  constructor(options) { this.at = options.config.at; }
  id() { return 'desk'; }
  async callApi(prompt) {
    const key = Object.keys(said).find((one) => prompt.includes(one));
    if (this.at === 1 && prompt.includes('twice')) return { error: 'the model did not answer' };
    return { output: said[key][this.at] };
  }
};
"""
GRADER = """
module.exports = class {
  id() { return 'grader'; }
  async callApi(prompt) {
    const good = /nine|floor|No/.test(prompt.split('<Output>').pop());
    return { output: JSON.stringify({ pass: good, score: good ? 0.9 : 0.2, reason: 'invented' }) };
  }
};
"""


def promptfoo() -> None:
    """Results as JSON and CSV, and the JSON again after two outputs were rated by hand.

    Rating by hand is done on promptfoo's page; what that writes is repeated here from its code
    (handleRating: the mean of the scores is replaced, and a result of the type "human" is added).
    """
    said = {question: list(answers) for _, question, _, *answers in QUESTIONS}
    (HERE / "promptfoo").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "promptfooconfig.json").write_text(json.dumps(CONFIG))
        Path(folder, "desk.js").write_text(DESK % json.dumps(said))
        Path(folder, "grader.js").write_text(GRADER)
        quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
        subprocess.run(
            [*shlex.split(os.environ.get("PROMPTFOO", "npx promptfoo")), "eval", "-c",
             "promptfooconfig.json", "-o", "results.json", "-o", "results.csv", "--no-cache",
             "--no-table", "-j", "1"],
            cwd=folder, env={**os.environ, **quiet, "PROMPTFOO_CONFIG_DIR": folder}, check=False,
        )  # fmt: skip
        shutil.copy(Path(folder, "results.csv"), HERE / "promptfoo")
        found = json.loads(Path(folder, "results.json").read_text())
    found.pop("runtimeOptions", None)
    found.get("config", {}).pop("outputPath", None)
    for result in found["results"]["results"]:  # the long prompt of the grader
        for part in (result.get("gradingResult") or {}).get("componentResults", []):
            part.pop("metadata", None)
    path = HERE / "promptfoo" / "results.json"
    path.write_text(json.dumps(found, indent=1) + "\n")
    graded = [one for one in found["results"]["results"] if one.get("gradingResult")]
    for one, passed in zip(graded[:2], (True, False), strict=True):
        reason = "Manual result (overrides all other grading results)"
        by_hand = {"pass": passed, "score": int(passed), "reason": reason,
                   "comment": "", "assertion": {"type": "human"}}  # fmt: skip
        one["gradingResult"]["componentResults"].append(by_hand)
        one["gradingResult"] |= {"pass": passed, "score": int(passed), "reason": reason}
        one |= {"success": passed, "score": int(passed)}
    path = HERE / "promptfoo" / "results_rated.json"
    path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    os.chdir(HERE)
    globals()[sys.argv[1]]()
