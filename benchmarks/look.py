"""The page that shows responses, in a real browser: first paint, filters, sorting, memory.

    python benchmarks/look.py          # prints the table and writes results/look.md

A table of 100,000 ratings (50,000 responses of five systems, a judge and a human, an item's text,
an answer and a reason of 60 words each) is served by `voirdire look --with-text` in a process of
its own. Chromium without a window opens it, and every figure is what the browser's own Performance
API says of a page: from the click until the first text is painted, and until the page is complete.
Each step is done once on a page that nothing has been asked of yet ("first") and four times more.
Needs selenium, chromium and chromedriver. On a machine with other work the figures mean little.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from _help import help_asked
from _timing import machine, table, versions
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).resolve().parent / "results" / "look.md"
RATINGS, SYSTEMS, WORDS, REPEATS = 100_000, 5, 60, 5
#: What the issue of this page asks for, in milliseconds and MB.
PAINT, STEP, MEMORY = 1_000, 200, 500
_SAID = np.array(["alpha", "beta", "gamma", "delta", "slept", "badly", "kind", "answer"])
#: Milliseconds from the start of a navigation to the first text, the whole answer, and the end.
_TIMES = """
const page = performance.getEntriesByType('navigation')[0];
const paint = performance.getEntriesByName('first-contentful-paint')[0];
if (window.pageThatIsLeft || !page || !page.loadEventEnd || !paint) return null;
return [paint.startTime, page.responseEnd, page.loadEventEnd];
"""
Browser = webdriver.Chrome
Step = tuple[str, "Callable[[Browser], None]"]


def write_ratings(path: Path) -> None:
    """A judge that is two steps below one of the systems, beside a human; every text is its own."""
    drawn = np.random.default_rng(0)
    responses = RATINGS // 2
    system = np.arange(responses) % SYSTEMS
    human = np.clip(np.rint(3 + 0.1 * system + drawn.normal(0, 1, responses)), 1, 5)
    judge = np.clip(human + np.rint(drawn.normal(0, 0.6, responses)) - 2 * (system == 2), 1, 5)
    texts = {
        name: [" ".join(row) for row in _SAID[drawn.integers(0, len(_SAID), (responses, WORDS))]]
        for name in ("question", "answer", "judge_reason")
    }
    item = np.arange(responses) // SYSTEMS
    texts["question"] = [texts["question"][at] for at in item]  # one of all systems
    frame = pl.DataFrame({
        "item": [f"i{at}" for at in item], "system": [f"s{at}" for at in system],
        "judge": judge, "human": human, **texts,
    })  # fmt: skip
    frame.write_csv(path)


def opened_browser(profile: str) -> Browser:
    """Chromium without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--window-size=1280,900",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=Service(str(shutil.which("chromedriver"))))


def timed(browser: Browser, step: Callable[[Browser], None]) -> tuple[float, float, float]:
    """What the browser says of the page that a step leads to."""
    browser.execute_script("window.pageThatIsLeft = true")
    step(browser)
    # A script asked for between two pages ends in an error.
    parts: Any = WebDriverWait(browser, 120, 0.02, ignored_exceptions=[WebDriverException]).until(
        lambda one: one.execute_script(_TIMES)
    )
    return tuple(parts)


def click(selector: str) -> Callable[[Browser], None]:
    """A click on what is found by a selector."""
    return lambda browser: browser.find_element(By.CSS_SELECTOR, selector).click()


def sort_by(title: str) -> Callable[[Browser], None]:
    """A click on the head of a column."""
    return lambda browser: browser.find_element(
        By.XPATH, f"//table[@id='rows']//thead//a[contains(., '{title}')]"
    ).click()


def choose(key: str, text: str) -> Callable[[Browser], None]:
    """A filter that is chosen, and applied."""

    def chosen(browser: Browser) -> None:
        Select(browser.find_element(By.NAME, key)).select_by_visible_text(text)
        browser.find_element(By.CSS_SELECTOR, "#filters button").click()

    return chosen


