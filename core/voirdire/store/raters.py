"""From the names in a study to the objects that ask and parse, and to their rater ids."""

from __future__ import annotations

import hashlib
import inspect
import math
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from voirdire.errors import (
    BROKEN_PLUGIN,
    MissingExtraError,
    PluginError,
    StudyError,
    VoirdireError,
    listed,
)
from voirdire.lazy import check_options
from voirdire.parsing import LabelSet
from voirdire.protocols import AsksInRoles, Converses, DeclaresLabels, SaysRuns, SaysTask, TakesTime
from voirdire.schema import (
    STATUSES,
    Attribute,
    Comparison,
    Flag,
    Item,
    Message,
    Parsed,
    Rating,
    Reply,
    Request,
    Response,
    Rubric,
    Sampling,
    Scale,
    Trace,
)
from voirdire.store import beside
from voirdire.store.once import ReadOnce
from voirdire.store.records import RaterId, dumps, models_identity, params_json
from voirdire.units import WHOLE, JudgedUnits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire._registry import Plugins
    from voirdire.schema import Status
    from voirdire.study import GeneratorSpec, Rater, Stage, Study


TaskKind = Literal["rating", "comparison", "item"]
#: Options of a model that change how it is reached, and not what it says.
_REACHED_BY = frozenset({"timeout", "api_key_env", "threads", "local_files_only"})
#: Characters of an exception's sentence that are kept: it may hold the reply.
_SENTENCE = 160
#: A study may also name these among a rater's `options`.
_SAMPLED = tuple(field.name for field in fields(Sampling))
#: The flag of a reply on which its rater's own parser broke.
_RAISED: Final = "parser_raised"
_OF_TEXT: dict[str, Status] = {
    "stop": "ok", "length": "ok", "refusal": "refused", "content_filter": "filtered",
    "empty": "blank", "error": "failed",
}  # fmt: skip
_STAGE: dict[str, Stage] = {"judge": "judge", "annotator": "annotate"}


@dataclass(frozen=True, slots=True)
class Participant:
    """Who asks: the pure object, its id, and what the study says of it.

    `rater` has `requests` and `parse`; `task` says what it is asked about, `attributes` what it is
    to score by the study, or the label set of its own. `max_steps` bounds its calls for one task;
    `judged` says which units of a conversation it is asked about, `once` keeps what a run has read.
    """

    id: RaterId
    rater: Any
    task: TaskKind
    spec: Rater | GeneratorSpec
    runs: int = 1
    attributes: tuple[str, ...] = ()
    max_steps: int = 16
    judged: JudgedUnits = WHOLE
    once: ReadOnce = field(default_factory=ReadOnce, compare=False, repr=False)

    @property
    def temperature(self) -> float | None:
        """What it sends: the study's, else its own default."""
        asked = _sample(self.rater, self.task)
        return asked[0].temperature if asked else self.spec.temperature


def participants(study: Study, plugins: Plugins) -> list[Participant]:
    """Everyone in a study that asks a model: generators first, then judges and annotators."""
    generators = [_generator(spec, study, plugins) for spec in study.generators]
    # Humans and raters of a file ask nobody, and need no rubric.
    run = [spec for spec in study.panel if is_run(spec)]
    rubric = _rubric_for_all(study, plugins) if run else ""
    return [*generators, *(_rater(spec, rubric, study, plugins) for spec in run)]


def participants_found(
    study: Study, plugins: Plugins
) -> tuple[list[Participant], list[tuple[Rater | GeneratorSpec, str]]]:
    """As `participants`, and beside them whom nobody here can make, each with the reason.

    Such as a rater whose plugin is not installed: what it said is on file all the same.
    """
    made: list[Participant] = []
    missing: list[tuple[Rater | GeneratorSpec, str]] = []
    for kept in ("generators", "panel"):
        for spec in getattr(study, kept):
            nobody = {"generators": (), "panel": (), kept: (spec,)}
            try:
                made += participants(study.model_copy(update=nobody), plugins)
            except BROKEN_PLUGIN as error:
                missing.append((spec, _sentence(error)))
    return made, missing


def stage_of(spec: Rater | GeneratorSpec) -> Stage:
    """The stage in which a member of a study asks."""
    return _STAGE.get(getattr(spec, "kind", ""), "generate")


def _rubric_for_all(study: Study, plugins: Plugins) -> Rubric | str:
    """The rubric, read once; a plugin's judge may take something else that only it can read."""
    try:
        return read_rubric(study, plugins)
    # Handed on as its name: who needs it read says what is wrong with it, and others need not.
    except VoirdireError:
        return rubric_of(study)


