"""The report's list of disagreements that move the verdicts: numbers, texts, addresses into look."""

from __future__ import annotations

import re
from html import unescape

import polars as pl
import pytest
from command_line import invoke
from looking_work import MARKUP, Site, material, write_ratings

from voirdire import examine
from voirdire.errors import InputError
from voirdire.examining.influential import influential
from voirdire.looking import LookServer
from voirdire.report import write_outputs

COMMAND = re.compile(r"voirdire look SOURCE --open '([^']+)'")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("influential")
    return write_ratings(
        folder / "ratings.csv", 500, note=lambda item: f"I slept badly, {item}. {MARKUP}"
    )


@pytest.fixture(scope="module")
def found(source):
    return examine(source, reference=["human"], resamples=0)


def page(found, folder, **options):
    write_outputs(found, folder, ["html"], figures=False, **options)
    return (folder / "report.html").read_text(encoding="utf-8")


def rows_of(html):
    body = html.partition('id="table-disagreements"')[2].partition("</table>")[0]
    return re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', body, re.DOTALL)


def test_only_disagreements_are_listed_the_most_influential_first(found):
    rows = influential(found)
    assert rows.height == 200
    assert (rows["human"] != rows["score"]).all()
    assert rows["times"].is_sorted(descending=True)
    made = material(found_source(found))
    from voirdire.looking import View

    listed = made.select(View(use=rows["use"][0], sort="influence"))
    expected = listed.filter(pl.col("difference") != 0).head(200)
    assert rows["influence"].abs().to_list() == pytest.approx(
        expected["influence"].abs().to_list(), abs=1e-12
    )
    whole = listed["influence"].drop_nulls()
    assert rows["times"][0] == pytest.approx(
        abs(rows["influence"][0]) / (whole.pow(2).mean() ** 0.5), abs=1e-9
    )


def found_source(found):
    (one,) = found.study.data.sources
    from pathlib import Path

    return Path(found.study.folder, one.path)


def test_each_row_of_the_report_leads_to_its_response(found, source, tmp_path):
    html = page(found, tmp_path)
    rows, first = rows_of(html), influential(found).row(0, named=True)
    assert len(rows) == 200
    assert rows[0][0] == first["item"]
    assert "I slept badly" not in html
    made = material(source)
    for item, cells in rows[:3]:
        address = unescape(COMMAND.search(cells)[1])
        with LookServer(made, "ratings", start=address) as server:
            assert server.link.startswith(server.address)
        site = Site(made)
        assert f"Item {item}, answered by" in site.ask(address)[2]
        site.close()


def test_the_token_leads_to_the_address_that_was_asked_for(source):
    made = material(source)
    site = Site(made, start="/list?sort=influence")
    status, headers, _ = site.ask(f"/?token={site.token}", Cookie=None)
    site.close()
    assert (status, headers["Location"]) == (303, "/list?sort=influence")


@pytest.mark.parametrize(
    "start",
    [
        "https://other.example/",
        "//other.example/list",
        "/label",
        "/response?row=99999",
        "/list?judge=nobody",
        "/list?colour=red",
    ],
)
def test_an_address_that_is_none_of_the_site_is_refused(source, start):
    with pytest.raises(InputError, match=r"is unknown|there is no response"):
        LookServer(material(source), "ratings", start=start)
    ran = invoke(["look", str(source), "--reference", "human", "--open", start])
    assert ran.exit_code == 1


def test_texts_are_listed_where_they_are_asked_for_and_are_inert(found, tmp_path):
    html = page(found, tmp_path, with_text=True)
    item, cells = rows_of(html)[0]
    assert f"I slept badly, {item}. &lt;script&gt;" in cells
    assert html.count("<script>") == 1
