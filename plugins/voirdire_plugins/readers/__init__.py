"""Readers of other tools' files: each turns an export into tidy ratings (docs/readers.md).

How each export is known stands here in one place, so that a plain table loads none of the modules
that read them.
"""

from __future__ import annotations

import importlib
import json
import re
from typing import TYPE_CHECKING, Any

import voirdire
from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from voirdire.schema import Rating
    from voirdire.tables import Reading

#: How sure a reader is by keys that other tools write too in part, by keys of its tool alone, and
#: where it knows more of a file than another that is sure of it.
_LIKELY, _SURE, _SURER = 0.9, 0.95, 0.97
_JSON = (".json", ".jsonl")


@dataclass(frozen=True, slots=True)
class Export:
    """The reader of one tool's exports, whose module is imported once there is one to be read.

    Attributes
    ----------
    name : str
        The reader's, and its module's.
    about : str
        The tool, the file and how it is exported.
    sniff : callable
        How sure it is that a file is such an export, from 0 to 1, by its path and first bytes.
    """

    name: str
    about: str
    sniff: Callable[[Path, bytes], float]

    def read(self, path: Path) -> Reading:
        """The file as tidy tables."""
        reading: Reading = importlib.import_module(f"{__name__}.{self.name}").read(path)
        return reading

    def conversations(self, path: Path) -> Iterator[Rating]:
        """The runs in the file, each with its steps as the turns of a response.

        Raises
        ------
        TableError
            The format has none, or none are read.
        """
        module = importlib.import_module(f"{__name__}.{self.name}")
        found: Callable[[Path], Iterator[Rating]] | None = getattr(module, "conversations", None)
        if found is None:
            raise voirdire.TableError(f"{path.name}: of {self.name} no steps of runs are read")
        return found(path)


@dataclass(frozen=True, slots=True)
class TracesExport(Export):
    """One whose files may be packed, and are read as one where they belong together."""

    def read_together(self, paths: Sequence[Path]) -> Reading:
        """The files as tidy tables, joined by the ids in them."""
        reading: Reading = importlib.import_module(f"{__name__}.{self.name}").read(*paths)
        return reading

    def conversations_together(self, paths: Sequence[Path]) -> Iterator[Rating]:
        """The runs in the files, joined by the ids in them.

        Raises
        ------
        TableError
            There are none.
        """
        module = importlib.import_module(f"{__name__}.{self.name}")
        runs: Iterator[Rating] = module.conversations(*paths)
        return runs


def has(head: bytes, *marks: str) -> bool:
    """Whether the beginning of a file holds all of these."""
    return all(mark.encode() in head for mark in marks)


def _first_line(head: bytes) -> bytes:
    return head.split(b"\n", 1)[0]


def _columns(path: Path, head: bytes) -> frozenset[str]:
    """The columns of a CSV file or, by its footer, of a Parquet file; none for any other."""
    if path.suffix == ".csv":
        names = _first_line(head).replace(b'"', b"").strip().split(b",")
        return frozenset(name.decode("utf-8", "replace") for name in names)
    if not head.startswith(b"PAR1"):
        return frozenset()
    import polars as pl  # noqa: PLC0415 - only for Parquet

    try:
        return frozenset(pl.read_parquet_schema(path))
    except (pl.exceptions.PolarsError, OSError):
        return frozenset()


