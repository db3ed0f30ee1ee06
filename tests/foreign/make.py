"""Makes the fixtures of the readers anew, each by the tool itself with invented answers.

Run it with a Python that has the tool; models are mocked, nothing is sent. A second word is added
to the names of the files: the version, where it is not the present one (README.md says which).

    python make.py inspect_ai     (pip install inspect_ai)
    python make.py inspect_ai _0.3.70        (pip install inspect_ai==0.3.70), and so on
    python make.py deepeval       (pip install deepeval)
    python make.py lm_eval        (pip install lm_eval)
    python make.py label_studio   (pip install label-studio; LABEL_STUDIO is its command)
    python make.py argilla        (pip install argilla)
    python make.py langfuse       (pip install langfuse)
    python make.py langsmith      (pip install langsmith)
    python make.py mlflow         (pip install mlflow)
    python make.py braintrust     (pip install braintrust pytest)
    python make.py langsmith_experiment      (pip install langsmith pandas)
    python make.py trulens        (pip install trulens-core trulens-feedback)
    python make.py ragas          (pip install ragas)
    python make.py openai_evals   (pip install openai)
    python make.py promptfoo      (npm install promptfoo, Node 22; PROMPTFOO is its command;
                                   pip install selenium, and Chromium, for the ratings by hand)
"""

import http.cookiejar
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
import uuid
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
#: Added to the name of each file: the version of a tool that is not the present one.
MARK = "".join(sys.argv[2:])
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


def mlflow() -> None:
    """Traces in a store of their own, with a person's and a judge's feedback, and one taken back."""
    import mlflow as tool
    from mlflow.entities import AssessmentSource

    with tempfile.TemporaryDirectory() as folder:
        tool.set_tracking_uri(f"sqlite:///{folder}/store.db")
        tool.set_experiment("help desk")
        for (ticket, question, _, answer, _), human, judge in zip(
            QUESTIONS, (5, 4, 2, 4), (5, 5, 1, 4), strict=True
        ):
            with tool.start_span(name="answer") as span:
                span.set_inputs({"question": question, "ticket": ticket})
                span.set_outputs({"answer": answer})
            tool.flush_trace_async_logging()
            for kind, who, score in (
                ("HUMAN", "ann@example.org", human),
                ("LLM_JUDGE", "gpt-4o", judge),
            ):
                source = AssessmentSource(source_type=kind, source_id=who)
                tool.log_feedback(
                    trace_id=span.trace_id,
                    name="helpful",
                    value=score,
                    source=source,
                    rationale="as a reader" if kind == "HUMAN" else "It answers.",
                )
        traces = [json.loads(each.to_json()) for each in tool.search_traces(return_type="list")]
        table = json.loads(tool.search_traces().to_json(orient="records", default_handler=str))
    for each in traces:  # what names this machine, and the spans, which are not read
        meta = each["info"]["trace_metadata"]
        each["info"]["trace_metadata"] = {
            key: value for key, value in meta.items() if "source" not in key and "user" not in key
        }
        each["info"]["tags"], each["data"]["spans"] = {}, []
    for row in table:
        row |= {"trace": None, "spans": [], "tags": {}, "trace_metadata": {}}
    traces.sort(key=lambda each: each["info"]["request_time"])
    for name, value in (("traces", traces), ("traces_table", table)):
        path = HERE / "mlflow" / f"{name}{MARK}.json"
        path.write_text(json.dumps(value, indent=1), encoding="utf-8")


