"""report.html in a real browser: sorting, contents, hostile text, no request, no overflow."""

from __future__ import annotations

import shutil
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import polars as pl
import pytest
from looking_work import write_ratings
from test_report_html import hostile

from voirdire.examining import examine
from voirdire.examining.simulate import DEMO, simulate_panel, tidy_ratings
from voirdire.report import write_outputs

pytestmark = pytest.mark.browser


def engineer():
    """600 responses of two releases, 200 of them labelled by one person, pass or fail."""
    rows = []
    for at in range(600):
        good, wrong = at % 5 < 3, at % 23 == 0
        rows.append((f"t{at}", f"v{at % 2}", "gpt", float(good != wrong)))
        if at % 3 == 0:
            rows.append((f"t{at}", f"v{at % 2}", "human", float(good != (at % 37 == 0))))
    columns = ["item", "system", "rater", "score"]
    return pl.DataFrame(rows, schema=columns, orient="row")


@pytest.fixture(scope="module")
def reports(example, example_report, tmp_path_factory):
    """A folder with the example's report and a hostile one."""
    folder = tmp_path_factory.mktemp("reports")
    shutil.copytree(example_report, folder / "plain")
    write_outputs(hostile(example), folder / "hostile", ["html"], with_text=True)
    gated = examine(engineer(), reference=["human"], gate=1, resamples=0)
    write_outputs(gated, folder / "gated", ["html"], figures=False)
    humans = [f"human-{at}" for at in (1, 2, 3)]
    panel = tidy_ratings(simulate_panel(10, 60, 1, kinds=DEMO, endless=400), "Helpfulness")
    seven = examine(panel, reference=humans, gate=4, resamples=0)
    write_outputs(seven, folder / "panel", ["html"], figures=False)
    texts = write_ratings(folder / "texts.csv", 500, note=lambda item: f"I slept badly, {item}.")
    read = examine(texts, reference=["human"], resamples=0)
    write_outputs(read, folder / "texts", ["html"], figures=False, with_text=True)
    return folder


class Handler(BaseHTTPRequestHandler):
    """Serves the folder and keeps what was asked for."""

    def __init__(self, folder, asked, *args):
        self.folder, self.asked = folder, asked
        super().__init__(*args)

    def do_GET(self):
        self.asked.append(self.path)
        path = self.folder / self.path.lstrip("/")
        found = path.is_file()
        body = path.read_bytes() if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))  # a page cut short is no page
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def site(reports):
    """Address of a server on loopback, and the paths it was asked for."""
    asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, reports, asked))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()
    thread.join()


def go(browser, address):
    """Open a page and wait for its end: on a busy machine the old one may still be there."""
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(address)
    there = "return location.href.startsWith(arguments[0]) && document.readyState === 'complete' && !!document.querySelector('footer')"
    WebDriverWait(browser, 120).until(lambda one: one.execute_script(there, address.split("#")[0]))


def column(browser, table, index):
    script = "return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map(r => r.cells[arguments[1]].textContent)"
    return browser.execute_script(script, table, index)


def test_a_table_is_sorted_by_a_click_and_by_a_key(browser, site):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    go(browser, f"{site[0]}/plain/report.html")
    head = browser.find_element(By.CSS_SELECTOR, "#table-icc thead th:nth-child(5)")
    assert (head.text, head.get_attribute("aria-sort")) == ("C", "none")
    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    values = [float(text) for text in column(browser, "#table-icc", 4)]
    assert values == sorted(values)
    head.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    assert head.get_attribute("aria-sort") == "descending"
    assert [float(text) for text in column(browser, "#table-icc", 4)] == sorted(
        values, reverse=True
    )
    other = browser.find_element(By.CSS_SELECTOR, "#table-icc thead th:nth-child(2)")
    other.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "none"
    names = column(browser, "#table-icc", 1)
    assert names == sorted(names)