def read_replies(participant: Participant, replies: Sequence[Reply]) -> Parsed:
    """What replies say, also where a plugin's parser raises: then nothing, as unparsable."""
    try:
        return checked_parsed(beside.parse(participant.rater, replies))
    # One reply that breaks a parser must cost that reply, and neither the
    # run nor its other tables.
    except BROKEN_PLUGIN as error:
        return _broken(dict.fromkeys(_keys(participant)), error)


def read_response(
    participant: Participant, replies: Sequence[Reply], item: str, task: Item | None = None
) -> tuple[Parsed, Response]:
    """What a generator's replies come to: a status, and the response, empty where there is none.

    Of a conversation without its `task` only the status is told.
    """
    nothing = Response(item, participant.id.name, "")
    if not replies:
        return Parsed({}, "blank"), nothing
    # A response that was cut is kept: it is what the system said, as readers would see it.
    status = _OF_TEXT[replies[-1].finish_reason]
    try:
        response = _response(participant.rater, replies, item, task)
        text, turns = response.text, tuple(getattr(response, "turns", ()))
        if not isinstance(text, str):
            raise TypeError(f"a response's text must be a text, got {type(text).__name__}")
    except BROKEN_PLUGIN as error:
        return _broken({}, error), nothing
    said = text.strip() or turns
    response = replace(nothing, text=text, turns=turns)
    return Parsed({}, "blank" if status == "ok" and not said else status), response


def _response(rater: Any, replies: Sequence[Reply], item: str, task: Item | None) -> Response:
    if not isinstance(rater, Converses):
        made: Response = rater.parse(replies, item)
        return made
    if task is None:
        return Response(item, "", replies[-1].text)
    made = rater.conversation(task, replies)
    strangers = sorted({turn.role for turn in made.turns} - set(rater.speakers))
    if strangers:
        # Whoever judges turns of a role was told beforehand which roles there are.
        raise ValueError(f"turns of roles that its speakers do not name: {listed(strangers)}")
    return made


def read_trace(participant: Participant, replies: Sequence[Reply]) -> Trace:
    """How a rater came to its score; nothing where it cannot say, or breaks on it."""
    try:
        trace = participant.rater.trace(replies)
    except BROKEN_PLUGIN:
        return Trace()
    return trace if isinstance(trace, Trace) else Trace()


def broken_parser(parsed: Parsed) -> str:
    """How a rater's own parser broke; empty where it did not."""
    return next((flag.about for flag in parsed.flags if flag.kind == _RAISED), "")


def _broken(scores: Mapping[str, None], error: BaseException) -> Parsed:
    return Parsed(scores, "unparsable", flags=(Flag(_RAISED, _sentence(error)),))


def _sentence(error: BaseException) -> str:
    """What was raised, as one short line."""
    try:
        message = " ".join(str(error).split())
    except BROKEN_PLUGIN:  # an exception of a plugin may break where it is printed
        message = ""
    name = type(error).__name__
    return f"{name}: {message[:_SENTENCE]}" if message else name


def _keys(participant: Participant) -> list[str]:
    """What a rater scores: as it says itself without a reply, else as the study does."""
    try:
        keys = list(participant.rater.parse([Reply("", "error", error="not asked")]).scores)
    except BROKEN_PLUGIN:  # it fails on everything, which its status says
        keys = []
    return keys or list(participant.attributes)


def is_run(spec: Rater) -> bool:
    """Whether a member of the panel is run (a model is named), not read from a file."""
    return bool(spec.asks) and spec.kind in _STAGE


def model_identity(model: str, options: Mapping[str, Any]) -> str:
    """A model and its options as one name, by which its replies are kept.

    How it is reached is no part of it: a longer timeout makes no reply another's.
    """
    # All else may change what is said, and so makes it another model to the store.
    kept = {name: value for name, value in options.items() if name not in _REACHED_BY}
    return f"{model} {dumps(kept)}" if kept else model


def model_name(identity: str) -> str:
    """The model of a `model_identity`, without its options: what prices are given for.

    No name of a model holds a blank followed by a brace; the options are a JSON object.
    """
    return identity.partition(" {")[0]


def rubric_of(study: Study) -> Rubric | str:
    """The study's rubric: as declared, or the name (or path) of the one it uses."""
    spec = study.rubric
    if spec.use:
        # A file of one's own goes before a rubric that is built in under the same name.
        path = Path(study.folder) / spec.use
        return str(path) if path.is_file() else spec.use
    attributes = tuple(
        Attribute(
            a.name, a.description, _levels(a.name, a.levels), safety_critical=a.safety_critical
        )
        for a in spec.attributes
    )
    scale = Scale(*spec.scale, spec.step)
    name = spec.name or study.name
    return Rubric(name, attributes, scale, spec.composites, spec.instructions)


