"""The site: built strictly without network, searched offline and read on a phone, in a browser."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="Sphinx is not installed: pip install '.[docs]'")
pytest.importorskip("furo", reason="furo is not installed: pip install '.[docs]'")
pytest.importorskip("myst_parser", reason="myst-parser is not installed: pip install '.[docs]'")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site; any warning of Sphinx, such as a dead link, fails it."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "-q",
            "-W",
            "--keep-going",
            "-b",
            "html",
            str(ROOT / "docs"),
            str(folder),
        ],
        env={**os.environ, "no_proxy": "*", "http_proxy": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def test_every_page_is_in_a_table_of_contents(site):
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs")).with_suffix(".html").is_file(), page


def test_nothing_on_a_page_is_fetched_from_elsewhere(site):
    """Offline, and nobody is told who reads: scripts, styles and pictures lie beside the page."""
    fetched = re.compile(r'<(?:script|img|link|iframe)[^>]*(?:src|href)="(https?:)?//[^"]*"')
    for page in site.rglob("*.html"):
        assert not fetched.search(page.read_text("utf-8")), page.name


def test_every_public_name_is_described(site):
    page = (site / "api" / "voirdire.html").read_text("utf-8")
    import voirdire

    assert all(f">{name}<" in page for name in voirdire.__all__ if name != "__version__")
    assert 'id="voirdire.stats.fleiss_kappa"' in (site / "api" / "stats.html").read_text("utf-8")


@pytest.mark.browser
def test_search_works_offline_from_a_file(site, browser):
    browser.set_window_size(1200, 900)
    browser.get((site / "search.html").as_uri() + "?q=sensitivity")
    found = wait_for(browser, "#search-results li a")
    assert len(found) >= 2
    assert any("verdict" in link.get_attribute("href") for link in found)


@pytest.mark.browser
@pytest.mark.parametrize("page", ["index", "verdict", "plugins", "statistics", "api/stats"])
def test_pages_fit_a_phone(page, site, browser):
    browser.set_window_size(500, 900)  # the narrowest window that Chromium opens
    browser.get((site / f"{page}.html").as_uri())
    wide = browser.execute_script(
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert wide <= 0
    size = browser.execute_script(
        "return parseFloat(getComputedStyle(document.querySelector('article p')).fontSize)"
    )
    assert size >= 14


def wait_for(browser, selector):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, 20).until(
        lambda driver: driver.find_elements(By.CSS_SELECTOR, selector)
    )


def test_pages_can_be_listened_to_and_reached_by_keys(site):
    """What axe-core finds in the theme as it is; on the built pages it finds nothing of it."""
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        for plain in (
            'role="heading">',
            '<aside class="',
            "<pre>",
            '<div class="table-wrapper',
            '<div class="math-wrapper',
        ):
            assert plain not in text, (page.name, plain)
