"""axe-core on the pages of `voirdire look` and `humans serve`, and on report.html: nothing at all.

Runs where npm's package axe-core is installed (node_modules here, NODE_PATH or `npm root -g`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from humans_work import PARTS, write_study
from looking_work import Site, material, write_ratings
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from test_humans_page import Page
from test_humans_turns import conversations, rated_session

from voirdire import examine
from voirdire.humans import make_plan
from voirdire.looking import write_static
from voirdire.report import write_outputs

pytestmark = pytest.mark.browser


def axe_file():
    """The script of the package; None where it is not installed."""
    folders = [Path("node_modules"), Path(__file__).parents[1] / "node_modules"]
    folders += [Path(one) for one in os.environ.get("NODE_PATH", "").split(os.pathsep) if one]
    if npm := shutil.which("npm"):
        ran = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=False)
        folders.append(Path(ran.stdout.strip() or "."))
    found = (folder / "axe-core" / "axe.min.js" for folder in folders)
    return next((path for path in found if path.is_file()), None)


@pytest.fixture(scope="module")
def axe():
    path = axe_file()
    if path is None:
        pytest.skip("npm's package axe-core is not installed")
    return path.read_text(encoding="utf-8")


def fine_ratings(path):
    """A scale of a hundred points, which is drawn as a scatter plot."""
    rows = [
        (f"i{k}", rater, float((k * 37 + shift) % 101))
        for k in range(60)
        for rater, shift in (("human", 0), ("judge", k % 9))
    ]
    pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row").write_csv(path)
    return path


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Addresses of every kind of page, over ratings with texts."""
    folder = tmp_path_factory.mktemp("axe")
    source = write_ratings(folder / "ratings.csv", note=lambda item: f"I slept badly, {item}.")
    made = material(source, with_text=True)
    found = examine(source, reference=["human"], resamples=0)
    write_outputs(found, folder / "report", ["html"], figures=False, with_text=True)
    write_static(made, "ratings", folder / "out.html", most=20)
    site, fine = Site(made), Site(material(fine_ratings(folder / "fine.csv")))
    paths = ["/matrix", "/list", "/response?row=2", "/list?judge=nobody"]
    files = [(folder / name).as_uri() for name in ("out.html", "report/report.html")]
    yield [
        site.server.link,
        fine.server.link,
        fine.server.address + "/matrix",
        *(site.server.address + path for path in paths),
        *files,
    ]
    site.close()
    fine.close()


def found_by(browser, axe):
    """What axe-core finds wrong, however minor: rule, and the elements."""
    browser.execute_script(axe)
    found = browser.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(document).then((found) => done(found), (error) => done(String(error)));"
    )
    assert len(found["passes"]) > 10
    return [
        (one["id"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in found["violations"]
    ]


@pytest.mark.parametrize("unit", ["turn", "first"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_on_the_page_where_people_judge_turns(
    browser, axe, tmp_path, unit, width
):
    plan, _ = make_plan(conversations(tmp_path, unit), tmp_path / "work")
    page = Page(tmp_path / "work", plan)
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.set_script_timeout(60)
    browser.get(page.server.links["ann"])
    wait = WebDriverWait(browser, 60)
    wait.until(lambda one: one.find_elements(By.TAG_NAME, "fieldset"))
    found = found_by(browser, axe)
    page.close()
    assert found == []


def test_axe_finds_nothing_where_judged_turns_are_looked_at_on_a_phone(browser, axe, tmp_path):
    """A turn within its conversation, and a report with agreement over turns as a picture."""
    session = rated_session(tmp_path)
    site = Site(material(session, reference=("ann", "ben"), with_text=True))
    write_outputs(examine(session, resamples=0), tmp_path / "report", ["html"], with_text=True)
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    browser.set_script_timeout(60)
    browser.get(site.server.link)
    report = (tmp_path / "report" / "report.html").as_uri()
    for place in (site.server.address + "/response?row=2", report):
        browser.get(place)
        assert found_by(browser, axe) == [], place
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        assert browser.title != "owned"  # what a hostile turn asks for
    assert "Agreement over turns" in browser.page_source
    site.close()


def show_as(browser, scheme, width):
    feature = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.set_script_timeout(60)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(browser, places, axe, scheme, width):
    show_as(browser, scheme, width)
    found = {}
    for place in places:
        browser.get(place)
        assert browser.find_elements(By.TAG_NAME, "main"), place
        if worst := found_by(browser, axe):
            found[place] = worst
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert found == {}


@pytest.mark.parametrize("task", list(PARTS))
def test_axe_finds_nothing_on_the_pages_of_people(browser, axe, tmp_path, task):
    plan, _ = make_plan(write_study(tmp_path, task), tmp_path / "work")
    served = Page(tmp_path / "work", plan)
    found = {}
    try:
        for scheme, width in (("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)):
            show_as(browser, scheme, width)
            browser.get(served.server.links["ann"])
            WebDriverWait(browser, 60).until(lambda b: b.find_elements(By.TAG_NAME, "fieldset"))
            if worst := found_by(browser, axe):
                found[scheme, width] = worst
    finally:
        served.close()
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert found == {}