def read_rubric(study: Study, plugins: Plugins) -> Rubric:
    """The study's rubric itself; one that it names is read by the judge of rubrics.

    Raises
    ------
    VoirdireError
        There is no rubric of that name or path, or a key of it is wrong.
    """
    rubric = rubric_of(study)
    if isinstance(rubric, Rubric):
        return rubric
    try:
        made: Rubric = plugins.resolve("judge", "rubric")(rubric).rubric
    except VoirdireError:
        raise
    except BROKEN_PLUGIN as error:
        raise StudyError(f"rubric {rubric!r}: {type(error).__name__}: {error}") from error
    return made


def prompt_hash(rater: Any, task: TaskKind) -> str:
    """A short hash of what is asked and with which parameters, the subjects' own texts apart.

    Empty where the rater cannot ask about a subject that does not exist.
    """
    requests = _sample(rater, task)
    if requests is None:
        return ""
    # Its own words and parameters with stand-ins for the texts: any edit of the prompt gives
    # another hash, and no item does.
    parts = [[params_json(r), *((m.role, m.content) for m in r.messages)] for r in requests]
    return hashlib.blake2b(dumps(parts).encode("utf-8", "replace"), digest_size=6).hexdigest()


def _sample(rater: Any, task: TaskKind) -> list[Request] | None:
    """What is asked about a subject that does not exist; None where it needs a real one."""
    item = Item("item", "{text}")
    first, second = Response("item", "a", "{first}"), Response("item", "b", "{second}")
    subjects = {
        "rating": Rating(item, first, "{reference}"),
        "comparison": Comparison(item, first, second),
    }
    try:
        return checked_requests(rater.requests(subjects.get(task, item)))
    except BROKEN_PLUGIN:  # it may need a real item, such as its nearest examples
        return None


def _rater(spec: Rater, rubric: Rubric | str, study: Study, plugins: Plugins) -> Participant:
    if spec.kind == "annotator" and not spec.use:
        raise StudyError(f"panel {spec.name!r}: key 'use' must name an annotator")
    use = spec.use or "rubric"
    given = () if spec.kind == "annotator" else (rubric,)
    rater = _made(spec.kind, use, spec, given, study, plugins)
    task: TaskKind = "item" if spec.kind == "annotator" else "rating"
    task = rater.task if isinstance(rater, SaysTask) else task
    # The study goes before the rater's own wish, which goes before 1.
    runs = rater.runs if isinstance(rater, SaysRuns) else 1
    runs = spec.runs if "runs" in spec.model_fields_set else runs
    rater_id = _rater_id(_STAGE[spec.kind], spec, rater, task)
    steps = spec.max_steps
    if isinstance(rater, TakesTime) and "max_steps" not in spec.model_fields_set:
        steps = rater.max_steps
    attributes = _attributes(rater, rubric)
    judged = study.conversations.judged(spec.unit) if task != "comparison" else WHOLE
    return Participant(rater_id, rater, task, spec, runs, attributes, steps, judged)


def _attributes(rater: Any, rubric: Rubric | str) -> tuple[str, ...]:
    """What is to be scored; nothing where neither a label set nor a rubric says it."""
    if isinstance(rater, DeclaresLabels) and isinstance(rater.labels, LabelSet):
        return rater.labels.labels
    return rubric.names if isinstance(rubric, Rubric) else ()


def _generator(spec: GeneratorSpec, study: Study, plugins: Plugins) -> Participant:
    rater = _made("generator", spec.use, spec, (), study, plugins)
    rater_id = _rater_id("generate", spec, rater, "item")
    made = Participant(rater_id, rater, "item", spec)
    return replace(made, max_steps=rater.max_steps) if isinstance(rater, TakesTime) else made


def _rater_id(stage: Stage, spec: Rater | GeneratorSpec, rater: Any, task: TaskKind) -> RaterId:
    asks = spec.asks
    _check_roles(spec.name, rater, asks)
    model = models_identity(
        {role: model_identity(one.model, one.options) for role, one in asks.items()}
    )
    return RaterId(stage, spec.name, model, prompt_hash(rater, task))


def _check_roles(name: str, rater: Any, asks: Mapping[str, Any]) -> None:
    """Each role that a rater asks in has a model, and each model a role."""
    roles = rater.roles if isinstance(rater, AsksInRoles) else ("",)
    if odd := [role for role in asks if role not in roles and role]:
        shown = ", ".join(filter(None, roles)) or "none: it asks one model, named by 'model'"
        raise StudyError(
            f"panel {name!r}, key 'models': it asks in no role {odd[0]!r} (roles: {shown})"
        )
    if lacking := [role for role in roles if role not in asks and "" not in asks]:
        what = f"models.{lacking[0]}" if lacking[0] else "model"
        raise StudyError(f"panel {name!r}: the key {what!r} must name a model")


