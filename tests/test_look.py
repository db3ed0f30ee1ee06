"""The pages of `voirdire look`: what they show, what they refuse, and the labels that they keep."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import threading
import time
from html import unescape

import numpy as np
import polars as pl
import pytest
from command_line import invoke
from looking_work import BIDI, CONTROL, IMAGE, MARKUP, Site, material, write_ratings
from machine import second
from markupsafe import escape

from voirdire import examine
from voirdire.errors import InputError
from voirdire.examining.influential import influential
from voirdire.looking import LookServer, View, write_static
from voirdire.report.answers import answers, leads
from voirdire.tables.hand_labels import hand_labels_path, read_hand_labels

ROWS = re.compile(r'<a data-row href="([^"]+)">([^<]*)</a>')


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_ratings(tmp_path_factory.mktemp("look") / "ratings.csv")


@pytest.fixture(scope="module")
def made(source):
    return material(source)


@pytest.fixture(scope="module")
def site(made):
    served = Site(made)
    yield served
    served.close()


@pytest.fixture
def own(tmp_path):
    """A site over a source of its own, whose labels a test may set."""
    path = write_ratings(tmp_path / "ratings.csv")
    served = Site(material(path))
    yield served, path
    served.close()


def table(site, path):
    return pl.read_csv(io.StringIO(site.ask(path)[2]))


def test_the_grid_leads_to_a_matrix_to_a_list_to_a_response(site, source):
    status, _, grid = site.ask("/")
    assert status == 200
    assert "judge" in grid
    matrix = unescape(re.search(r'id="worst" href="([^"]+)"', grid)[1])
    text = site.ask(matrix)[2]
    cell = next(
        (unescape(href), label)
        for href, label in re.findall(r'<a data-row href="([^"]+)" aria-label="([^"]+)"', text)
        if label.startswith("humans 1, judge 5")
    )
    rows = site.ask(cell[0])[2]
    found = ROWS.findall(rows)
    frame = pl.read_csv(source).pivot(on="rater", index=["item", "system"], values="score")
    expected = frame.filter(pl.col("human") == 1, pl.col("judge") == 5)
    assert cell[1] == f"humans 1, judge 5: {expected.height} responses"
    assert sorted(name for _, name in found) == sorted(expected["item"])
    one = site.ask(unescape(found[0][0]))[2]
    assert f"Item {found[0][1]}, answered by" in one


def test_the_matrix_counts_every_pair(made):
    found = made.matrix(View())
    both = made.rows(0, "")
    slow = np.zeros((5, 5), int)
    for human, score in both.select("human", "score").iter_rows():
        slow[int(human) - 1, int(score) - 1] += 1
    assert found.counts.tolist() == slow.tolist()
    assert found.names == ("1", "2", "3", "4", "5")


def test_rows_are_filtered_and_sorted_by_what_the_address_says(site):
    rows = table(site, "/export.csv?system=new&sort=difference")
    assert set(rows["system"]) == {"new"}
    sizes = rows["difference"].abs().to_list()
    assert sizes == sorted(sizes, reverse=True)
    rows = table(site, "/export.csv?sort=human&up=1")
    assert rows["human"].to_list() == sorted(rows["human"], reverse=True)
    assert table(site, "/export.csv?q=i39")["item"].unique().to_list() == ["i39"]
    assert table(site, "/export.csv?human=0&score=4").height < rows.height


def test_sorted_by_influence_the_rows_are_those_that_move_the_verdict(made):
    rows = made.select(View(use="score", sort="influence"))
    sizes = rows["influence"].abs().to_list()
    assert sizes[0] > 0
    assert sizes == sorted(sizes, reverse=True)
    assert made.component(View(use="score")).name in made.verdict(View(use="score")).deciding


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/list?judge=nobody", "'nobody' is unknown (allowed: judge)"),
        ("/list?sort=colour", "'colour' is unknown"),
        ("/list?sort=of:nobody", "'of:nobody' is unknown"),
        ("/list?status=gone", "'gone' is unknown"),
        ("/list?page=-1", "page must be a whole number, got '-1'"),
        ("/list?colour=red", "'colour' is unknown"),
        ("/list?use=rest", "'rest' is unknown"),
        ("/response?row=9999", "there is no response 9999 (0 to 79)"),
    ],
)
def test_an_address_that_means_nothing_says_what_is_allowed(site, address, words):
    status, _, text = site.ask(address)
    assert status == 400
    assert words in unescape(text)


def test_the_queue_is_one_for_humans_serve(site):
    queue = table(site, "/queue.csv?system=new")
    assert queue.columns == ["item", "system", "score", "confidence", "decision"]
    assert set(queue["decision"]) == {"human"}
    assert queue.height == 40


def test_a_label_set_on_the_page_is_kept_and_counts(own):
    site, source = own
    back = "/response?sort=item&row=3"
    status, headers, _ = site.label(back, "5", note="see the second line")
    assert (status, headers["Location"]) == (303, back)
    kept = read_hand_labels(hand_labels_path(source)).row(0, named=True)
    assert {key: kept[key] for key in ("attribute", "rater", "score", "origin", "labelled_by", "note")} == {
        "attribute": "score", "rater": "human", "score": 5.0, "origin": "chosen",
        "labelled_by": "ann", "note": "see the second line",
    }  # fmt: skip
    page = site.ask(back)[2]
    assert "score 5 as human, by ann" in page
    assert table(site, "/export.csv?by_hand=1").height == 1
    assert "1 label set by hand" in site.ask("/")[2]
    found = examine(source, reference=["human"], resamples=0)
    rated = found.ratings.filter(
        pl.col("item") == kept["item"],
        pl.col("system") == kept["system"],
        pl.col("rater") == "human",
    )
    assert rated["score"].to_list() == [5.0]
    site.label(back, "", do="back")
    assert table(site, "/export.csv?by_hand=1").height == 0


def test_a_label_in_a_new_name_is_one_more_human(own):
    site, source = own
    site.label("/response?row=1", "2", rater="", by="cleo")
    assert examine(source, reference=["human"], resamples=0).results[0].reference == (
        "human",
        "cleo",
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"score": "9"}, "'9' is not on the scale 1 to 5"),
        ({"score": "2.5"}, "'2.5' is no level of the scale"),
        ({"score": "nan"}, "'nan' is not on the scale"),
        ({"by": " "}, "give your name"),
        ({"rater": "stranger"}, "'stranger' is unknown"),
        ({"rater": "", "by": "judge"}, "'judge' is a judge here"),
        ({"back": "/response?row=9999"}, "there is no response 9999"),
        ({"note": "x" * 2001}, "at most 2,000 letters"),
    ],
)
def test_a_label_that_cannot_be_kept_says_why(own, fields, words):
    site, source = own
    values = {"back": "/response?row=1", "score": "3", **fields}
    status, _, text = site.label(values.pop("back"), values.pop("score"), **values)
    assert status == 400
    assert words in unescape(text)
    assert not hand_labels_path(source).exists()


def test_two_people_at_once_lose_nothing(own):
    site, source = own

    def set_labels(who):
        for row in range(20):
            assert site.label(f"/response?row={row}", "4", rater="", by=who)[0] == 303

    people = [threading.Thread(target=set_labels, args=(who,)) for who in ("ann", "ben")]
    for one in people:
        one.start()
    for one in people:
        one.join()
    assert read_hand_labels(hand_labels_path(source)).height == 40


def test_two_processes_at_once_lose_nothing(own):
    """Two servers of one source, as two people start them on one machine."""
    _, source = own
    ran = [
        subprocess.Popen([sys.executable, "-c", KEEP, str(hand_labels_path(source)), who])
        for who in ("ann", "ben")
    ]
    assert [one.wait(timeout=120) for one in ran] == [0, 0]
    kept = read_hand_labels(hand_labels_path(source))
    assert kept.height == 60
    assert kept.group_by("labelled_by").len()["len"].to_list() == [30, 30]
    assert kept.select("labelled_by", "item").is_unique().all()


#: Keeps thirty labels of one person, as the page does.
KEEP = """
import sys
from pathlib import Path
from voirdire.tables.hand_labels import HandLabel, keep_hand_label
for k in range(30):
    keep_hand_label(
        Path(sys.argv[1]), HandLabel(f"i{k}", "old", "score", sys.argv[2], 3.0, sys.argv[2], "")
    )
