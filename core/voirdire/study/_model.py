"""A study as frozen models of names and numbers: nothing here opens or imports a thing."""

import math
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from voirdire.study._classify import ClassifySpec
from voirdire.study._humans import Humans
from voirdire.study._part import Count, Names, Share, StudyPart, check_once, no_secrets
from voirdire.study._run import (
    Asked,
    Comparisons,
    Conversations,
    GeneratorSpec,
    ItemsSpec,
    ResponsesSpec,
    RunSpec,
    asked_models,
    shown_models,
)
from voirdire.units import UnitKind

Layout = Literal[
    "auto", "replies", "scores", "long", "raters-by-items", "systems", "attributes"
]  # fmt: skip
OffScale = Literal["missing", "keep", "error"]
Pairs = Literal["pairwise", "listwise"]
Combine = Literal["mean", "median", "vote", "fitted", "dawid_skene"]
#: The key of a use: ``"order"``, ``"single"``. Which there are, the examination knows.
Use = str


class TableKeys(StudyPart):
    """How a table of ratings is read: what a study's source and the options of a file share.

    `layout` is `replies` (raw judge replies in cells, one column a system), `scores` (one column a
    score) or `long` (one row a rating). `columns` maps a column to a system (`replies`) or to an
    attribute (`scores`); `prefix` finds the reply columns by how they begin. `words` gives the
    number that a word of a score column stands for, or ``"missing"``; ``"*"`` is every other word
    that is no score. `ignore` names columns that play no part, `hidden` says whether hidden rows
    and columns of a workbook are read, and `assume` accepts the likelier reading where a column
    has two (a serious finding says which). `leave_out` names the raters whose ratings are left out
    (a mean of the others). `rescale` gives the ends of a rater's own scale, the worst first, which
    become those of the study. `same` gives the name under which an attribute that a file calls
    otherwise is compared (``{"Clarté": "Klarheit"}``).

    `context` is the column of the items' texts, `response` that of the texts that were judged,
    `reason` that of what a rater said beside a score.

    `turn` numbers the turns of a conversation: each row is about a turn of its item, and the
    conversation is the cluster. With ``unit = "first"`` scores are the first turns that fail, or
    ``never``, and `turns` is the column of how many turns a conversation has. `cluster` to
    `labelled_at` name columns of facts about a row: which items belong together, how the item came
    to be labelled (random, chosen, unknown) and with what probability, by whom, when.

    `reader` names the reader of a file of another tool; by default its content says. `key` joins
    labels to items that another source rated: ``"ticket"``, or ``"ticket=ticket_id"`` where the
    tool calls that column otherwise (``"question=text"`` joins by the text). `about` is the
    attribute that such labels speak of, where they name none. `only` names the attributes that
    are read of a file of another tool; the others are left out.

    `kind` says what the judgements are where a file may be read in two ways. `labels` are all that
    may be given (any other word is missing); by default those that people give. `probability` is
    the column of what a judge claims (``"votes"``: shares of its runs; ``"none"``: there is none),
    and `claims` of what: ``"said"`` (the label that it gives) or a label; `empty` what an empty
    cell of label sets says, `first` which of two systems was shown first in every row (``"a"`` or
    ``"b"``), the column that says it, that the order was drawn each time and not recorded
    (``"drawn"``), or that nobody knows it (``"unknown"``), and `parts` what stands between ``__``
    in the keys of nested annotations (``-`` is nothing, ``*`` all that is left).
    """

    sheet: str | None = None
    layout: Layout = "auto"
    rater: str | None = None
    item: str | None = None
    system: str | None = None
    context: str | None = None
    response: str | None = None
    reason: str | None = None
    score: str | None = None
    attribute: str | None = None
    status: str | None = None
    run: str | None = None
    prefix: str | None = None
    columns: dict[str, str] = Field(default_factory=dict)
    words: dict[str, float | Literal["missing"]] = Field(default_factory=dict)
    ignore: Names = ()
    leave_out: Names = ()
    rescale: dict[str, tuple[float, float]] = Field(default_factory=dict)
    same: dict[str, str] = Field(default_factory=dict)
    hidden: Literal["leave-out", "read"] | None = None
    assume: bool = False
    turn: str | None = None
    unit: Literal["whole", "turn", "first"] | None = None
    turns: str | None = None
    cluster: str | None = None
    subgroup: str | None = None
    language: str | None = None
    origin: str | None = None
    label_probability: str | None = None
    labelled_by: str | None = None
    labelled_at: str | None = None
    reader: str | None = None
    key: str | None = None
    about: str | None = None
    only: Names = ()
    kind: Literal["score", "label", "label set", "preference", "probability"] | None = None
    labels: Names = ()
    probability: str | None = None
    claims: str | None = None
    empty: Literal["none", "missing"] | None = None
    first: str | None = None
    parts: Names = ()

    @model_validator(mode="before")
    @classmethod
    def _language_is_a_subgroup(cls, value: Any) -> Any:
        """The column of languages is that of subgroups: results are given by it."""
        if not isinstance(value, dict) or value.get("language") is None:
            return value
        if value.get("subgroup") not in (None, value["language"]):
            raise ValueError(
                "language and subgroup: results are given by one column; give one of the two, or a "
                "column that holds both"
            )
        return {**value, "subgroup": value["language"]}

    def keys_set(self, *but: str) -> dict[str, Any]:
        """The keys that say something, without those named: what a `Source` of a file takes.

        >>> TableKeys(item="post", ignore=("note",)).keys_set("ignore")
        {'item': 'post'}
        """
        blank = TableKeys.model_construct()
        names = [name for name in TableKeys.model_fields if name not in but]
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value != getattr(blank, name)}