def _made(
    kind: str,
    use: str,
    spec: Rater | GeneratorSpec,
    given: tuple[Any, ...],
    study: Study,
    plugins: Plugins,
) -> Any:
    """The object of that name; a factory that takes `study` or `plugins` is handed them."""
    try:
        factory = plugins.resolve(kind, use)
    except MissingExtraError:
        raise
    except PluginError as error:
        raise PluginError(f"{spec.name!r}, key 'use': {error}") from error
    # By their names: a factory asks for what it needs, and most need neither.
    takes = inspect.signature(factory).parameters
    around = {"study": study, "plugins": plugins}
    handed: dict[str, Any] = {name: value for name, value in around.items() if name in takes}
    options = dict(spec.options)
    sampled = {name: options.pop(name) for name in _SAMPLED if name in options}
    sampled |= {name: value for name in _SAMPLED if (value := getattr(spec, name)) is not None}
    if sampled:
        # What the study does not say stays as the factory has it: some judges
        # default to temperature 0.
        default = takes["sampling"].default if "sampling" in takes else Sampling()
        # One that hands it on to another has no default of its own.
        handed["sampling"] = replace(default or Sampling(), **sampled)
    given_by_place = list(takes)[: len(given)]
    where = f"{kind} {use!r} of {spec.name!r} does not take this"
    check_options(factory, options, where, [*given_by_place, *around, "sampling"])
    try:
        made = factory(*given, **options, **handed)
    except TypeError as error:
        raise PluginError(f"{kind} {use!r} of {spec.name!r} does not take this: {error}") from error
    except VoirdireError:
        raise
    except BROKEN_PLUGIN as error:
        what = f"{type(error).__name__}: {error}"
        raise PluginError(f"{kind} {use!r} of {spec.name!r} cannot be made: {what}") from error
    return checked_rater(made, f"{kind} {use!r} of {spec.name!r}")


def _levels(attribute: str, levels: Mapping[str, str]) -> dict[float, str]:
    try:
        return {float(level): text for level, text in levels.items()}
    except ValueError:
        raise StudyError(
            f"rubric, attribute {attribute!r}: levels must be numbers, got {list(levels)}"
        ) from None


_STATUSES: frozenset[str] = frozenset(STATUSES)


def checked_rater(made: Any, whose: str) -> Any:
    """A rater or generator that can ask and read.

    Raises
    ------
    PluginError
        It lacks `requests` or `parse`.
    """
    for name in ("requests", "parse"):
        if not callable(getattr(made, name, None)):
            raise PluginError(f"{whose} lacks the method {name!r} ({type(made).__name__})")
    return made


def checked_requests(asked: Iterable[Any]) -> list[Request]:
    """The requests of a rater.

    Raises
    ------
    PluginError
        One is no `Request`, or a message or parameter in it is of another type than promised.
    """
    requests = list(asked)
    for request in requests:
        if not isinstance(request, Request):
            raise PluginError(f"a request must be a Request, got {type(request).__name__}")
        _check_messages(request.messages)
        for name, kind in (
            ("temperature", Real),
            ("top_p", Real),
            ("max_tokens", Integral),
            ("seed", Integral),
        ):
            # Checked before it is asked: a wrong type may be serialised otherwise each
            # time, and its key with it.
            value = getattr(request, name)
            if value is not None and not isinstance(value, kind):
                what = type(value).__name__
                raise PluginError(f"{name} of a request must be a number or None, got a {what}")
    return requests


def _check_messages(messages: Sequence[Any]) -> None:
    for message in messages:
        if not isinstance(message, Message) or not isinstance(message.content, str):
            raise PluginError(f"a request's message must be a Message of text, got {message!r:.80}")


def checked_parsed(parsed: Any) -> Parsed:
    """What a parser says, its scores as floats.

    Raises
    ------
    TypeError, ValueError
        It is no `Parsed`, or holds a score that is no finite number, a status or a rank that there
        is not.
    """
    if not isinstance(parsed, Parsed):
        raise TypeError(f"a parser must return a Parsed, got {type(parsed).__name__}")
    # The tables' column of statuses is an enumeration, and would refuse the whole page.
    wrong = {parsed.status, *parsed.statuses.values()} - _STATUSES
    if wrong:
        raise ValueError(f"there is no status {wrong.pop()!r}")
    if not all(isinstance(flag, Flag) for flag in parsed.flags):
        raise TypeError("flags must be of voirdire.schema.Flag")
    if not all(isinstance(rank, Integral) for rank in parsed.ranks.values()):
        raise TypeError("a rank must be a whole number")
    # Nearly always so: the copy below is made for plugins that return ints or NumPy's numbers.
    if all(type(score) is float and math.isfinite(score) for score in parsed.scores.values()):
        return parsed
    return replace(parsed, scores={name: _score(score) for name, score in parsed.scores.items()})


def _score(score: Any) -> float | None:
    if score is None:
        return None
    if not isinstance(score, Real) or not math.isfinite(score):
        raise ValueError(f"a score must be a finite number or None, got {score!r:.40}")
    return float(score)
