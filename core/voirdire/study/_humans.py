"""The part of a study that says what people judge, and how the work is given out."""

from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from voirdire.study._part import Count, Names, StudyPart

HumanTask = Literal["pointwise", "labels", "pairwise", "nested", "choice"]
#: What each task needs, and which keys belong to it alone.
_OWN: dict[str, Names] = {
    "pointwise": ("attributes",),
    "labels": ("labels", "at_most", "none"),
    "pairwise": ("criteria", "criteria_by", "criteria_of", "overall", "order"),
    "nested": ("steps",),
    "choice": ("options", "options_from"),
}


class Criterion(StudyPart):
    """What two responses are compared on; a bare string is a name."""

    name: str
    description: str = ""


class Step(StudyPart):
    """One question of a nested form: a text to write where it has no labels, else a choice of them.

    `under` gives, for a label, the finer labels that are asked where it was chosen. `none` is a
    further answer that stands alone and says that no label applies.
    """

    name: str
    description: str = ""
    labels: Names = ()
    at_most: Count | None = None
    none: str = ""
    under: dict[str, Names] = Field(default_factory=dict)
    under_at_most: Count | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        unknown = [label for label in self.under if label not in self.labels]
        if unknown:
            raise ValueError(f"step {self.name!r}: under names {unknown}, which are no labels")
        if self.none and self.none in self.labels:
            raise ValueError(f"step {self.name!r}: none is {self.none!r}, which is a label")
        return self


class Humans(StudyPart):
    """What people judge.

    Attributes
    ----------
    task : {"pointwise", "labels", "pairwise", "nested", "choice"}
        Attributes of the rubric on its scale; labels of a declared set; two responses on criteria,
        five levels each; a form whose later questions depend on earlier ones; a question with
        lettered options.
    raters : tuple of str
        Who judges; by default the panel's raters of kind human.
    per_task : int, optional
        How many raters get each task; by default all. Raters whose `excludes` names a system that
        a task shows do not get it.
    seed : int, optional
        Without effect since ids and orders rest on a secret of each plan; studies of version 0.1
        have it.
    of : {"items", "responses"}, optional
        What is judged; by default responses for pointwise tasks where there are any, else items.
    show : tuple of str
        Further columns of the items to show; they must be among `items.extra`.
    order : {"random", "both", "fixed"}, optional
        How people are shown a pair; by default as `[comparisons]` says.
    item_title, response_title : str
        What stands above the texts.
    reason : str
        What is asked last of every judgement, to be answered in words; empty: nothing.
    """

    task: HumanTask
    raters: Names = ()
    per_task: Count | None = None
    seed: int | None = None
    of: Literal["items", "responses"] | None = None
    show: Names = ()
    item_title: str = "Text"
    response_title: str = "Response"
    instructions: str = ""
    reason: str = ""
    attributes: Names = ()
    labels: Names = ()
    at_most: Count | None = None
    none: str = ""
    criteria: tuple[Criterion, ...] = ()
    criteria_by: str = ""
    criteria_of: dict[str, Names] = Field(default_factory=dict)
    overall: bool = True
    order: Literal["random", "both", "fixed"] | None = None
    steps: tuple[Step, ...] = ()
    options: Names = ()
    options_from: str = ""

    @field_validator("criteria", mode="before")
    @classmethod
    def _names_are_criteria(cls, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        return [{"name": part} if isinstance(part, str) else part for part in value]

    @model_validator(mode="after")
    def _belongs(self) -> Self:
        for task, keys in _OWN.items():
            foreign = [key for key in keys if task != self.task and key in self.model_fields_set]
            if foreign:
                raise ValueError(f"{foreign[0]} belongs to task {task!r}, not to {self.task!r}")
        if len(set(self.raters)) < len(self.raters):
            raise ValueError(f"raters repeat a name: {list(self.raters)}")
        return self

    @model_validator(mode="after")
    def _needs(self) -> Self:
        lacking = {
            "labels": (self.labels, "labels"),
            "nested": (self.steps, "steps"),
            "choice": (self.options or self.options_from, "options or options_from"),
            "pairwise": (self.criteria or self.criteria_of or self.overall, "criteria"),
        }.get(self.task, (True, ""))
        if not lacking[0]:
            raise ValueError(f"task {self.task!r} needs {lacking[1]}")
        if bool(self.criteria_of) != bool(self.criteria_by):
            raise ValueError("criteria_by (a column) and criteria_of go together")
        if self.criteria and self.criteria_of:
            raise ValueError("give criteria, or criteria_of for each value of criteria_by")
        # A sheet has the same columns in each row: what is asked may differ, how often may not.
        if len({len(texts) for texts in self.criteria_of.values()}) > 1:
            raise ValueError("criteria_of: each value needs the same number of criteria")
        if self.none and self.none in self.labels:
            raise ValueError(f"none is {self.none!r}, which is a label")
        return self
