"""Makes the traces of `tests/foreign/traces` anew, each by the libraries of its maker.

Answers and evaluations are invented and models are mocked; nothing is sent. README.md names the
versions.

    python make_traces.py opentelemetry  (pip install opentelemetry-sdk protobuf
                                          opentelemetry-exporter-otlp-json-file
                                          opentelemetry-exporter-otlp-proto-common)
    python make_traces.py openinference  (pip install openinference-instrumentation
                                          openinference-semantic-conventions)
    python make_traces.py phoenix        (pip install arize-phoenix; `phoenix serve` at PHOENIX)
    python make_traces.py inspect_ai     (pip install inspect_ai)
    python make_traces.py langgraph      (pip install langgraph langchain-core
                                          openinference-instrumentation-langchain
                                          opentelemetry-exporter-otlp-json-file)
"""

import json
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent / "traces"
#: Question, what the tool is asked, what it gives, the answer; whether a person finds the call, the
#: result as it was used, and the outcome right, and the same of the model that evaluates.
RUNS = (
    ("When does the library open on Sundays?", "hours sunday", "10:00", "At ten.", "111", "111"),
    ("May I bring a sandwich?", "rules food", "not allowed", "Yes, please do.", "110", "101"),
    ("Where are the atlases?", "shelf atlas", "floor 2", "On the second floor.", "111", "110"),
    ("Can I renew a book twice?", "rules loan", "renewals: 2", "Yes, twice.", "111", "111"),
    ("Is there a printer?", "shelf print", "none found", "No.", "000", "011"),
    ("How many books may I take?", "rules loan", "books: 8", "Eight.", "111", "111"),
    ("When is story time?", "hours story", "friday 15:00", "On Friday at three.", "111", "111"),
    ("Do you lend films?", "shelf books", "floor 1", "I do not know.", "001", "000"),
    ("What does a card cost?", "rules card", "adults 12, children 0", "Twelve.", "100", "111"),
    ("Can I reserve a room?", "rules rooms", "with a card", "Yes, with a card.", "111", "111"),
)
START = 1_700_000_000_000_000_000
SECOND = 1_000_000_000


class Counted:
    """Ids that count: the same in each run of this script."""

    def __init__(self, mark):
        self.mark, self.traces, self.spans = mark, 0, 0

    def generate_trace_id(self):
        self.traces += 1
        return (self.mark << 120) + self.traces

    def generate_span_id(self):
        self.spans += 1
        return (self.mark << 56) + self.spans

    def is_trace_id_random(self):
        return False


def _messages(*parts):
    """Messages as the semantic conventions write them into an attribute."""
    return json.dumps([{"role": role, "parts": list(said)} for role, *said in parts])


def _text(content):
    return {"type": "text", "content": content}