def test_intervals_sort_by_their_lower_bound_and_dashes_stay_last(browser, site):
    go(browser, f"{site[0]}/plain/report.html")
    browser.execute_script(
        "document.querySelector('#table-icc tbody tr').cells[5].textContent = '–'"
    )
    for _ in range(2):
        browser.execute_script(
            "document.querySelector('#table-icc thead th:nth-child(6) button').click()"
        )
        cells = column(browser, "#table-icc", 5)
        assert cells[-1] == "–"
        lows = [float(text.strip("[").split(",")[0].replace("−", "-")) for text in cells[:-1]]
        assert lows in (sorted(lows), sorted(lows, reverse=True))


def listed(browser):
    """Items of the disagreements that are seen, in their order."""
    return browser.execute_script(
        "return [...document.querySelectorAll('#table-disagreements tbody tr')]"
        ".filter(row => row.offsetParent).map(row => row.cells[0].textContent)"
    )


def typed(browser, words):
    """Words written into the box, key by key; what it says of them."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    box = browser.find_element(By.ID, "words")
    box.send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.BACKSPACE)
    box.send_keys(words)
    return browser.find_element(By.ID, "shown").text


def test_disagreements_are_filtered_by_words_as_they_are_typed(browser, site):
    """The words of a row count, those of its folded texts among them, in any order and case."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    go(browser, f"{site[0]}/texts/report.html")
    every = listed(browser)
    assert len(every) == 200
    item = every[7]
    said = typed(browser, f"{item}. new")
    found = listed(browser)
    assert set(found) == {item}  # "i12." stands in the text of i12 alone
    assert said == f"{len(found)} of 200"
    assert typed(browser, "SLEPT badly") == "200 of 200"
    assert (typed(browser, "nobody wrote this"), listed(browser)) == ("0 of 200", [])
    assert (typed(browser, " "), listed(browser)) == ("", every)
    few = [name for name in every if name.startswith("i1")]
    typed(browser, "i1")
    assert sorted(set(few)) == sorted({name for name in listed(browser) if name.startswith("i1")})
    head = browser.find_element(By.CSS_SELECTOR, "#table-disagreements th:nth-child(2) button")
    before = sorted(listed(browser))
    head.send_keys(Keys.ENTER)
    assert sorted(listed(browser)) == before  # sorting shows no row that the words hide
    assert typed(browser, "") == ""
    assert sorted(listed(browser)) == sorted(every)


def test_on_paper_there_is_no_box_and_commands_are_code(browser, site):
    go(browser, f"{site[0]}/panel/report.html")
    code = "return [...document.querySelectorAll('.todo code')].map(one => one.textContent)"
    assert "voirdire calibrate" in browser.execute_script(code)
    ticks = (
        "return [...document.querySelectorAll('.todo')].some(one => one.textContent.includes('`'))"
    )
    assert not browser.execute_script(ticks)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not browser.find_element("id", "words").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_without_scripts_no_box_is_offered_that_would_do_nothing(browser, site):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        go(browser, f"{site[0]}/texts/report.html")
        shown = browser.find_element("id", "words").is_displayed()
        rows = browser.find_elements("css selector", "#table-disagreements tbody tr")
        assert (shown, len(rows)) == (False, 200)
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_the_contents_lead_to_their_sections(browser, site):
    from selenium.webdriver.common.by import By

    go(browser, f"{site[0]}/plain/report.html")
    links = browser.find_elements(By.CSS_SELECTOR, "nav.toc a")
    assert [link.text for link in links] == [
        "The data", "Scope", "Judges", "judge-north", "judge-south", "Evidence",
        "Disagreements", "Methods",
    ]  # fmt: skip
    for link in links[1:]:
        browser.execute_script("arguments[0].click()", link)
        target = link.get_attribute("href").split("#")[1]
        top = browser.execute_script(
            "return document.getElementById(arguments[0]).getBoundingClientRect().top", target
        )
        at_end = browser.execute_script(
            "return innerHeight + scrollY >= document.body.scrollHeight - 2"
        )
        assert abs(top) < 80 or at_end
        assert browser.current_url.endswith(f"#{target}")


