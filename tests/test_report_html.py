"""report.html as a file: one piece, escaped, accessible, printable, small."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from collections import Counter
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import polars as pl
import pytest
from examinations import html_of, with_changes

from voirdire.examining import examine
from voirdire.report import write_outputs
from voirdire.report.sentences import next_text, reason_text
from voirdire.schema import Finding

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "]]></style></svg><script>window.hacked = 3</script>",
    "W" * 10_000,
)


class Outline(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(scope="module")
def html(example_report):
    return (example_report / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def outline(html):
    return Outline(html)


def test_sections_stand_in_the_order_of_the_design(html):
    heads = ["grid", "data-title", "judges-title", "evidence-title", "methods-title"]
    at = [html.index(f'id="{name}"') for name in heads]
    assert at == sorted(at)


def test_nothing_is_fetched(html, outline):
    without_namespaces = html.replace("http://www.w3.org/", "")
    assert "http:" not in without_namespaces
    assert "https:" not in without_namespaces
    assert not outline.all("link")
    assert not outline.all("iframe")
    assert all("src" not in attrs for attrs in outline.all("script"))
    for attrs in (*outline.all("img"), *outline.all("image")):
        assert (attrs.get("src") or attrs.get("xlink:href")).startswith("data:image/png;base64,")
    assert "@import" not in html
    assert "url(" not in html.replace("url(#", "")


def test_only_the_own_script_may_run(html, outline):
    policy = next(a["content"] for a in outline.all("meta") if "http-equiv" in a)
    script = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(script) == 1
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert not [a for _, a in outline.tags for name in a if name.startswith("on")]


def test_ids_are_unique_and_links_lead_somewhere(outline):
    ids = Counter(attrs["id"] for _, attrs in outline.tags if "id" in attrs)
    own = {name: count for name, count in ids.items() if not name.startswith(("DejaVu", "m", "p"))}
    assert max(own.values()) == 1
    for attrs in outline.all("a"):
        assert attrs["href"].removeprefix("#") in ids
    for _, attrs in outline.tags:
        for name in (attrs.get("aria-labelledby") or "").split():
            assert name in ids


def test_tables_can_be_read_aloud(outline):
    tables = outline.all("table")
    assert len(outline.all("caption")) == len(tables) > 5
    assert all(attrs.get("scope") in ("col", "row") for attrs in outline.all("th"))
    regions = [a for a in outline.all("div") if a.get("role") == "region"]
    assert len(regions) == len(tables)
    assert all(a["tabindex"] == "0" and a["aria-label"] for a in regions)


def test_headings_do_not_skip_a_level(outline):
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


def test_the_page_has_a_language_a_title_and_a_way_past_the_contents(outline):
    assert outline.all("html")[0]["lang"] == "en"
    assert outline.all("title")
    assert outline.all("a")[0]["href"] == "#content"


def test_every_verdict_says_why_and_what_next(html, example):
    from markupsafe import escape

    for verdict in example.verdicts:
        if verdict.state != "yes":
            assert str(escape(reason_text(verdict))) in html
            assert str(escape(next_text(verdict.next, verdict.state))) in html


def test_states_are_said_in_words_as_well(html):
    said = set(re.findall(r'<span class="vh">([\w/ ]+: [\w ]+?)(?:, )?</span>', html))
    assert said >= {"Replace a human: no", "Quote averages: no"}


def test_figures_are_inline_and_follow_the_scheme(html, example_report):
    assert html.count("<figure ") == len(list((example_report / "figures").glob("*.svg"))) == 9
    assert "var(--ink)" in html
    assert "<metadata>" not in html


def test_no_figures_means_none(example, tmp_path):
    write_outputs(example, tmp_path, ["html"], figures=False)
    assert "<figure" not in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not (tmp_path / "figures").exists()


def test_texts_stay_out_unless_asked_for(html, example):
    text = example.texts.items["text"][0]
    assert text not in html
    assert "Explanation" not in html
    asked = html_of(example, with_text=True)
    assert "Where judge and humans differ most" in asked
    assert "Clear and kind" in asked


@pytest.mark.parametrize("most", [0, 12, 40])
def test_no_text_is_longer_than_the_study_allows(example, most):
    long = with_changes(example, items=example.texts.items.with_columns(text=pl.lit("ab " * 100)))
    data = long.study.data.model_copy(update={"excerpt": most})
    limited = with_changes(long, study=long.study.model_copy(update={"data": data}))
    asked = html_of(limited, with_text=True)
    quoted = re.findall("<blockquote>(.*?)</blockquote>", asked, re.DOTALL)
    assert bool(quoted) == (most > 0)
    assert all(len(unescape(text)) <= most for text in quoted)
    assert ("none is shown" in asked) == (most == 0)


def hostile(example):
    """The example with hostile names, findings and replies."""
    replies = example.texts.replies.with_columns(reply=pl.lit(" ".join(HOSTILE[:3])))
    finding = Finding("kind", "serious", HOSTILE[0], 1, HOSTILE, HOSTILE[1], HOSTILE[2])
    return with_changes(
        example,
        replies=replies,
        items=example.texts.items.with_columns(text=pl.lit(HOSTILE[3])),
        findings=(finding,),
        notes=HOSTILE[:3],
        results=tuple(
            replace(r, judge=HOSTILE[2]) if r.judge == "judge-south" else r for r in example.results
        ),
        verdicts=tuple(
            replace(v, judge=HOSTILE[2]) if v.judge == "judge-south" else v
            for v in example.verdicts
        ),
    )


def test_hostile_text_is_text(example, tmp_path):
    write_outputs(hostile(example), tmp_path, ["html", "md", "tex"], with_text=True)
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    found = Outline(html)
    assert len(found.all("script")) == 1
    assert not found.all("img")
    assert "&lt;script&gt;window.hacked = 1" in html
    assert "onerror=&#39;window.hacked" in html
    assert "W" * 81 not in html
    assert "<script>" not in (tmp_path / "tables.md").read_text(encoding="utf-8").replace(
        r"\<script>", ""
    )
    for svg in (tmp_path / "figures").glob("*.svg"):
        assert "hacked" not in svg.read_text(encoding="utf-8")


def test_long_texts_are_cut(example):
    long = example.texts.items.with_columns(text=pl.lit("word " * 1000))
    asked = html_of(with_changes(example, items=long), with_text=True)
    quoted = re.findall("<blockquote>(word .*?)</blockquote>", asked, re.DOTALL)
    assert quoted
    assert {len(text) for text in quoted} <= set(range(590, 602))


def test_the_largest_disagreements_are_shown(example):
    shown = re.findall("<article>(.*?)</article>", html_of(example, with_text=True), re.DOTALL)
    assert len(shown) == 12
    assert all(re.search("<h3>judge-.* on .* for item", text) for text in shown)
    assert all("judge " in text and "humans " in text for text in shown)
    assert all('<p class="small">Item</p><blockquote>' in text for text in shown)


def test_equal_input_gives_equal_bytes(example, html):
    assert html_of(example, figures=True) == html


def test_names_of_any_length_leave_the_page_readable():
    rows = [
        (item, system, rater, name, 1 + (item + ord(system) + len(rater)) % 5)
        for item in range(4)
        for system in "abc"
        for rater in ("human", "J" * 10_000)
        for name in ("Calm", "A" * 3_000)
    ]
    columns = ["item", "system", "rater", "attribute", "score"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    html = html_of(examine(frame, reference=["human"], resamples=20))
    assert max(len(found) for found in re.findall("J+|A+", html)) <= 1000
    assert len(html) < 200_000


def test_places_that_are_all_listed_are_followed_by_nothing(example):
    kept = {"kind": "out_of_scale", "severity": "serious", "table": "h", "consequence": "So."}
    few = Finding(message="few", count=8, places=("item 1", "item 2"), **kept)
    many = Finding(message="many", count=40, places=tuple(f"item {i}" for i in range(20)), **kept)
    html = html_of(example.replace(findings=(few, many)))
    assert "item 1; item 2</p>" in html
    assert "item 11 and others</p>" in html