def opentelemetry():  # noqa: PLR0915 - one file after another
    """Spans and the evaluations of them: lines of a collector's file, one object, protobuf."""
    from google.protobuf import json_format
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.json.file._log_exporter import FileLogExporter
    from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
    from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    resource = Resource({"service.name": "help-desk"})
    spans, logs = InMemorySpanExporter(), InMemoryLogRecordExporter()
    provider = TracerProvider(resource=resource, id_generator=Counted(0xA1))
    provider.add_span_processor(SimpleSpanProcessor(spans))
    tracer = provider.get_tracer("help-desk")
    said = LoggerProvider(resource=resource)
    said.add_log_record_processor(SimpleLogRecordProcessor(logs))
    logger = said.get_logger("help-desk.evaluations")

    def judged(span, name, who, kind, value, why, at):
        logger.emit(
            timestamp=at, observed_timestamp=at, event_name="gen_ai.evaluation.result",
            context=trace.set_span_in_context(span),
            attributes={
                "gen_ai.evaluation.name": name, "gen_ai.evaluation.score.value": float(value),
                "gen_ai.evaluation.score.label": "pass" if value == "1" else "fail",
                "gen_ai.evaluation.explanation": why,
                "gen_ai.evaluation.evaluator.name": who, "gen_ai.evaluation.evaluator.type": kind,
            },
        )  # fmt: skip

    for at, (question, asked, got, answer, person, model) in enumerate(RUNS):
        now = START + 60 * at * SECOND
        call = {
            "type": "tool_call",
            "id": f"call_{at}",
            "name": "search",
            "arguments": {"q": asked},
        }
        result = {"type": "tool_call_response", "id": f"call_{at}", "response": got}
        root = tracer.start_span(
            "invoke_agent help",
            start_time=now,
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "help",
                "gen_ai.conversation.id": f"c{at // 2}",
            },
        )
        inside = trace.set_span_in_context(root)
        plan = tracer.start_span("chat small", inside, start_time=now + SECOND, attributes={
            "gen_ai.operation.name": "chat", "gen_ai.request.model": "small",
            "gen_ai.input.messages": _messages(("user", _text(question))),
            "gen_ai.output.messages": _messages(
                ("assistant", {"type": "reasoning", "content": f"I look up {asked}."}, call)),
        })  # fmt: skip
        plan.end(now + 2 * SECOND)
        tool = tracer.start_span("execute_tool search", inside, start_time=now + 3 * SECOND, attributes={
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search",
            "gen_ai.tool.call.id": f"call_{at}",
            "gen_ai.tool.call.arguments": json.dumps({"q": asked}), "gen_ai.tool.call.result": got,
        })  # fmt: skip
        tool.end(now + 4 * SECOND)
        final = tracer.start_span("chat small", inside, start_time=now + 5 * SECOND, attributes={
            "gen_ai.operation.name": "chat", "gen_ai.request.model": "small",
            "gen_ai.input.messages": _messages(
                ("user", _text(question)), ("assistant", call), ("tool", result)),
            "gen_ai.output.messages": _messages(("assistant", _text(answer))),
        })  # fmt: skip
        final.end(now + 6 * SECOND)
        root.end(now + 7 * SECOND)
        for who, kind, values in (("ann", "human", person), ("gpt-4o", "llm_judge", model)):
            for span, value in zip((plan, final), values, strict=False):
                judged(span, "step_right", who, kind, value, f"{who} on a step", now + 8 * SECOND)
            judged(root, "resolved", who, kind, values[2], f"{who} on the run", now + 9 * SECOND)
    HERE.mkdir(exist_ok=True)
    path = HERE / "opentelemetry.jsonl"
    path.unlink(missing_ok=True)
    with path.open("w", encoding="utf-8") as file:
        # As a collector writes them: a line a batch, signals between each other.
        traces, events = FileSpanExporter(stream=file), FileLogExporter(stream=file)
        for at in range(0, len(RUNS), 5):
            traces.export(spans.get_finished_spans()[at * 4 : at * 4 + 20])
            events.export(logs.get_finished_logs()[at * 6 : at * 6 + 30])
    both = {}
    for line in path.read_text().splitlines()[:2]:
        for key, value in json.loads(line).items():
            both.setdefault(key, []).extend(value)
    (HERE / "opentelemetry.json").write_text(json.dumps(both), encoding="utf-8")
    requests = [encode_spans(spans.get_finished_spans()), encode_logs(logs.get_finished_logs())]
    # As the collector's file exporter writes protobuf: each message behind its length.
    with (HERE / "opentelemetry.binpb").open("wb") as file:
        for request in requests:
            data = request.SerializeToString(deterministic=True)
            file.write(len(data).to_bytes(4, "big") + data)
    # JSON by protobuf's own mapping has ids in base64: a frequent mistake that must be told.
    wrong = json_format.MessageToJson(encode_logs(logs.get_finished_logs()[:2]), indent=None)
    (HERE / "base64_ids.json").write_text(wrong, encoding="utf-8")