def openai_evals() -> None:
    """Output items of a run, by the types of OpenAI's library: its server is not asked."""
    from openai.types.evals.runs import OutputItemListResponse

    items = []
    for at, (ticket, question, _, answer, _) in enumerate(QUESTIONS):
        grader = "helpful-0a1b2c3d-1111-2222-3333-444455556666"
        items.append(
            OutputItemListResponse.model_validate(
                {
                    "id": f"outputitem_{at}", "object": "eval.run.output_item", "created_at": 1 + at,
                    "eval_id": "eval_1", "run_id": "evalrun_1", "status": "pass",
                    "datasource_item_id": at,
                    "datasource_item": {"ticket": ticket, "question": question},
                    "results": [{"name": grader, "passed": at != 2, "score": [5, 4, 1, 4][at]}],
                    "sample": {
                        "error": {"code": "", "message": ""}, "finish_reason": "stop",
                        "input": [{"role": "user", "content": question}],
                        "output": [{"role": "assistant", "content": answer}],
                        "max_completion_tokens": 64, "model": "gpt-4o-mini", "seed": 0,
                        "temperature": 0.0, "top_p": 1.0,
                        "usage": {"cached_tokens": 0, "completion_tokens": 5, "prompt_tokens": 9,
                                  "total_tokens": 14},
                    },
                }
            ).model_dump(mode="json")
        )  # fmt: skip
    folder = HERE / "openai_evals"
    page = {"object": "list", "data": items, "has_more": False}
    (folder / f"page{MARK}.json").write_text(json.dumps(page, indent=1), encoding="utf-8")
    lines = "".join(json.dumps(item) + "\n" for item in items)
    (folder / f"items{MARK}.jsonl").write_text(lines, encoding="utf-8")


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
            (log,) = evaluate(
                task,
                model=model,
                log_dir=folder,
                log_format=form,
                display="none",
                max_samples=1,
                log_realtime=False,
            )
            if log.status != "success":
                raise SystemExit(log.error)
            for sample in log.samples:  # what happened inside is most of a log, and no rating
                sample.events = []
            (HERE / "inspect_ai").mkdir(exist_ok=True)
            write_eval_log(log, str(HERE / "inspect_ai" / f"help_desk{MARK}.{form}"), form)
            os.chdir(HERE)


def deepeval() -> None:
    """A test run with a metric that always answers, and one that fails on one case."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "results"
        os.environ |= {"DEEPEVAL_RESULTS_FOLDER": str(kept), "DEEPEVAL_TELEMETRY_OPT_OUT": "YES"}
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
        shutil.copy(next(kept.iterdir()), HERE / "deepeval" / f"test_run{MARK}.json")


#: The rule of the hub's metric, which lm_eval before 0.4.3 loads from there when it is imported.
EXACT_MATCH = """
import datasets
import evaluate

class ExactMatch(evaluate.Metric):
    def _info(self):
        features = {one: datasets.Value("string") for one in ("predictions", "references")}
        return evaluate.MetricInfo(description="", citation="",
                                   features=datasets.Features(features))

    def _compute(self, predictions, references):
        same = [left == right for left, right in zip(predictions, references)]
        return {"exact_match": sum(same) / len(same)}
"""
#: One task is answered in words, the other by the likeliest of two choices.
TASKS = {
    "help_desk": """
output_type: generate_until
doc_to_target: "{{answer}}"
generation_kwargs: {until: []}
filter_list:
  - {name: strict, filter: [{function: take_first}]}
  - {name: loose, filter: [{function: lowercase}, {function: take_first}]}
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
""",
    "help_desk_choice": """
output_type: multiple_choice
doc_to_choice: ["yes", "no"]
doc_to_target: 0
metric_list: [{metric: acc}, {metric: acc_norm}]
""",
}
ALL_TASKS = """
task: %s
dataset_path: json
dataset_kwargs: {data_files: {test: docs.jsonl}}
test_split: test
doc_to_text: "{{question}}"
"""


def lm_eval() -> None:
    """Two tasks, answered by the harness's dummy model: "lol", or a choice by chance."""
    docs = [{"question": q, "answer": t} for _, q, t, *_ in QUESTIONS]
    docs.append({"question": "What does a dummy say?", "answer": "lol"})
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        (at / "docs.jsonl").write_text("\n".join(map(json.dumps, docs)) + "\n")
        (at / "tasks").mkdir()
        (at / "exact_match").mkdir()
        (at / "exact_match/exact_match.py").write_text(EXACT_MATCH)
        for name, task in TASKS.items():
            (at / f"tasks/{name}.yaml").write_text(ALL_TASKS % name + task)
            # Before 0.4.3 the dummy model breaks on what is answered in words.
            subprocess.run(
                [sys.executable, "-m", "lm_eval", "--model", "dummy",
                 "--model_args", "pretrained=desk", "--tasks", name, "--include_path", "tasks",
                 "--output_path", "out", "--log_samples"],
                cwd=folder, check=False, env={**os.environ, "HF_HUB_OFFLINE": "1"},
            )  # fmt: skip
        (HERE / "lm_eval").mkdir(exist_ok=True)
        for made in (at / "out").rglob("*help_desk*.jsonl"):
            # One name whenever it is made: the time stands in it.
            name = re.sub(r"\d{4}-\d\d-\d\dT.*", "2024-05-01T10-00-00.000000", made.stem)
            shutil.copy(made, HERE / "lm_eval" / f"{name}{MARK}.jsonl")