#: What else the tables of experiments hold beside columns that begin with a path of keys.
_OF_LANGSMITH = frozenset(("error", "execution_time", "example_id", "id"))
_OF_SPANS = frozenset(
    (
        "name",
        "span_kind",
        "parent_id",
        "start_time",
        "end_time",
        "status_code",
        "status_message",
        "events",
        "cumulative_error_count",
    )
)
OF_SAMPLES = frozenset(
    ("user_input", "response", "reference", "retrieved_contexts", "reference_contexts", "rubrics",
     "multi_responses", "reference_tool_calls", "reference_topics", "retrieved_context_ids",
     "reference_context_ids", "persona_name", "query_style", "query_length", "synthesizer_name")
)  # fmt: skip
#: How Ragas calls its metrics.
_METRIC = re.compile(
    r"(?:faithfulness|(?:answer|response)_(?:relevancy|relevance|correctness|similarity|accuracy)"
    r"|(?:llm_|non_llm_|id_based_)?context_(?:precision|recall|entity_recall|relevance"
    r"|utilization)(?:_with(?:out)?_reference)?|semantic_similarity|factual_correctness"
    r"|exact_match|string_present|bleu_score|rouge_score|chrf_score|non_llm_string_similarity"
    r"|noise_sensitivity\w*|nv_\w+|aspect_critic|(?:domain_specific|instance)_rubrics"
    r"|rubrics_score|summary_score|topic_adherence|tool_call_(?:accuracy|f1)"
    r"|agent_goal_accuracy)(?:\(.*\))?$"
)
_OF_CALLS = frozenset(
    ("id", "op_name", "display_name", "trace_id", "parent_id", "thread_id", "turn_id",
     "started_at", "ended_at", "exception", "project_id", "wb_user_id", "wb_run_id", "deleted_at",
     "storage_size_bytes", "total_storage_size_bytes", "inputs", "output", "summary", "attributes")
)  # fmt: skip
_OF_RECORDS = frozenset(
    ("app_name", "app_version", "app_id", "app_json", "type", "record_id", "conversation_id",
     "input", "output", "tags", "record_json", "cost_json", "perf_json", "ts", "latency",
     "total_tokens", "total_cost", "cost_currency", "num_events", "record_metadata", "events")
)  # fmt: skip


def _are_of(columns: frozenset[str], known: frozenset[str], *begin: str) -> bool:
    """Whether a table has only columns of its tool: of one more somebody has to say what it is."""
    return all(name in known or name.startswith(begin) for name in columns)


def _is_alpaca_eval(path: Path, head: bytes) -> float:
    """By the keys of an annotation."""
    has_keys = has(head, '"generator_1"', '"generator_2"', '"preference"', '"annotator"')
    return _SURE * (has_keys and path.suffix in _JSON)


def _is_argilla(path: Path, head: bytes) -> float:
    """By the fields, responses and suggestions of a record."""
    has_keys = has(head, '"fields"', '"responses"', '"suggestions"')
    return _LIKELY * (has_keys and path.suffix in _JSON)


def _is_braintrust(path: Path, head: bytes) -> float:
    """By the scores of an event, beside what only Braintrust writes."""
    event = has(head, '"scores"', '"input"') and (
        has(head, '"root_span_id"') or has(head, '"experiment_id"')
    )
    returned = has(head, '"results"', '"scores"', '"expected"', '"exc_info"')
    return _SURE * ((event or returned) and path.suffix in _JSON)


def _is_deepeval(path: Path, head: bytes) -> float:
    """By the list of test cases and their metrics; its cache by its name, to say what to take."""
    has_keys = has(head, '"testCases"') and (has(head, '"metricsData"') or has(head, '"testFile"'))
    return _SURE * (has_keys or (path.name == ".deepeval-cache.json"))


def _is_doccano(path: Path, head: bytes) -> float:
    """By the keys of a line; of an archive by those of its first file."""
    if path.suffix == ".zip":
        return _is_doccano_archive(path)
    line = _first_line(head)
    has_keys = has(line, '"id"', '"text"', '"Comments"') and (
        has(line, '"label"') or has(line, '"entities"') or has(line, '"labels"')
    )
    return _LIKELY * (has_keys and path.suffix in _JSON)


def _is_doccano_archive(path: Path) -> float:
    from zipfile import BadZipFile, ZipFile  # noqa: PLC0415 - only for archives

    try:
        with ZipFile(path) as archive:
            names = archive.namelist()
            if not names or not all(name.endswith(".jsonl") for name in names):
                return 0.0
            with archive.open(names[0]) as file:
                head = file.read(65_536)
    except (BadZipFile, OSError, NotImplementedError, RuntimeError):
        # No archive, or one with a password or a method of packing that Python does not know.
        return 0.0
    return _is_doccano(path.with_suffix(".jsonl"), head)


def _is_inspect_ai(path: Path, head: bytes) -> float:
    """By the suffix of an archive, or the keys of a log."""
    if path.suffix == ".eval":
        return _SURE * head.startswith(b"PK")
    log = has(head, '"version"', '"status"', '"eval"') and has(head, '"task"', '"model"')
    # Older logs do not say of which evaluation they are, only of which run and task.
    named = has(head, '"eval_id"') or has(head, '"run_id"', '"task_id"')
    return _LIKELY * (log and named and head.lstrip().startswith(b"{"))


