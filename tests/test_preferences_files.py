"""Files of preferences as people write them: found, read cell by cell, or refused by line."""

from __future__ import annotations

import pytest

from voirdire import TableError
from voirdire.examining.preferences import preferences_alone

HEADER = "item,system_a,system_b,rater,attribute,score\n"
ROWS = "1.0,m ,ref,ann,Warmth,1\n2.0,m,ref,ann,Warmth,n.a.\n3.0,m,ref,ann,Warmth,-2\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.csv", (HEADER + ROWS).encode()),
        ("p.csv", ("My comparisons\n\n" + HEADER + ROWS).encode()),
        ("p.csv", (HEADER + ROWS).encode("utf-16")),
        ("p.tsv", (HEADER + ROWS).replace(",", "\t").encode()),
    ],
)
def test_preferences_are_found_and_read(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    found = preferences_alone(path)
    assert found is not None
    assert found[1] is not None
    table = found[1].table
    assert table.select("item", "system_a", "score", "status").rows() == [
        ("1", "m", 1.0, "ok"),
        ("2", "m", None, "blank"),
        ("3", "m", -2.0, "ok"),
    ]


def test_a_score_in_words_is_named_by_its_line(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(HEADER + "1,m,ref,ann,Warmth,1\n2,m,ref,ann,Warmth,m\n")
    with pytest.raises(TableError, match="line 3: the score is 'm' where a number is needed"):
        preferences_alone(path)