#: Two annotators, one of whom skipped a task; a model's predictions; a draft.
STARS = ((4, 5), (2, 1), (3, 4), (5, None))
TONES = (("polite", "polite"), ("curt", "curt"), ("polite", "neutral"), ("polite", None))


DESK_LABELS = (
    '<View><Text name="question" value="$question"/><Text name="answer" value="$answer"/>'
    '<Rating name="help" toName="answer" maxRating="5"/>'
    '<Choices name="tone" toName="answer" choice="single"><Choice value="polite"/>'
    '<Choice value="neutral"/><Choice value="curt"/></Choices></View>'
)
PAIR_LABELS = (
    '<View><Pairwise name="pair" toName="one,two"/><Text name="prompt" value="$prompt"/>'
    '<Text name="one" value="$one"/><Text name="two" value="$two"/></View>'
)
STUDIO = "http://127.0.0.1:18080"


class Annotator:
    """A person who is logged in to the server of Label Studio."""

    def __init__(self, name: str) -> None:
        self.cookies = http.cookiejar.CookieJar()
        keeps = urllib.request.HTTPCookieProcessor(self.cookies)
        self.opener = urllib.request.build_opener(keeps)
        page = self.call("GET", "/user/signup/").decode()
        form = {"email": f"{name}@example.org", "password": f"a-{name}-Password1"}
        form["csrfmiddlewaretoken"] = re.search('csrfmiddlewaretoken" value="([^"]+)"', page)[1]
        self.call("POST", "/user/signup/", form=form)

    def call(self, method, path, sent=None, form=None):
        tokens = [one.value for one in self.cookies if one.name == "csrftoken"]
        heads = {"Referer": STUDIO, "X-CSRFToken": "".join(tokens[:1])}
        body = urllib.parse.urlencode(form).encode() if form else None
        if sent is not None:
            body, heads["Content-Type"] = json.dumps(sent).encode(), "application/json"
        request = urllib.request.Request(STUDIO + path, body, heads, method=method)
        with self.opener.open(request, timeout=60) as answer:
            text = answer.read()
        return json.loads(text) if text[:1] in (b"[", b"{") else text

    def project(self, title, labels, data):
        """A new project with its tasks: its id, and theirs."""
        made = self.call("POST", "/api/projects", {"title": title, "label_config": labels})["id"]
        self.call("POST", f"/api/projects/{made}/import", [{"data": one} for one in data])
        tasks = self.call("GET", f"/api/tasks?project={made}&page_size=100")
        if isinstance(tasks, list):  # version 1.4 lists the tasks of all projects
            tasks = {"tasks": [one for one in tasks if one["project"] == made]}
        return made, sorted(one["id"] for one in tasks["tasks"])


def label_studio() -> None:
    """A project of ratings and choices as JSON, JSON-MIN and CSV, and a pairwise one, by the server:
    two people, one of whom skips a task, a model's predictions.
    """
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "LABEL_STUDIO_BASE_DATA_DIR": folder, "COLLECT_ANALYTICS": "False"}
        command = shlex.split(os.environ.get("LABEL_STUDIO", "label-studio"))
        server = subprocess.Popen(
            [*command, "start", "--no-browser", "--port", "18080"], cwd=folder, env=env
        )
        try:
            _until(f"{STUDIO}/health")
            _label_studio(Annotator("ada"), Annotator("ben"))
        finally:
            server.terminate()
            server.wait()