def _is_label_studio(path: Path, head: bytes) -> float:
    """By the keys of a task, or those of an annotation in JSON-MIN and CSV."""
    if path.suffix == ".csv":
        return _SURE * ({"annotation_id", "annotator", "lead_time"} <= _columns(path, head))
    nested = has(head, '"annotations"', '"completed_by"') or has(head, '"completions"')
    small = has(head, '"annotation_id"', '"annotator"', '"lead_time"')
    tasks = has(head, '"annotations"', '"total_annotations"')
    return _SURE * (head.lstrip().startswith(b"[") and (nested or small or tasks))


def _is_langfuse(path: Path, head: bytes) -> float:
    """By the keys of a score."""
    if path.suffix == ".csv":
        return _LIKELY * ({"traceId", "dataType", "source", "value"} <= _columns(path, head))
    has_keys = has(head, '"dataType"', '"source"', '"value"')
    return _LIKELY * (
        has_keys and (has(head, '"traceId"') or has(head, '"subject"', '"projectId"'))
    )


def _is_langgraph(path: Path, head: bytes) -> float:
    """By the messages of a state, as LangChain dumps them."""
    dumped = has(head, '"messages"', '"type"', '"data"', '"additional_kwargs"')
    return _LIKELY * (dumped and has(head, '"response_metadata"') and path.suffix in _JSON)


def _is_langsmith(path: Path, head: bytes) -> float:
    """By the keys of a run or of feedback, or the columns of the bulk export."""
    if path.suffix == ".csv" or head.startswith(b"PAR1"):
        columns = _columns(path, head)
        if any(name.startswith("feedback.") for name in columns):
            own = _are_of(columns, _OF_LANGSMITH, "inputs.", "outputs.", "reference.", "feedback.")
            return _LIKELY * ("example_id" in columns and own)
        if path.suffix == ".csv":
            return 0.0
        feedback = {"run_id", "key", "score", "feedback_source"}
        return _LIKELY * (columns >= {"id", "run_type", "trace_id"} or columns >= feedback)
    has_keys = has(head, '"feedback_stats"', '"run_type"') or has(
        head, '"feedback_source"', '"run_id"', '"key"', '"score"'
    )
    return _LIKELY * (has_keys and path.suffix in _JSON)


def _is_lm_eval(path: Path, head: bytes) -> float:
    """By the keys of a sample: the first line, or before 0.4.3 the first of one list."""
    start = head if head.startswith(b"[") else _first_line(head)
    has_keys = has(start, '"doc_id"', '"filtered_resps"', '"resps"')
    return _SURE * (has_keys and path.suffix in _JSON)


def _is_mt_bench(path: Path, head: bytes) -> float:
    """By the keys of a judgment."""
    line = _first_line(head) if path.suffix == ".jsonl" else head
    single = has(line, '"question_id"', '"model"', '"judge"', '"score"', '"turn"')
    pair = has(line, '"question_id"', '"judge"') and (
        has(line, '"model_1"', '"g1_winner"') or has(line, '"model_a"', '"winner"', '"turn"')
    )
    return _LIKELY * (single or pair)


def _is_mlflow(path: Path, head: bytes) -> float:
    """By the assessments of a trace."""
    trace = has(head, '"trace_id"', '"assessments"') and (
        has(head, '"trace_metadata"') or has(head, '"assessment_name"')
    )
    return _SURE * (trace and path.suffix in _JSON)


def _is_opentelemetry(path: Path, head: bytes) -> float:
    """By the signals of OTLP; of protobuf by the suffix and how its first message begins."""
    if path.suffix in (".binpb", ".pb", ".otlp"):
        return _SURE * (head[:1] == b"\n" or head[4:5] == b"\n")
    spans = has(head, '"resourceSpans"') and (
        has(head, '"scopeSpans"') or has(head, '"instrumentationLibrarySpans"')
    )
    logs = has(head, '"resourceLogs"') and (
        has(head, '"scopeLogs"') or has(head, '"instrumentationLibraryLogs"')
    )
    return _SURE * ((spans or logs) and path.suffix in _JSON)


def _is_openinference(path: Path, head: bytes) -> float:
    """By the context of a span; MLflow's spans have one too."""
    span = has(head, '"context"', '"trace_id"', '"span_id"', '"parent_id"', '"attributes"')
    # Annotations may stand behind the spans, which the reader of Phoenix knows as well.
    return _SURER * (span and not has(head, '"assessments"') and path.suffix in _JSON)