def openinference():
    """Spans with annotations, a line each, as the console exporter of the SDK writes them."""
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    spans = InMemorySpanExporter()
    _openinference_spans(spans, 0xB2, annotated=True)
    HERE.mkdir(exist_ok=True)
    lines = [span.to_json(indent=None) for span in spans.get_finished_spans()]
    (HERE / "openinference.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def phoenix():
    """The same spans in a server of Phoenix, annotated by its API: two pages, a line each."""
    import time
    import urllib.request

    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    server = os.environ["PHOENIX"]

    def call(path, data=None):
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(
            server + path, data=body, headers={"content-type": "application/json"}
        )
        with urllib.request.urlopen(request) as reply:
            return json.loads(reply.read())

    _openinference_spans(OTLPSpanExporter(f"{server}/v1/traces", timeout=60), 0xD4, annotated=False)
    spans = {"data": []}
    while len(spans["data"]) < 4 * len(RUNS):  # the server takes them in the background
        time.sleep(1)
        spans = call("/v1/projects/desk/spans?limit=100")
    ids = {one["context"]["span_id"]: one for one in spans["data"]}
    notes = []
    for ident, one in ids.items():
        run = int(one["context"]["trace_id"][-4:], 16) - 1
        at = {"plan": 0, "answer": 1, "help": 2}.get(one["name"])
        for who, kind, values in (("ann", "HUMAN", RUNS[run][4]), ("gpt-4o", "LLM", RUNS[run][5])):
            if at is not None:
                notes.append({
                    "span_id": ident, "name": "resolved" if at == 2 else "step_right",
                    "annotator_kind": kind, "identifier": who,
                    "result": {"score": float(values[at]), "label": "right" if values[at] == "1"
                               else "wrong", "explanation": f"{who} says so"},
                })  # fmt: skip
    call("/v1/span_annotations?sync=true", {"data": notes})
    asked = "&".join(f"span_ids={ident}" for ident in ids)
    pages = [spans, call(f"/v1/projects/desk/span_annotations?limit=1000&{asked}")]
    for page in pages:
        for one in page["data"]:
            one.pop("events", None)
            for key in ("created_at", "updated_at"):
                if key in one:
                    one[key] = "2024-01-01T00:00:00+00:00"
    HERE.mkdir(exist_ok=True)
    lines = [json.dumps(page) for page in pages]
    (HERE / "phoenix.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _openinference_spans(spans, mark, *, annotated):
    """The runs as OpenInference has them, handed to an exporter."""
    import openinference.instrumentation as oi
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    resource = Resource({"service.name": "help-desk", "openinference.project.name": "desk"})
    provider = oi.TracerProvider(resource=resource, id_generator=Counted(mark))
    provider.add_span_processor(SimpleSpanProcessor(spans))
    tracer = provider.get_tracer("help-desk")

    def notes(name, values, scope):
        if not annotated:
            return {}
        return oi.get_annotation_attributes(
            scope=scope,
            annotations=[
                {
                    "name": name,
                    "score": float(value),
                    "label": "right" if value == "1" else "wrong",
                    "annotator_kind": kind,
                    "identifier": who,
                    "explanation": f"{who} says so",
                }
                for who, kind, value in zip(
                    ("ann", "gpt-4o"), ("HUMAN", "LLM"), values, strict=True
                )
            ],
        )

    for at, (question, asked, got, answer, person, model) in enumerate(RUNS):
        now = START + 60 * at * SECOND
        call = oi.ToolCall(
            id=f"call_{at}",
            function=oi.ToolCallFunction(name="search", arguments=json.dumps({"q": asked})),
        )
        asking = [oi.Message(role="user", content=question)]
        called = oi.Message(role="assistant", content="", tool_calls=[call])
        given = oi.Message(role="tool", content=got, tool_call_id=f"call_{at}")
        with oi.using_session(f"c{at // 2}"):
            root = tracer.start_span("help", start_time=now, attributes={
                **oi.get_span_kind_attributes("agent"), **oi.get_input_attributes(question),
                **oi.get_output_attributes(answer),
                **notes("resolved", person[2] + model[2], "trace"),
            })  # fmt: skip
            inside = trace.set_span_in_context(root)
            steps = (
                ("plan", {**oi.get_span_kind_attributes("llm"),
                          **oi.get_llm_attributes(model_name="small", input_messages=asking,
                                                  output_messages=[called]),
                          **notes("step_right", person[0] + model[0], "span")}),
                ("search", {**oi.get_span_kind_attributes("tool"),
                            **oi.get_tool_attributes(name="search", parameters={"q": "string"}),
                            **oi.get_input_attributes({"q": asked}), **oi.get_output_attributes(got)}),
                ("answer", {**oi.get_span_kind_attributes("llm"),
                            **oi.get_llm_attributes(
                                model_name="small", input_messages=[*asking, called, given],
                                output_messages=[oi.Message(role="assistant", content=answer)]),
                            **notes("step_right", person[1] + model[1], "span")}),
            )  # fmt: skip
            for n, (name, attributes) in enumerate(steps, 1):
                span = tracer.start_span(
                    name, inside, start_time=now + n * SECOND, attributes=attributes
                )
                span.end(now + n * SECOND + SECOND // 2)
            root.end(now + 9 * SECOND)


def inspect_ai():
    """A log of an agent with a tool, its events kept, scored after each step and at the end."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import ProvenanceData, edit_score, write_eval_log
    from inspect_ai.model import ModelOutput, ModelUsage, execute_tools, get_model
    from inspect_ai.scorer import Score, ScoreEdit, mean, score, scorer
    from inspect_ai.solver import solver
    from inspect_ai.tool import tool

    found = {asked: got for _, asked, got, *_ in RUNS}
    rights = {question: (person, model) for question, *_, person, model in RUNS}

    @tool
    def search():
        async def execute(q: str):
            """Search the desk's notes.

            Args:
                q: What is looked for.
            """
            return found[q]

        return execute

    @scorer(metrics=[mean()])
    def resolved():
        async def give(state, target):
            at = sum(message.role == "assistant" for message in state.messages) - 1
            done = state.metadata.get("done", False)
            return Score(
                value=int(rights[state.input_text][1][2 if done else at]), explanation="by rule"
            )

        return give

    @solver
    def agent():
        async def solve(state, generate):
            model = get_model()
            state.tools = [search()]
            for _ in range(2):
                output = await model.generate(state.messages, state.tools)
                state.messages.append(output.message)
                state.output = output
                await score(state)
                if output.message.tool_calls:
                    results = await execute_tools(state.messages, state.tools)
                    state.messages.extend(results.messages)
            state.metadata["done"] = True
            return state

        return solve

    outputs = []
    for _, asked, _, answer, *_ in RUNS:
        outputs += [
            ModelOutput.for_tool_call(
                "mockllm/model", "search", {"q": asked}, content="I look it up."
            ),
            ModelOutput.from_content("mockllm/model", answer),
        ]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    task = Task(
        name="help_desk",
        dataset=MemoryDataset(
            [Sample(id=f"q{n}", input=q, target=a) for n, (q, _, _, a, *_) in enumerate(RUNS)]
        ),
        solver=agent(),
        scorer=resolved(),
    )
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # no path and no revision of a repository in the log
        model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
        (log,) = evaluate(
            task,
            model=model,
            log_dir=folder,
            log_format="eval",
            display="none",
            max_samples=1,
            log_realtime=False,
        )
        if log.status != "success":
            raise SystemExit(log.error)
        for n, (*_, person, _) in enumerate(RUNS):
            edit_score(
                log,
                f"q{n}",
                "resolved",
                ScoreEdit(
                    value=int(person[2]), provenance=ProvenanceData(author="ann", reason="read it")
                ),
            )
        for sample in log.samples:
            # Of the events those that say what was done, as inspect's own viewer may be asked to.
            sample.events = [e for e in sample.events if e.event in ("model", "tool", "score")]
            for event in sample.events:
                if event.event == "model":
                    event.call = None
        HERE.mkdir(exist_ok=True)
        write_eval_log(log, str(HERE / "inspect_ai.eval"), "eval")
        os.chdir(HERE)


def langgraph():
    """The states of a graph with a tool, as its messages are dumped, and its spans by OpenInference."""
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage, HumanMessage, messages_to_dict
    from langchain_core.tools import tool
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, MessagesState, StateGraph
    from langgraph.graph import START as BEGIN
    from langgraph.prebuilt import ToolNode
    from openinference.instrumentation.langchain import LangChainInstrumentor
    from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    found = {asked: got for _, asked, got, *_ in RUNS}

    @tool
    def search(q: str) -> str:
        """Search the desk's notes."""
        return found[q]

    answers = []
    for n, (_, asked, _, answer, *_) in enumerate(RUNS):
        call = {"name": "search", "args": {"q": asked}, "id": f"call_{n}"}
        answers += [
            AIMessage("I look it up.", tool_calls=[call], id=f"m{n}-2"),
            AIMessage(answer, id=f"m{n}-4"),
        ]
    model = FakeMessagesListChatModel(responses=answers)
    HERE.mkdir(exist_ok=True)
    path = HERE / "langgraph_spans.jsonl"
    path.unlink(missing_ok=True)
    exporter = FileSpanExporter(str(path))
    provider = TracerProvider(
        resource=Resource({"service.name": "graph"}), id_generator=Counted(0xC3)
    )
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    LangChainInstrumentor().instrument(tracer_provider=provider)
    graph = StateGraph(MessagesState)
    graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([search]))
    graph.add_edge(BEGIN, "agent")
    graph.add_conditional_edges("agent", lambda s: "tools" if s["messages"][-1].tool_calls else END)
    graph.add_edge("tools", "agent")
    app = graph.compile(checkpointer=InMemorySaver())
    lines = []
    for n, (question, *_) in enumerate(RUNS):
        config = {"configurable": {"thread_id": f"t{n}"}}
        app.invoke({"messages": [HumanMessage(question, id=f"m{n}-1")]}, config)
        state = app.get_state(config)
        messages = state.values["messages"]
        messages[2].id = f"m{n}-3"
        lines.append(json.dumps({
            "thread_id": f"t{n}", "values": {"messages": messages_to_dict(messages)},
            "next": list(state.next), "config": {"configurable": {"thread_id": f"t{n}"}},
        }))  # fmt: skip
    (HERE / "langgraph.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    exporter.shutdown()
    kept = path.read_text().splitlines()[: 2 * 7]
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
