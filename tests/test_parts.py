"""An examination is inputs and parts: what has nothing to examine is absent, a new part is one file."""

import dataclasses
from dataclasses import dataclass

import polars as pl
import pytest

from voirdire.examining import parts
from voirdire.examining.examination import Examination
from voirdire.examining.parts import PARTS, examine_inputs
from voirdire.examining.parts.data import DataFacts
from voirdire.examining.parts.part import Examined
from voirdire.examining.preferences import Preferences
from voirdire.examining.ratings.facts import RatingsFacts
from voirdire.examining.source import inputs_of, open_source
from voirdire.examining.verdict.facts import Judged
from voirdire.report.records import examination_record, finding_records
from voirdire.schema import Finding
from voirdire.tabular import Section

RATINGS = pl.DataFrame(
    {
        "item": [f"i{n}" for n in range(40)],
        "judge": [1 + n % 5 for n in range(40)],
        "human": [1 + (n + n % 2) % 5 for n in range(40)],
    }
)
COMPARED = pl.DataFrame(
    {
        "item": [f"i{n}" for n in range(20)] * 2,
        "system_a": "new",
        "system_b": "old",
        "rater": ["ann"] * 20 + ["gpt"] * 20,
        "attribute": "Overall",
        "score": [1.0, -1.0] * 20,
    }
)


def inputs_from(frame, **more):
    return inputs_of(open_source(frame, changes={"analysis": {"resamples": 0}}, **more))


def test_no_field_of_an_examination_has_a_default():
    fields = dataclasses.fields(Examination)
    assert len(fields) <= 9
    missing = dataclasses.MISSING
    assert all(f.default is missing and f.default_factory is missing for f in fields)


def test_what_has_nothing_to_examine_is_absent():
    rated = examine_inputs(inputs_from(RATINGS, reference=["human"]))
    assert [type(facts) for facts in rated.parts] == [DataFacts, RatingsFacts, Judged]
    assert rated.facts(Preferences) is None
    compared = examine_inputs(inputs_from(COMPARED))
    assert compared.facts(Preferences) is not None
    assert (compared.facts(DataFacts), compared.facts(RatingsFacts)) == (None, None)
    # Read all the same, and empty: whoever lists results needs no question.
    assert (compared.results, compared.rated.composites) == ((), ())


@dataclass(frozen=True)
class Counted:
    """The facts of the part below."""

    rows: int
    after: tuple[type, ...]


class CountedPart:
    """A stranger's part."""

    def needs(self, inputs):
        return inputs.ratings.height > 50

    def examine(self, inputs, before):
        rows = inputs.ratings.height
        odd = Finding("counted", "serious", "", rows, (), f"{rows} rows.", "None.")
        return Examined(Counted(rows, tuple(map(type, before))), (odd,), ("Counted.",))

    def sections(self, facts):
        return (Section("Rows", f"There are {facts.rows}."),)


@pytest.fixture
def counted(monkeypatch):
    monkeypatch.setattr(parts, "PARTS", (*PARTS, CountedPart()))


@pytest.mark.usefixtures("counted")
def test_a_further_part_is_seen_everywhere():
    examination = examine_inputs(inputs_from(RATINGS, reference=["human"]))
    facts = examination.facts(Counted)
    assert (facts.rows, facts.after) == (80, (DataFacts, RatingsFacts, Judged))
    record = examination_record(examination)
    assert record["sections"][-1]["text"] == "There are 80."
    assert record["notes"][-1] == "Counted."
    assert finding_records(examination)[0]["kind"] == "counted"  # before all notes
    fewer = examine_inputs(inputs_from(RATINGS.head(20), reference=["human"]))
    assert fewer.facts(Counted) is None


@pytest.mark.usefixtures("counted")
def test_facts_are_exchanged_for_those_of_the_same_part():
    examination = examine_inputs(inputs_from(RATINGS, reference=["human"]))
    changed = examination.with_facts(Counted(1, ()))
    assert changed.facts(Counted).rows == 1
    assert changed.results == examination.results
    assert len(changed.parts) == len(examination.parts)