def _label_studio(ada: Annotator, ben: Annotator) -> None:
    tasks = [_task(at, row) for at, row in enumerate(QUESTIONS)]
    project, ids = ada.project("desk", DESK_LABELS, [task["data"] for task in tasks])
    for at, task in zip(ids, tasks, strict=True):
        for person, one in zip((ada, ben), task["annotations"], strict=True):
            person.call("POST", f"/api/tasks/{at}/annotations/", one)
        ada.call("POST", "/api/predictions", {"task": at, **task["prediction"]})
    data = {"prompt": "Which is clearer?", "one": "No.", "two": "No food, please."}
    pairs, pair_ids = ada.project("pairs", PAIR_LABELS, [data] * 4)
    chosen = {
        "id": "r",
        "type": "pairwise",
        "from_name": "pair",
        "to_name": "one,two",
        "value": {"selected": "right"},
    }
    for at in pair_ids:
        ada.call("POST", f"/api/tasks/{at}/annotations/", {"result": [chosen]})
    (HERE / "label_studio").mkdir(exist_ok=True)
    for number, form, name in ((project, "JSON", "plain.json"), (pairs, "JSON", "pairwise.json"),
                               (pairs, "JSON_MIN", "pairwise_min.json"),
                               (pairs, "CSV", "pairwise.csv"),
                               (project, "JSON_MIN", "project_min.json"),
                               (project, "CSV", "project.csv")):  # fmt: skip
        _kept(name, ada.call("GET", f"/api/projects/{number}/export?exportType={form}"))
    # The plain export holds the numbers of predictions alone; a snapshot may hold them whole.
    options = {"title": "whole", "serialization_options": {"predictions": {"only_id": False}}}
    made = ada.call("POST", f"/api/projects/{project}/exports/", options)["id"]
    time.sleep(20)
    where = f"/api/projects/{project}/exports/{made}/download?exportType=JSON"
    _kept("project.json", ada.call("GET", where))


def _kept(name: str, made: object) -> None:
    text = made.decode() if isinstance(made, bytes) else json.dumps(made, indent=1) + "\n"
    stem, kind = name.split(".")
    (HERE / "label_studio" / f"{stem}{MARK}.{kind}").write_text(text, newline="")


def _until(address: str) -> None:
    """Wait for a server, which makes its database first."""
    for _ in range(300):
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            time.sleep(1)
        else:
            return
    raise SystemExit(f"{address} does not answer")


def _task(at, row):
    ticket, question, _, answer, _ = row

    def results(stars, tone):
        return [
            {
                "id": "s",
                "type": "rating",
                "from_name": "help",
                "to_name": "answer",
                "origin": "manual",
                "value": {"rating": stars},
            },
            {
                "id": "t",
                "type": "choices",
                "from_name": "tone",
                "to_name": "answer",
                "origin": "manual",
                "value": {"choices": [tone]},
            },
        ]

    annotations = [
        {
            "result": [] if stars is None else results(stars, tone),
            "was_cancelled": stars is None,
            "lead_time": 8.5,
        }
        for stars, tone in zip(STARS[at], TONES[at], strict=True)
    ]
    return {
        "data": {"ticket_id": ticket, "question": question, "answer": answer},
        "annotations": annotations,
        "prediction": {"model_version": "tagger-1", "score": 0.93, "result": results(4, "polite")},
    }


def argilla() -> None:
    """Records as `dataset.records.to_json` writes them: two people, a draft, a model's hints."""
    import argilla as rg
    from argilla.records._io import JsonIO

    people = [uuid.UUID(int=at) for at in (1, 2)]
    records = []
    for (ticket, question, _, answer, _), stars, tones in zip(QUESTIONS, STARS, TONES, strict=True):
        said = [
            rg.Response(name, value, user_id=who, status="submitted" if value else "draft")
            for name, values in (("help", stars), ("tone", tones))
            for who, value in zip(people, values, strict=True)
            if value
        ]
        records.append(
            rg.Record(
                id=ticket,
                fields={"question": question, "answer": answer},
                metadata={"desk": "a"},
                responses=said,
                suggestions=[rg.Suggestion("help", 4, score=0.9, agent="tagger-1")],
            )
        )
    path = HERE / "argilla" / "records.json"
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    JsonIO.to_json(records, path)