def search(words: str) -> Callable[[Browser], None]:
    """Words that are sought in all texts."""

    def sought(browser: Browser) -> None:
        box = browser.find_element(By.NAME, "q")
        box.clear()
        box.send_keys(words)
        browser.find_element(By.CSS_SELECTOR, "#filters button").click()

    return sought


def steps(address: str) -> list[Step]:
    """A newcomer's way from the grid to one response; the list is left as it was found."""
    whole: Step = ("list of all responses", click("main p a[data-row]"))
    return [
        ("grid", lambda browser: browser.get(address)),
        ("matrix", click("#worst")),
        whole,
        ("sort by influence", sort_by("Influence")),
        ("sort by the judge's score", sort_by("Judge")),
        ("sort by system", sort_by("System")),
        ("search in texts, few hits", search("slept badly kind kind kind kind")),
        ("clear the filters", click("#filters a")),
        ("search in texts, many hits", search("slept badly")),
        ("clear them again", click("#filters a")),
        ("filter by system", choose("system", "s2")),
        ("filter by the humans' score", choose("human", "4")),
        ("one response", click("#rows tbody a")),
        ("next response", click('a[data-key="after"]')),
    ]


def measured(folder: Path) -> tuple[dict[str, list[tuple[float, ...]]], float, float]:
    """Times by step, peak memory of the server in MB, and seconds until the address is printed."""
    path = folder / "answers.csv"
    write_ratings(path)
    voirdire = Path(sys.executable).with_name("voirdire")
    named = ("look", str(path), "--reference", "human", "--with-text", "--port", "0")
    begun = time.perf_counter()
    clocks: dict[str, list[tuple[float, ...]]] = {}
    with subprocess.Popen([voirdire, *named], stdout=subprocess.PIPE, text=True) as server:
        try:
            link = re.search(r"http\S+", server.stdout.readline())[0]
            opened = time.perf_counter() - begun
            browser = opened_browser(str(folder / "profile"))
            try:
                for _ in range(REPEATS):
                    browser.get("about:blank")
                    for name, step in steps(link):
                        clocks.setdefault(name, []).append(timed(browser, step))
            finally:
                browser.quit()
            status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
            peak = int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024 / 1e6
        finally:
            server.terminate()
    return clocks, peak, opened


def main() -> None:
    """Measure, print and write."""
    with tempfile.TemporaryDirectory() as folder:
        clocks, peak, opened = measured(Path(folder))
    rows = [
        (
            name,
            *(f"{times[0][at]:.0f}" for at in (0, 2)),
            *(f"{statistics.median(one[at] for one in times[1:]):.0f}" for at in (0, 2)),
            f"{max(one[2] for one in times):.0f}",
            f"{PAINT if name == 'grid' else STEP}",
        )
        for name, times in clocks.items()
    ]
    head = (
        "step, ms",
        "first: painted",
        "first: complete",
        "painted",
        "complete",
        "worst",
        "asked",
    )
    said = (
        f"`python benchmarks/look.py`, {machine()}, {versions('polars', 'numpy', 'selenium')}. "
        f"{RATINGS:,} ratings with texts ({RATINGS // 2:,} responses; a question, an answer and a "
        f"reason of {WORDS} words), read from CSV. Milliseconds by the browser's Performance API, "
        f"from the click to the first text that is painted and to the complete page: of the first "
        f"visit, then medians of {REPEATS - 1} later ones, and the longest of all until complete."
    )
    memory = (
        f"The server held {peak:.0f} MB at its peak (asked: below {MEMORY}). Its address was "
        f"printed {opened:.1f} s after the command; until then the file is read and examined."
    )
    title = "# The page that shows responses, in Chromium"
    text = "\n\n".join((title, said, table(head, rows), memory)) + "\n"
    print(text)
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    help_asked(__doc__)
    main()