def test_the_first_key_offers_the_way_past_the_contents(browser, site):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    go(browser, f"{site[0]}/plain/report.html")
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    focused = browser.switch_to.active_element
    assert focused.text == "Skip to the content"
    focused.send_keys(Keys.ENTER)
    assert browser.switch_to.active_element.get_attribute("id") == "content"


def test_hostile_text_is_shown_and_does_nothing(browser, site):
    base, asked = site
    asked.clear()
    go(browser, f"{base}/hostile/report.html")
    assert browser.execute_script("return window.hacked") is None
    text = browser.execute_script("return document.body.innerText")
    assert "<script>window.hacked = 1</script>" in text
    assert "<img src=x onerror='window.hacked = 2'>" in text
    assert browser.execute_script("return document.images.length") == 0
    assert [path for path in asked if path != "/favicon.ico"] == ["/hostile/report.html"]
    loaded = browser.execute_script(
        "return performance.getEntriesByType('resource').map(e => e.name)"
    )
    assert loaded == []


def test_injected_code_is_refused_by_the_policy(browser, site):
    """Even markup that got past the escaping could not run or call out."""
    base, asked = site
    go(browser, f"{base}/plain/report.html")
    asked.clear()
    browser.execute_script(
        "document.body.insertAdjacentHTML('beforeend',"
        '\'<img src="/leak.png" onerror="window.hacked = 4"><iframe src="/leak.html"></iframe>\');'
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 5';"
        "document.body.append(s);"
    )
    browser.execute_async_script("setTimeout(arguments[0], 300)")
    assert browser.execute_script("return window.hacked") is None
    assert not [path for path in asked if "leak" in path]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1000, 1600])
@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_no_width_makes_the_page_scroll_sideways(browser, site, name, width, scheme):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    go(browser, f"{site[0]}/{name}/report.html")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    ratio = browser.execute_script(CONTRAST)
    assert ratio >= 4.5, f"{scheme}: contrast {ratio:.2f}"
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["plain", "gated", "panel"])
def test_the_first_screen_holds_the_answer_and_the_grid(browser, site, name, width):
    """The sentences and the whole grid lie within the first 800 pixels, desktop and phone."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False},
    )
    go(browser, f"{site[0]}/{name}/report.html")
    ends = browser.execute_script(
        "return [...document.querySelectorAll('.lead, #grid')]"
        ".map(part => part.getBoundingClientRect().bottom)"
    )
    judges = {"plain": 2, "gated": 1, "panel": 7}[name]
    assert len(ends) == judges + 1
    assert ends == sorted(ends)
    assert ends[-1] <= 800
    # Nothing of the grid lies beyond the window's edge.
    wide = browser.execute_script("return document.getElementById('grid').scrollWidth")
    assert wide <= width
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


# The least contrast (WCAG 2.2) of any text of the page against its ground.
CONTRAST = """
const light = (rgb) => rgb.map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const rgb = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
const ground = light(rgb(getComputedStyle(document.body).backgroundColor));
let least = 21;
for (const part of document.querySelectorAll("main *, header *, nav *, footer *")) {
  if (part.closest("svg") || ![...part.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
  const ink = light(rgb(getComputedStyle(part).color));
  least = Math.min(least, (Math.max(ink, ground) + .05) / (Math.min(ink, ground) + .05));
}
return least;
"""


def test_the_page_prints(browser, site):
    import base64

    go(browser, f"{site[0]}/plain/report.html")
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    data = base64.b64decode(printed["data"])
    assert data[:5] == b"%PDF-"
    assert (
        5
        < data.count(b"/Type /Page\n") + data.count(b"/Type /Page ") + data.count(b"/Type/Page")
        < 40
    )


def test_the_console_is_silent(browser, site):
    browser.get_log("browser")
    go(browser, f"{site[0]}/plain/report.html")
    said = [entry for entry in browser.get_log("browser") if "favicon" not in entry["message"]]
    assert said == []