def _is_openai_evals(path: Path, head: bytes) -> float:
    """By the kind of its objects."""
    has_keys = has(head, '"eval.run.output_item"') or has(
        head, '"datasource_item"', '"datasource_item_id"', '"results"'
    )
    return _SURE * (has_keys and path.suffix in _JSON)


def _is_phoenix(path: Path, head: bytes) -> float:
    """By the keys of an annotation, or the columns of a table of them."""
    if path.suffix in _JSON:
        return _SURE * has(head, '"span_id"', '"annotator_kind"')
    columns = _columns(path, head)
    named = columns & {"annotation_name", "name"}
    span = (
        "context.span_id" in columns
        and any(name.startswith("eval.") for name in columns)
        and _are_of(columns, _OF_SPANS, "attributes.", "context.", "eval.")
    )
    return _SURE * bool(("annotator_kind" in columns and named) or span)


def _is_prodigy(path: Path, head: bytes) -> float:
    """By the hashes that it gives an example."""
    return _SURE * (has(head, '"_input_hash"', '"_task_hash"', '"answer"') and path.suffix in _JSON)


def _is_promptfoo(path: Path, head: bytes) -> float:
    """By the keys around results, or the columns of a CSV."""
    if path.suffix == ".csv":
        first = _first_line(head)
        new = has(first, ",Status,Score,Named Scores,", ",Grader Reason,Comment")
        # Before 0.93 an output's cell held its grades, under a header such as [provider] prompt.
        graded = has(head, '"[PASS] (') or has(head, '"[FAIL] (')
        return _LIKELY * (new or (b",[" in first and graded))
    return _SURE * (has(head, '"evalId"', '"results"') or has(head, '"gradingResult"', '"vars"'))


def _is_ragas(path: Path, head: bytes) -> float:
    """By what was asked and answered, where all else is a sample's or a metric of Ragas."""
    columns = _columns(path, head)
    if not columns and path.suffix == ".jsonl" and has(head, '"user_input"', '"response"'):
        columns = _keys(_first_line(head))
    metrics = [name for name in columns if _METRIC.match(name)]
    own = _are_of(columns - {*metrics}, OF_SAMPLES)
    return _LIKELY * bool({"user_input", "response"} <= columns and metrics and own)


def _keys(line: bytes) -> frozenset[str]:
    """The keys of the object on a line."""
    try:
        first = json.loads(line)
    except ValueError:
        return frozenset()
    return frozenset(first) if isinstance(first, dict) else frozenset()


def _is_trulens(path: Path, head: bytes) -> float:
    """By the columns of a record, or its keys."""
    marks = ("record_id", "app_id", "input", "output")
    costs = ("cost_json", "perf_json", "total_cost")
    columns = _columns(path, head)
    ends = ("_calls", " feedback cost in USD", " direction")
    feedback = {name.removesuffix(end) for name in columns for end in ends if name.endswith(end)}
    own = _OF_RECORDS | feedback | {f"{name}{end}" for name in feedback for end in ends}
    table = columns >= {*marks} and columns & {*costs} and _are_of(columns, own)
    keys = has(head, *(f'"{mark}"' for mark in marks)) and any(has(head, f'"{c}"') for c in costs)
    return _SURE * bool(table or (keys and path.suffix in _JSON))


def _is_weave(path: Path, head: bytes) -> float:
    """By the scores of a call of an evaluation."""
    columns = _columns(path, head)
    table = (
        {"op_name", "trace_id"} <= columns
        and any(name.startswith("output.scores.") for name in columns)
        and _are_of(columns, _OF_CALLS, "inputs.", "output.", "summary.", "attributes.")
    )
    keys = has(head, '"op_name"', '"trace_id"', '"inputs"', '"scores"')
    return _SURE * bool(table or (keys and path.suffix in _JSON))