def langfuse() -> None:
    """Scores of a person and of an evaluator, as version 2 and 3 of the API send them."""
    from langfuse import api

    at = "2024-05-01T10:00:00Z"
    base = {"timestamp": at, "created_at": at, "updated_at": at, "environment": "default"}
    old, new = [], []
    for n, (ticket, *_) in enumerate(QUESTIONS):
        for kind, stars, who in (("ANNOTATION", STARS[n][0], "u1"), ("EVAL", 4, None)):
            named = base | {
                "id": f"{kind}-{n}",
                "name": "help",
                "source": kind,
                "value": stars,
                "author_user_id": who,
            }
            old.append(api.Score_Numeric(**named, trace_id=ticket))
            subject = {"kind": "trace", "id": ticket}
            new.append(api.ScoreV3_Numeric(**named, project_id="p", subject=subject))
        tone = base | {
            "id": f"tone-{n}",
            "name": "tone",
            "source": "ANNOTATION",
            "author_user_id": "u1",
        }
        old.append(
            api.Score_Categorical(**tone, trace_id=ticket, value=0, string_value=TONES[n][0])
        )
        new.append(
            api.ScoreV3_Categorical(
                **tone,
                project_id="p",
                value=TONES[n][0],
                subject={"kind": "observation", "id": ticket, "trace_id": f"trace-{n}"},
            )
        )
    new.append(
        api.ScoreV3_Boolean(
            **base,
            id="s",
            name="done",
            source="API",
            value=True,
            project_id="p",
            subject={"kind": "session", "id": "s1"},
        )
    )
    (HERE / "langfuse").mkdir(exist_ok=True)
    for name, scores in (("scores_v2", old), ("scores_v3", new)):
        sent = {"data": [json.loads(one.json()) for one in scores], "meta": {"limit": 50}}
        (HERE / "langfuse" / f"{name}.json").write_text(json.dumps(sent, indent=1) + "\n")


def langsmith() -> None:
    """Runs with statistics of feedback, and the feedback of a person and of an evaluator."""
    from langsmith import schemas

    at = "2024-05-01T10:00:00Z"
    runs, feedback = [], []
    for n, (_, question, _, answer, _) in enumerate(QUESTIONS):
        run, example = uuid.UUID(int=100 + n), uuid.UUID(int=200 + n)
        stats = {"correct": {"n": 1, "avg": float(n < 3)}, "help": {"n": 2, "avg": 3.5}}
        runs.append(
            schemas.Run(
                id=run,
                name="desk",
                start_time=at,
                run_type="chain",
                trace_id=run,
                session_id=uuid.UUID(int=9),
                reference_example_id=example,
                feedback_stats=stats,
                inputs={"question": question},
                outputs={"answer": answer},
            )
        )
        for kind, who, stars in (("app", uuid.UUID(int=1), STARS[n][0]), ("model", None, 4)):
            feedback.append(
                schemas.Feedback(
                    id=uuid.uuid5(run, kind),
                    created_at=at,
                    modified_at=at,
                    run_id=run,
                    trace_id=run,
                    key="help",
                    score=stars,
                    session_id=uuid.UUID(int=9),
                    feedback_source=schemas.FeedbackSourceBase(type=kind, user_id=who),
                )
            )
    (HERE / "langsmith").mkdir(exist_ok=True)
    for name, made in (("runs", runs), ("feedback", feedback)):
        lines = [one.model_dump_json(exclude_none=False) for one in made]
        (HERE / "langsmith" / f"{name}.jsonl").write_text("\n".join(lines) + "\n")


def langsmith_experiment() -> None:
    """The table of an experiment with two evaluators; nothing is uploaded."""
    from langsmith import Client, evaluate, schemas

    said = {question: (answer, n) for n, (_, question, _, answer, _) in enumerate(QUESTIONS)}
    examples = [
        schemas.Example(
            id=uuid.UUID(int=200 + n),
            inputs={"question": question, "ticket": ident},
            outputs={"answer": answer},
            dataset_id=uuid.UUID(int=1),
        )
        for n, (ident, question, _, answer, _) in enumerate(QUESTIONS)
    ]

    def helpful(run: Any, example: Any) -> dict[str, Any]:
        return {"key": "helpful", "score": STARS[said[run.inputs["question"]][1]][0]}

    def tone(run: Any, example: Any) -> dict[str, Any]:
        return {"key": "tone", "value": ("warm", "curt")[said[run.inputs["question"]][1] % 2]}

    done = evaluate(
        lambda inputs: {"answer": said[inputs["question"]][0]},
        data=examples,
        evaluators=[helpful, tone],
        upload_results=False,
        client=Client(api_key="none", api_url="http://localhost:1"),
    )
    table = done.to_pandas()
    table["execution_time"], table["id"] = 0.1, [str(uuid.UUID(int=300 + n)) for n in range(4)]
    table.sort_values("example_id").to_csv(HERE / "langsmith" / "experiment.csv", index=False)


