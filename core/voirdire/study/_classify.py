"""The part of a study that says which classifiers are trained on which labels, and tested."""

from itertools import product
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from voirdire.errors import not_one_of
from voirdire.study._part import Names, Share, StudyPart, check_once, no_secrets

ClassifyTask = Literal["binary", "multi-class", "multi-label"]
_SLACK = 1e-9


class LabelledData(StudyPart):
    """A table of texts and labels, and optionally another that serves as the test set.

    With `test`, every row of that file is tested on and the first file gives train and dev.
    """

    name: str
    path: str
    sheet: str | None = None
    test: str = ""


class LabelSetSpec(StudyPart):
    """One set of labels of the same texts.

    `column` holds lists of labels, the dominant one first; or `columns` maps a label to a column
    of 0 and 1. `classes` makes one class an item of exact sets of labels
    (``comorbid = ["depression", "anxiety"]``). `labels` and `none` stand in for those of
    `[classify]`; `positive` names the positive class of binary tasks.
    """

    name: str
    column: str = ""
    columns: dict[str, str] = Field(default_factory=dict)
    labels: Names = ()
    none: str | None = None
    positive: str = ""
    classes: dict[str, Names] = Field(default_factory=dict)
    tasks: Annotated[tuple[ClassifyTask, ...], Field(min_length=1)] = ("multi-label",)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if bool(self.column) == bool(self.columns):
            raise ValueError(f"label set {self.name!r} needs either column or columns")
        if self.classes and self.tasks != ("multi-class",):
            raise ValueError(
                f"label set {self.name!r} declares classes, so its tasks must be "
                f"['multi-class'], got {list(self.tasks)}"
            )
        return self


class ClassifierSpec(StudyPart):
    """A registered classifier and its options; `grid` gives an option several values."""

    name: str
    use: str
    options: dict[str, Any] = Field(default_factory=dict)
    grid: dict[str, Annotated[tuple[Any, ...], Field(min_length=1)]] = Field(default_factory=dict)

    _no_keys = field_validator("options")(no_secrets)

    def variants(self) -> list[tuple[str, dict[str, Any]]]:
        """Names and options of all combinations of the grid.

        >>> spec = ClassifierSpec(name="a", use="hf", grid={"batch_size": [4, 8]})
        >>> spec.variants()
        [('a batch_size=4', {'batch_size': 4}), ('a batch_size=8', {'batch_size': 8})]
        """
        rows = []
        for values in product(*self.grid.values()):
            chosen = dict(zip(self.grid, values, strict=True))
            name = " ".join([self.name, *(f"{key}={value}" for key, value in chosen.items())])
            rows.append((name, {**self.options, **chosen}))
        return rows


class ClassifySpec(StudyPart):
    """A grid: models x data x label sets x tasks x seeds.

    Attributes
    ----------
    labels, none : tuple of str, str
        The declared labels, and the one that says that no other applies.
    split : str
        Column that holds train, dev or test. Without it rows are split by `fractions` (train, dev,
        test), stratified on the label set `stratify` (the first one by default).
    separator : str
        Between the labels of one cell, where it is no list.
    complete : bool
        Leave a row out of every label set where it has no labels in one of them (section 4.2 of
        Sharma et al.).
    threshold : {"shared", "each", "fixed"}
        Multi-label: one threshold for all labels or one a label, chosen on dev; or 0.5.
    keep_models : bool
        Whether trained models stay on disk; predictions always do.
    untrained : {"error", "note"}
        What a class is that the test set has and train does not: an error, or a note.
    """

    data: Annotated[tuple[LabelledData, ...], Field(min_length=1)]
    label_sets: Annotated[tuple[LabelSetSpec, ...], Field(min_length=1)]
    models: Annotated[tuple[ClassifierSpec, ...], Field(min_length=1)]
    labels: Names = ()
    none: str = ""
    id: str = "id"
    text: str = "text"
    separator: str = ";"
    split: str = ""
    fractions: tuple[Share, Share, Share] = (0.70, 0.15, 0.15)
    split_seed: Annotated[int, Field(ge=0)] = 0
    stratify: str = ""
    complete: bool = False
    threshold: Literal["shared", "each", "fixed"] = "shared"
    seeds: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)] = (0, 1, 2, 3, 4)
    keep_models: bool = True
    untrained: Literal["error", "note"] = "error"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        check_once(
            {
                "classify.data": [one.name for one in self.data],
                "classify.label_sets": [one.name for one in self.label_sets],
                "classify.models": [n for model in self.models for n, _ in model.variants()],
                "classify.seeds": list(map(str, self.seeds)),
            }
        )
        if self.stratify and self.stratify not in [one.name for one in self.label_sets]:
            raise ValueError(f"classify.stratify must name a label set, got {self.stratify!r}")
        if abs(sum(self.fractions) - 1) > _SLACK:
            raise ValueError(f"classify.fractions must add up to 1, got {list(self.fractions)}")
        self._check_none()
        return self

    def _check_none(self) -> None:
        """A misspelled `none` would count as one label more."""
        sets = [(one, self.labels_of(one)[0]) for one in self.label_sets]
        for one, labels in sets:
            if one.none and one.none not in labels:
                where = f"label set {one.name!r}, key 'none'"
                raise not_one_of("label", one.none, labels, where, ValueError)
        all_labels = sorted({label for _, labels in sets for label in labels})
        if self.none and self.none not in all_labels:
            raise not_one_of("label", self.none, all_labels, "classify.none", ValueError)

    @property
    def stratum(self) -> str:
        """The label set on which rows are stratified."""
        return self.stratify or self.label_sets[0].name

    def labels_of(self, chosen: LabelSetSpec) -> tuple[Names, str]:
        """The declared labels of a set, and the one among them that says that none applies."""
        labels = chosen.labels or tuple(chosen.columns) or self.labels
        none = self.none if chosen.none is None else chosen.none
        return labels, none if none in labels else ""