class _NamedPart(StudyPart):
    path: str


class Source(TableKeys, _NamedPart):
    """One file of ratings (`path`), and how it is read."""


class Data(StudyPart):
    """Where ratings lie, and who is the reference.

    `quorum` is how many of the reference raters must have rated a response for their mean to count.
    `excerpt` is how many characters of a text a report may show; where it is not set a plugin's
    part shows none, and `--with-text` cuts at 600.
    """

    sources: tuple[Source, ...] = ()
    reference: Names = ()
    reference_use: Literal["mean", "each"] = "mean"
    off_scale: OffScale = "missing"
    pairs: Pairs = "pairwise"
    quorum: Count = 1
    skip_bad_lines: bool = False
    excerpt: Annotated[int, Field(ge=0)] = 0

    @field_validator("reference")
    @classmethod
    def _once_each(cls, value: Names) -> Names:
        if len(set(value)) < len(value):
            raise ValueError(f"names a rater twice: {list(value)}")
        return value


class System(StudyPart):
    """What produced responses; `label` is how tables print it.

    `family` says who made it. Judges leave out systems of their own family; `group` is any other
    division that tables compare, such as closed and open weights.
    """

    name: str
    label: str = ""
    family: str = ""
    group: str = ""


class AttributeSpec(StudyPart):
    """One criterion."""

    name: str
    description: str = ""
    levels: dict[str, str] = Field(default_factory=dict)
    safety_critical: bool = False