def braintrust() -> None:
    """What an evaluation returns, and the events that it would send, kept in memory."""
    from braintrust import Eval, logger, test_helpers

    said = {question: (answer, n) for n, (_, question, _, answer, _) in enumerate(QUESTIONS)}

    def helpful(input: Any, output: Any, expected: Any = None) -> float:  # noqa: A002 - its name
        return STARS[said[input["question"]][1]][0] / 5

    cases = [
        {"input": {"question": question}, "expected": answer, "metadata": {"ticket": ident}}
        for ident, question, _, answer, _ in QUESTIONS
    ]
    done = Eval(
        "desk",
        data=cases,
        task=lambda asked: said[asked["question"]][0],
        scores=[helpful],
        no_send_logs=True,
    )
    (HERE / "braintrust").mkdir(exist_ok=True)
    (HERE / "braintrust" / "eval.json").write_text(
        json.dumps(done.as_dict(), default=str, indent=1)
    )
    with logger._internal_with_memory_background_logger() as kept:
        experiment = test_helpers.init_test_exp("desk", "help desk")
        for n, case in enumerate(cases):
            with experiment.start_span(name="eval", type="eval", input=case["input"]) as span:
                with span.start_span(name="task", type="task"):
                    pass
                with span.start_span(name="helpful", type="score") as scorer:
                    scorer.log(output={"score": STARS[n][0] / 5}, metadata={"why": "invented"})
                span.log(
                    output=QUESTIONS[n][3],
                    expected=case["expected"],
                    metadata=case["metadata"],
                    scores={"helpful": STARS[n][0] / 5},
                )
        events = kept.pop()
    # Without the path of this machine.
    lines = [json.dumps({k: v for k, v in one.items() if k != "context"}) for one in events]
    (HERE / "braintrust" / "events.jsonl").write_text("\n".join(lines) + "\n")


def trulens() -> None:
    """Records of two versions of an app with two kinds of feedback, as the table of a session."""
    os.environ["TRULENS_OTEL_TRACING"] = "0"
    from trulens.apps.virtual import TruVirtual, VirtualApp, VirtualRecord
    from trulens.core import Feedback, TruSession

    stars = {question: STARS[n] for n, (_, question, *_) in enumerate(QUESTIONS)}

    def relevance(question: str, answer: str) -> float:
        return stars[question][answer == "It opens at nine."] / 5

    def brevity(answer: str) -> float:
        return round(1 / len(answer.split()), 3)

    feedbacks = [
        Feedback(relevance, name="Relevance").on_input_output(),
        Feedback(brevity, name="Brevity").on_output(),
    ]
    with tempfile.TemporaryDirectory() as folder:
        session = TruSession(database_url=f"sqlite:///{folder}/t.sqlite")
        for at, version in enumerate(("a", "b")):
            app = TruVirtual(
                app_name="desk",
                app_version=version,
                app=VirtualApp({"llm": version}),
                feedbacks=feedbacks,
            )
            for _, question, _, *answers in QUESTIONS:
                app.add_record(
                    VirtualRecord(main_input=question, main_output=answers[at], calls={})
                )
        time.sleep(10)
        table, _ = session.get_records_and_feedback()
    (HERE / "trulens").mkdir(exist_ok=True)
    # The definition of the app says nothing of a judgement, and is long.
    table["app_json"], table["record_json"] = "{}", "{}"
    table.to_csv(HERE / "trulens" / "records.csv", index=False)
    table.to_json(HERE / "trulens" / "records.json", orient="records")
    table.to_json(HERE / "trulens" / "columns.json", default_handler=str)