"""


def test_strangers_are_refused(site, made):
    assert site.ask("/", Cookie=None)[0] == 401
    assert site.ask("/", Cookie="voirdire-look=guess")[0] == 401
    assert site.ask("/?token=guess", Cookie=None)[0] == 401
    assert site.ask("/", Host="rebound.example")[0] == 421
    status, _, text = site.ask("/label", "POST", "x=1", Origin="http://other.example")
    assert (status, "other pages" in text) == (403, True)
    assert site.ask("/label", "POST", "x=1", Origin="null")[0] == 403
    assert site.ask("/label", "GET")[0] == 404
    assert site.ask("/label", "POST", "x" * 200_001)[0] == 413
    with pytest.raises(InputError, match="can be reached from other machines"):
        LookServer(made, "ratings", host="0.0.0.0")


def test_the_token_is_exchanged_for_a_cookie_that_scripts_cannot_read(site):
    status, headers, _ = site.ask(f"/?token={site.token}", Cookie=None)
    assert (status, headers["Location"]) == (303, "/")
    assert headers["Set-Cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "form-action 'self'" in policy


def test_hostile_names_and_texts_are_shown_as_text(tmp_path):
    long = "W" * 1_000_000
    source = write_ratings(
        tmp_path / "ratings.csv",
        30,
        judge=f"judge {MARKUP}",
        systems=(IMAGE, BIDI),
        note=lambda item: f"{MARKUP} {CONTROL} {item} {long if item == 'i1' else ''}",
    )
    site = Site(material(source, with_text=True))
    pages = [site.ask(path)[2] for path in ("/", "/matrix", "/list", "/response?row=2")]
    site.close()
    for page in pages:
        assert "<script>window" not in page
        assert "<img" not in page
        assert "\u202e" not in page
        assert "\x1b" not in page
        assert len(page) < 400_000
    assert r"good\u202edab" in pages[2]
    assert "more characters are not shown" in pages[3]
    out = tmp_path / "out.html"
    write_static(material(source, with_text=True), "ratings", out)
    assert out.read_text(encoding="utf-8").count("<script>") == 1


def test_texts_are_shown_only_where_they_are_asked_for(tmp_path):
    source = write_ratings(tmp_path / "ratings.csv", note=lambda item: f"I slept badly, {item}.")
    site = Site(material(source))
    assert "I slept badly" not in site.ask("/response?row=0")[2]
    assert table(site, "/export.csv?q=slept").height == 0
    site.close()
    site = Site(material(source, with_text=True))
    assert "I slept badly, i0." in site.ask("/response?row=0")[2]
    assert table(site, "/export.csv?q=SLEPT+badly,+i3.").height == 2
    site.close()


def test_a_fine_scale_is_cut_into_ranges(tmp_path):
    rng = np.random.default_rng(1)
    rows = [
        (f"i{k}", rater, float(rng.integers(0, 101)))
        for k in range(60)
        for rater in ("human", "judge")
    ]
    path = tmp_path / "fine.csv"
    pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row").write_csv(path)
    made = material(path)
    found = made.matrix(View())
    assert len(found.names) == 10
    assert found.counts.sum() == 60
    site = Site(made)
    page = site.ask("/matrix")[2]
    points = re.findall(
        r'<a href="([^"]+)" tabindex="-1" aria-label="(\S+) : humans (\d+), judge (\d+)">'
        r'<circle cx="([\d.]+)" cy="([\d.]+)"',
        page,
    )
    assert len(points) == 60
    low, width = made.scale.low, made.scale.width
    for address, item, human, score, x, y in points[::20]:
        assert f"Item {item}" in site.ask(unescape(address))[2]
        assert float(x) == pytest.approx((int(human) - low) / width * 400, abs=0.06)
        assert float(y) == pytest.approx(400 - (int(score) - low) / width * 400, abs=0.06)
    site.close()


def test_beside_another_source_only_what_changed_is_listed(tmp_path):
    later = write_ratings(tmp_path / "later.csv", note=lambda item: f"I slept badly, {item}.")
    frame = pl.read_csv(later)
    moved = (pl.col("rater") == "judge") & pl.col("item").is_in(["i3", "i9"])
    shifted = pl.when(moved).then(6 - pl.col("score")).otherwise("score").alias("score")
    earlier = frame.with_columns(shifted)
    earlier.filter(~moved | (pl.col("item") != "i3") | (pl.col("system") != "old")).write_csv(
        tmp_path / "earlier.csv"
    )
    expected = frame.filter(moved, pl.col("score") != 6 - pl.col("score")).select("item", "system")
    site = Site(material(later, beside=material(tmp_path / "earlier.csv")))
    rows = table(site, "/export.csv?changed=1&sort=change")
    page = site.ask("/list?changed=1&sort=change")[2]
    matrix = site.ask("/matrix")[2]
    changed = re.search(r'id="changed" href="([^"]+)">([^<]+)<', matrix)
    listed = site.ask(unescape(changed[1]))[2]
    site.close()
    assert changed[2] == f"Only those that changed: {rows.height}"
    assert f"<h1>{rows.height} responses</h1>" in listed
    assert set(rows.select("item", "system").rows()) == {*expected.rows(), ("i3", "old")}
    known = rows.drop_nulls("before")
    assert (known["change"] == known["score"] - known["before"]).all()
    assert (known["before"] == 6 - known["score"]).all()
    sizes = known["change"].abs().to_list()
    assert sizes == sorted(sizes, reverse=True)
    assert "Change" in page


def test_one_file_holds_the_widest_differences(made, tmp_path):
    out = tmp_path / "out.html"
    assert write_static(made, "ratings", out, most=30) == 30
    text = out.read_text(encoding="utf-8")
    assert text.count('<tr><th scope="row">i') == 30
    assert "http" not in re.sub(r"http-equiv", "", text)
    with pytest.raises(InputError, match="1 to 2,000 rows"):
        write_static(made, "ratings", out, most=2_001)


def test_the_command_writes_a_file_without_a_server(source, tmp_path):
    out = tmp_path / "out.html"
    ran = invoke(["look", str(source), "--reference", "human", "--static", str(out), "--json"])
    assert ran.exit_code == 0, ran.output
    assert "80 rows" in ran.output
    assert out.is_file()


def test_a_hundred_thousand_ratings_are_filtered_and_sorted_in_time(tmp_path):
    rng = np.random.default_rng(3)
    n = 50_000
    truth = rng.integers(1, 6, n)
    frame = pl.DataFrame(
        {
            "item": [f"item {k // 5}" for k in range(n)] * 2,
            "system": [f"s{k % 5}" for k in range(n)] * 2,
            "rater": ["human"] * n + ["judge"] * n,
            "score": np.concatenate([truth, np.clip(truth + rng.integers(-1, 2, n), 1, 5)]),
            "text": [f"I slept badly, and item {k // 5} says why." for k in range(n)] * 2,
        }
    )
    path = tmp_path / "large.parquet"
    frame.write_parquet(path)
    made = material(path, with_text=True)
    made.select(View())
    views = (
        View(system="s3"), View(sort="influence"), View(human=4, score=3), View(q="item 77 says"),
        View(sort="item", up=True),
    )  # fmt: skip
    for view in views:
        began = time.process_time()
        assert made.select(view).height
        assert time.process_time() - began < second(), view


def test_each_of_several_humans_has_a_column_that_sorts(tmp_path):
    rows = [(f"i{k}", k % 5 + 1, k * 3 % 5 + 1, k * 7 % 4 + 1) for k in range(30)]
    path = tmp_path / "two.csv"
    pl.DataFrame(rows, schema=["item", "judge", "human 1", "human 2"], orient="row").write_csv(path)
    made = material(path, ("human 1", "human 2"))
    site = Site(made)
    page = site.ask("/list?sort=of%3Ahuman+2")[2]
    site.close()
    assert re.search(r'aria-sort="ascending"><a href="[^"]+">human 2 ', page)
    said = {item: second for item, _, _, second in rows}
    order = [said[name] for _, name in ROWS.findall(page)]
    assert order == sorted(said.values())
    assert made.select(View(sort="of:human 2", up=True))["item"][0] in [
        item for item, second in said.items() if second == max(said.values())
    ]


def test_of_another_source_only_other_texts_are_shown(tmp_path):
    rows = [
        (f"i{k}", f"Is it {k}?", f"It is {k}.", f"because {k}", k % 5 + 1, k * 3 % 5 + 1)
        for k in range(30)
    ]
    head = ["item", "question", "answer", "judge_reason", "judge", "human"]
    later = pl.DataFrame(rows, schema=head, orient="row")
    other = pl.when(pl.col("item") == "i3")
    earlier = later.with_columns(
        answer=other.then(pl.lit("It was 2.")).otherwise("answer"),
        judge_reason=other.then(pl.lit("because it was")).otherwise("judge_reason"),
    )
    later.write_csv(tmp_path / "later.csv")
    earlier.write_csv(tmp_path / "earlier.csv")
    before = material(tmp_path / "earlier.csv", with_text=True)
    site = Site(material(tmp_path / "later.csv", with_text=True, beside=before))
    pages = {at: unescape(site.ask(f"/response?row={at}")[2]) for at in range(30)}
    site.close()
    for page in pages.values():
        changed = "Item i3<" in page
        assert ("Answer in the source beside" in page, "It was 2." in page) == (changed, changed)
        assert ("What judge said in the source beside" in page) == changed
        assert page.count("What judge said") == 1 + changed


def test_answers_and_reasons_with_markup_are_text(tmp_path):
    hostile = MARKUP + BIDI + CONTROL + IMAGE
    rows = [(f"i{k}", hostile, hostile, hostile, k % 5 + 1, k * 3 % 5 + 1) for k in range(30)]
    head = ["item", "question", "answer", "judge_reason", "judge", "human"]
    path = tmp_path / "hostile.csv"
    pl.DataFrame(rows, schema=head, orient="row").write_csv(path)
    made = material(path, with_text=True)
    site = Site(made)
    page = site.ask("/response?row=3")[2]
    site.close()
    write_static(made, "hostile", tmp_path / "out.html")
    for text in (page, (tmp_path / "out.html").read_text()):
        assert MARKUP not in text
        assert IMAGE not in text
        assert text.count("&lt;script&gt;window.hacked") >= 3
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_the_first_page_begins_with_the_answer_and_what_decides_it(site, made):
    page = site.ask("/")[2]
    lead = leads(answers(made.examination))
    wanted = influential(made.examination, 10)
    for sentence in lead:
        assert str(escape(sentence)) in page
    assert page.index(str(escape(lead[0]))) < page.index('id="units"') < page.index('id="grid"')
    links = re.findall(r'<th scope="row"><a href="(/response[^"]+)">([^<]+)</a>', page)
    assert len(links) == min(10, wanted.height) > 0
    assert [text.split(",")[0] for _, text in links] == wanted["item"].to_list()
    status, _, response = site.ask(unescape(links[0][0]))
    assert status == 200
    assert wanted["item"][0] in response