class RubricSpec(StudyPart):
    """The scale and its attributes; `use` names a rubric that a plugin or a TOML file brings."""

    use: str = ""
    name: str = ""
    scale: tuple[float, float] = (1, 5)
    step: Annotated[float, Field(ge=0)] = 1
    attributes: tuple[AttributeSpec, ...] = ()
    composites: dict[str, Names] = Field(default_factory=dict)
    instructions: str = ""

    @field_validator("attributes", mode="before")
    @classmethod
    def _names_are_attributes(cls, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        return [{"name": part} if isinstance(part, str) else part for part in value]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not -math.inf < self.scale[0] < self.scale[1] < math.inf:
            raise ValueError(f"scale must be [low, high] with low < high, got {list(self.scale)}")
        if self.step > self.scale[1] - self.scale[0]:
            raise ValueError(f"step must be at most the scale's width, got {self.step:g}")
        names = [attribute.name for attribute in self.attributes]
        if len(set(names)) < len(names):
            raise ValueError(f"attributes repeat a name: {names}")
        for composite, parts in self.composites.items():
            if composite in names:
                raise ValueError(f"composite {composite!r} has the name of an attribute")
            unknown = [part for part in parts if part not in names]
            if unknown:
                raise ValueError(f"composite {composite!r} uses undeclared attributes {unknown}")
        return self


#: What `use` says of a rater that is derived from others.
JURY = "jury"


class Rater(StudyPart):
    """A member of the panel. `excludes` (systems) wins over `family`.

    Without a `family` its model's maker is its family, where that is known by the model's name;
    ``none`` says that no system is of its family.

    It asks `model`, or several: `models` names one for each role that it asks in, such as
    ``{advocate = "openai:gpt-4o-mini", judge = "openai:gpt-4o"}``. A model with options of its own
    is ``{model = "...", options = {...}}``; `model_options` hold for all of them.

    With ``use = "jury"`` it is derived from the ratings of its `members`, put together as `combine`
    says, and asks nobody. Its kind is that of its members.
    """

    name: str
    kind: Literal["judge", "annotator", "classifier", "human"] = "judge"
    family: str = ""
    excludes: Names | None = None
    # What runs it; a rater whose ratings are read from a file needs none of these.
    use: str = ""
    model: str = ""
    model_options: dict[str, Any] = Field(default_factory=dict)
    models: dict[str, Asked] = Field(default_factory=dict)
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: Count | None = None
    seed: int | None = None
    runs: Count = 1
    unit: UnitKind | None = None
    #: Calls that it may make for one task in the role it begins in, where it takes several steps.
    max_steps: Count = 16
    options: dict[str, Any] = Field(default_factory=dict)
    members: Names = ()
    combine: Combine = "mean"

    _no_keys = field_validator("model_options", "options")(no_secrets)

    @property
    def is_jury(self) -> bool:
        """Whether it is derived from other raters."""
        return self.use == JURY

    @property
    def asks(self) -> dict[str, Asked]:
        """The models that it asks, by role; the one without a role is asked in all others."""
        return asked_models(self)

    @property
    def model_names(self) -> str:
        """Its model as a table shows it; several with their roles."""
        return shown_models(self)

    @model_validator(mode="after")
    def _members_make_a_jury(self) -> Self:
        given = self.model_fields_set
        if not self.is_jury:
            odd = sorted({"members", "combine"} & given)
            if odd:
                raise ValueError(f"{odd[0]} belongs to a jury: say use = 'jury' beside it")
            return self
        odd = sorted(given & _OF_A_MODEL)
        if odd:
            raise ValueError(f"a jury asks no model, so that {odd[0]} has no meaning for it")
        if len(set(self.members)) < 2 or len(set(self.members)) < len(self.members):
            raise ValueError(f"a jury needs two or more different members: {list(self.members)}")
        return self


#: Keys of a rater that is run; a derived one has none of them.
_OF_A_MODEL = frozenset(
    {
        "model",
        "model_options",
        "models",
        "temperature",
        "top_p",
        "max_tokens",
        "seed",
        "runs",
        "max_steps",
    }
    | {"options"}
)


class Guidance(StudyPart):
    """Bounds of a matrix of ICC(C,1) by the width of its interval: declared before data are seen.

    From `icc` on consistency is high; an interval is narrow up to `narrow` and wide above `wide`.
    """

    icc: Share = 0.75
    narrow: Annotated[float, Field(gt=0)]
    wide: Annotated[float, Field(gt=0)]

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if self.narrow > self.wide:
            raise ValueError(
                f"analysis.guidance: narrow must be at most wide, got {self.narrow:g} and "
                f"{self.wide:g}"
            )
        return self


class Analysis(StudyPart):
    """How the data are examined.

    `measures` are coefficients over `raters` ("humans", "judges" or names; all by default).
    `at_least` is the number of runs that must name a label before it is an item's final label; by
    default four fifths of the runs. `published_class` names the study whose classes of reliability
    (GR, MR, PR) are printed: they rank a pair among the 28 of that study and say nothing else.
    `compare` names pairs of raters of labels: on what they differ, and who was right. `guidance`
    sorts judges by consistency and the width of its interval.
    """

    measures: Names = ()
    raters: Names = ()
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    resamples: Annotated[int, Field(ge=0)] = 1000
    seed: int = 0
    compat: Literal["", "badawi2025"] = ""
    published_class: Literal["", "badawi2025"] = ""
    at_least: Count | None = None
    compare: tuple[tuple[str, str], ...] = ()
    guidance: Guidance | None = None


class Thresholds(StudyPart):
    """What a verdict of version 0.1 asked for, still read so that its studies open.

    Of these keys `epsilon` and `min_shared_items` (the alt-test that is printed) and `bias_level`
    (the interval of the printed bias) have a meaning; the others have none. See `Margins`.
    """

    valid_pairs: Share = 0.95
    icc_c: Share = 0.75
    icc_a: Share = 0.75
    alpha: Share = 0.80
    bands_spanned: Count = 2
    bias: Share = 0.05
    bias_level: Annotated[float, Field(gt=0, lt=1)] = 0.90
    winning_rate: Share = 0.5
    epsilon: Share = 0.2
    stability: Share = 0.75
    min_humans: Annotated[int, Field(ge=2)] = 3
    min_shared_items: Count = 30


class Margins(StudyPart):
    """What a verdict asks for; declared before the data are read, stored and hashed.

    `bias` and `system` are shares of the scale's width. `times`, `times_gate` and `times_subgroup`
    say how many times a human's error variance a judge may have: on scores, on pass and fail, and
    within a subgroup.
    """

    bias: Share = 0.05
    system: Share = 0.10
    order: Share = 0.80
    agree: Share = 0.75
    read: Share = 0.10
    times: Annotated[float, Field(ge=1)] = 2.0
    times_gate: Annotated[float, Field(ge=1)] = 3.0
    times_subgroup: Annotated[float, Field(ge=1)] = 4.0
    slope: tuple[float, float] = (0.5, 2.0)
    gate: Share = 0.10
    gain: Annotated[float, Field(gt=1)] = 1.2
    run: Annotated[float, Field(gt=0, lt=1)] = 0.80
    cover: Share = 0.90
    clusters: Annotated[int, Field(ge=3)] = 20
    systems: Annotated[int, Field(ge=4)] = 8

    @field_validator("slope")
    @classmethod
    def _around_one(cls, value: tuple[float, float]) -> tuple[float, float]:
        if not 0 < value[0] < 1 < value[1]:
            raise ValueError(f"slope must be [low, high] with 0 < low < 1 < high: {list(value)}")
        return value


class Gate(StudyPart):
    """Scores at or above `at` pass.

    With one column of labels a judge is held against `sensitivity` and `specificity`, the least
    shares of what should pass and fail that it must pass and fail.
    """

    at: float
    sensitivity: Share | None = None
    specificity: Share | None = None

    @model_validator(mode="after")
    def _both_or_none(self) -> Self:
        if (self.sensitivity is None) != (self.specificity is None):
            raise ValueError("sensitivity and specificity are declared together or not at all")
        return self


class Study(StudyPart):
    """What is examined or run. Read one with `load_study`.

    `families` says who made what has no `family` of its own: a rater, a model or a system by its
    name -> its maker, or ``none``.
    """

    # What says nothing is made without a check, which would have a validator built for each part.
    name: str
    title: str = ""
    scope: str = ""
    data: Data = Data.model_construct()
    rubric: RubricSpec = RubricSpec.model_construct()
    systems: tuple[System, ...] = ()
    panel: tuple[Rater, ...] = ()
    families: dict[str, str] = Field(default_factory=dict)
    items: ItemsSpec | None = None
    responses: ResponsesSpec | None = None
    generators: tuple[GeneratorSpec, ...] = ()
    conversations: Conversations = Conversations.model_construct()
    comparisons: Comparisons = Comparisons.model_construct()
    run: RunSpec = RunSpec.model_construct()
    analysis: Analysis = Analysis.model_construct()
    thresholds: Thresholds = Thresholds.model_construct()
    uses: tuple[Use, ...] = ()
    gate: Gate | None = None
    margins: Margins = Margins.model_construct()
    classify: ClassifySpec | None = None
    humans: Humans | None = None
    folder: str = Field(default=".", exclude=True)

    @field_validator("panel")
    @classmethod
    def _juries_of_raters(cls, value: tuple[Rater, ...]) -> tuple[Rater, ...]:
        juries = {rater.name for rater in value if rater.is_jury}
        kinds = {rater.name: rater.kind for rater in value}
        members = []
        for rater in value:
            of_juries = [name for name in rater.members if name in juries]
            if of_juries:
                raise ValueError(
                    f"jury {rater.name!r} has the jury {of_juries[0]!r} as a member: name raters"
                )
            # A member that the panel does not name may come from a session's tables: its kind is
            # not known.
            own = {kinds[name] for name in rater.members if name in kinds}
            if len(own) > 1:
                raise ValueError(
                    f"jury {rater.name!r} has members of several kinds: {', '.join(sorted(own))}"
                )
            members.append(rater.model_copy(update={"kind": own.pop()}) if own else rater)
        return tuple(members)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        check_once(
            {
                "panel": [rater.name for rater in self.panel],
                "systems": [system.name for system in self.systems],
                "generators": [generator.name for generator in self.generators],
            }
        )
        return self

    def system(self, name: str) -> System:
        """The declared system of that name, or one that says no more than its name."""
        return next((s for s in self.systems if s.name == name), System(name=name, label=name))

    @property
    def juries(self) -> tuple[Rater, ...]:
        """The raters that are derived from others."""
        return tuple(rater for rater in self.panel if rater.is_jury)

    def rater(self, name: str) -> Rater | None:
        """The declared rater of that name."""
        return next((rater for rater in self.panel if rater.name == name), None)