def ragas() -> None:
    """The table of an evaluation by two metrics that ask no model."""
    from ragas import EvaluationDataset, evaluate
    from ragas.metrics import ExactMatch, NonLLMStringSimilarity

    samples = [
        {
            "user_input": question,
            "response": answers[n % 2],
            "reference": answers[0],
            "retrieved_contexts": [f"It says: {expected}."],
        }
        for n, (_, question, expected, *answers) in enumerate(QUESTIONS)
    ]
    done = evaluate(
        EvaluationDataset.from_list(samples),
        metrics=[ExactMatch(), NonLLMStringSimilarity()],
        show_progress=False,
    )
    (HERE / "ragas").mkdir(exist_ok=True)
    table = done.to_pandas()
    table.to_csv(HERE / "ragas" / "scores.csv", index=False)
    table.to_json(HERE / "ragas" / "scores.jsonl", orient="records", lines=True)


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
    """Results as JSON and CSV, and as JSON after two outputs were rated by hand on its page."""
    said = {question: list(answers) for _, question, _, *answers in QUESTIONS}
    (HERE / "promptfoo").mkdir(exist_ok=True)
    command = shlex.split(os.environ.get("PROMPTFOO", "npx promptfoo"))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "promptfooconfig.json").write_text(json.dumps(CONFIG))
        Path(folder, "desk.js").write_text(DESK % json.dumps(said))
        Path(folder, "grader.js").write_text(GRADER)
        quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
        # Versions before 0.93 send rubrics to a server of promptfoo's even where a grader is named.
        quiet["PROMPTFOO_DISABLE_REDTEAM_REMOTE_GENERATION"] = "1"
        env = {**os.environ, **quiet, "PROMPTFOO_CONFIG_DIR": folder}
        subprocess.run(
            [
                *command,
                "eval",
                "-c",
                "promptfooconfig.json",
                "-o",
                "results.json",
                "-o",
                "results.csv",
                "--no-cache",
                "--no-table",
                "-j",
                "1",
            ],
            cwd=folder,
            env=env,
            check=False,
        )
        shutil.copy(Path(folder, "results.csv"), HERE / "promptfoo" / f"results{MARK}.csv")
        _keep(Path(folder, "results.json"), f"results{MARK}.json")
        page = subprocess.Popen([*command, "view", "-n", "-p", "15500"], cwd=folder, env=env)
        try:
            run = _rate_by_hand("http://127.0.0.1:15500")
        finally:
            page.terminate()
            page.wait()
        for words in (["export", "eval", run], ["export", run]):  # the second before 0.115
            done = subprocess.run(
                [*command, *words, "-o", "rated.json"], cwd=folder, env=env, check=False
            )
            if done.returncode == 0:
                break
        _keep(Path(folder, "rated.json"), f"results_rated{MARK}.json")


def _rate_by_hand(address: str) -> str:
    """One output passes and one fails, by a click each in a browser; gives the run's id."""
    from selenium import webdriver
    from selenium.webdriver.common.by import By

    _until(f"{address}/api/results")
    with urllib.request.urlopen(f"{address}/api/results") as answer:
        run = str(json.load(answer)["data"][0]["evalId"])
    options = webdriver.ChromeOptions()
    for option in ("--headless=new", "--no-sandbox", "--window-size=2400,1600"):
        options.add_argument(option)
    browser = webdriver.Chrome(options=options)
    browser.implicitly_wait(30)
    browser.get(f"{address}/eval/{run}")
    for label, hand, at in (("Mark test passed", "👍", 0), ("Mark test failed", "👎", 1)):
        time.sleep(5)  # the table is drawn anew after each change
        named = f'//button[@aria-label="{label}"] | //span[contains(text(), "{hand}")]'
        button = browser.find_elements(By.XPATH, named)[at]
        browser.execute_script("arguments[0].click()", button)
    time.sleep(5)
    browser.quit()
    return run


def _keep(path: Path, name: str) -> None:
    """The results without paths of this machine and without the grader's long prompts."""
    found = json.loads(path.read_text())
    found.pop("runtimeOptions", None)
    found.get("config", {}).pop("outputPath", None)
    for result in found["results"]["results"]:
        for part in (result.get("gradingResult") or {}).get("componentResults", []):
            part.pop("metadata", None)
    (HERE / "promptfoo" / name).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    os.chdir(HERE)
    globals()[sys.argv[1]]()
