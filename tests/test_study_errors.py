"""What a study says that cannot be: one sentence that names the key."""

from __future__ import annotations

import pytest

from voirdire._errors import StudyError
from voirdire.study import build_study


@pytest.mark.parametrize(
    ("rubric", "message"),
    [
        ({"scale": [1, float("inf")]}, r"rubric: scale must be \[low, high\] with low < high"),
        ({"scale": [float("nan"), 5]}, r"rubric: scale must be \[low, high\] with low < high"),
        ({"scale": "1-5"}, "key 'rubric.scale' is '1-5': input should be a list"),
        (
            {"attributes": ["Calm", "Clear"], "composites": {"Calm": ["Calm", "Clear"]}},
            "rubric: composite 'Calm' has the name of an attribute",
        ),
    ],
)
def test_rubrics_that_cannot_be(rubric, message):
    with pytest.raises(StudyError, match=f"^t.toml: {message}"):
        build_study({"name": "t", "rubric": rubric}, "t.toml")