ALPACA_EVAL = Export("alpaca_eval", "AlpacaEval: annotations.json (comparisons)", _is_alpaca_eval)
ARGILLA = Export("argilla", "Argilla: dataset.records.to_json(path)", _is_argilla)
BRAINTRUST = Export(
    "braintrust",
    "Braintrust: the events of an experiment as JSON lines, or Eval(...).as_json()",
    _is_braintrust,
)
DEEPEVAL = Export(
    "deepeval",
    "DeepEval: a test run in DEEPEVAL_RESULTS_FOLDER, or .deepeval/.latest_test_run.json",
    _is_deepeval,
)
DOCCANO = Export(
    "doccano",
    "doccano: Export dataset as JSONL; the archive, or a file an annotator",
    _is_doccano,
)
INSPECT_AI = Export(
    "inspect_ai",
    "inspect_ai: a log of inspect eval, .eval (pip install 'voirdire[eval]') or .json",
    _is_inspect_ai,
)
LABEL_STUDIO = Export(
    "label_studio", "Label Studio: Export as JSON (the best), JSON-MIN or CSV", _is_label_studio
)
LANGFUSE = Export(
    "langfuse",
    "Langfuse: scores, exported as CSV or JSON, or GET /api/public/v2/scores (and v3)",
    _is_langfuse,
)
LANGGRAPH = TracesExport(
    "langgraph",
    "LangGraph: states with their messages (messages_to_dict) as JSON lines, to be judged",
    _is_langgraph,
)
LANGSMITH = Export(
    "langsmith",
    "LangSmith: runs (client.list_runs, or the bulk export as Parquet), feedback "
    "(client.list_feedback) or evaluate(...).to_pandas() as CSV or Parquet",
    _is_langsmith,
)
LM_EVAL = Export(
    "lm_eval",
    "lm-evaluation-harness: samples_*.jsonl, by lm_eval --log_samples --output_path OUT",
    _is_lm_eval,
)
MT_BENCH = Export(
    "mt_bench",
    "MT-Bench (FastChat): model_judgment/*_single.jsonl, *_pair.jsonl, human judgments",
    _is_mt_bench,
)
MLFLOW = Export(
    "mlflow",
    "MLflow: traces with assessments, [trace.to_json() for trace in mlflow.search_traces("
    'return_type="list")], or its table as JSON',
    _is_mlflow,
)
OPENAI_EVALS = Export(
    "openai_evals",
    "OpenAI evals: the output items of a run (client.evals.runs.output_items.list)",
    _is_openai_evals,
)
OPENINFERENCE = TracesExport(
    "openinference",
    "OpenInference: spans with annotations as JSON lines, by ConsoleSpanExporter or Phoenix's API",
    _is_openinference,
)
OPENTELEMETRY = TracesExport(
    "opentelemetry",
    "OpenTelemetry: traces and logs as OTLP JSON, or protobuf (pip install 'voirdire[otlp]')",
    _is_opentelemetry,
)
PHOENIX = Export(
    "phoenix",
    "Phoenix: annotations of spans, GET /v1/projects/{project}/span_annotations, or the table of "
    "client.spans.get_span_annotations_dataframe; spans with evaluations as CSV or Parquet",
    _is_phoenix,
)
PRODIGY = Export("prodigy", "Prodigy: prodigy db-out DATASET, JSON lines", _is_prodigy)
PROMPTFOO = Export(
    "promptfoo", "promptfoo: promptfoo eval -o results.json (or .csv)", _is_promptfoo
)
RAGAS = Export("ragas", "Ragas: evaluate(...).to_pandas() as CSV, JSON lines or Parquet", _is_ragas)
TRULENS = Export(
    "trulens",
    "TruLens: session.get_records_and_feedback()[0] as CSV, JSON or Parquet",
    _is_trulens,
)
WEAVE = Export("weave", "Weave: calls of an evaluation, exported as JSON or CSV", _is_weave)
READERS = (
    "ALPACA_EVAL", "ARGILLA", "BRAINTRUST", "DEEPEVAL", "DOCCANO", "INSPECT_AI", "LABEL_STUDIO",
    "LANGFUSE", "LANGGRAPH", "LANGSMITH", "LM_EVAL", "MLFLOW", "MT_BENCH", "OPENAI_EVALS",
    "OPENINFERENCE", "OPENTELEMETRY", "PHOENIX", "PRODIGY", "PROMPTFOO", "RAGAS", "TRULENS",
    "WEAVE",
)  # fmt: skip


@voirdire.hookimpl
def voirdire_register_readers(register: Any) -> None:
    """Register the readers."""
    for name in READERS:
        register(name.lower(), f"{__name__}:{name}")
