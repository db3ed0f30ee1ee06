"""The page in a real browser: two raters, a reload in the middle, keys alone, hostile texts."""

from __future__ import annotations

import json
import threading
import time

import polars as pl
import pytest
from humans_work import DISTORTIONS, HOSTILE, ITEMS, LEVELS, PARTS, author, write_csv, write_study
from test_humans_page import Page
from test_humans_turns import conversations

from voirdire.humans import DATABASE, PageServer, import_answers, make_plan

pytestmark = pytest.mark.browser
KEYS = {"Enter": "\ue007", "Left": "\ue012", "Right": "\ue014", "Tab": "\ue004", "Space": "\ue00d"}


@pytest.fixture
def page(tmp_path):
    made = []

    def start(task):
        plan, _ = make_plan(write_study(tmp_path, task), tmp_path / "work")
        made.append(Page(tmp_path / "work", plan))
        return made[-1]

    yield start
    for one in made:
        one.close()


class Rater:
    """One person at one window."""

    def __init__(self, browser, link):
        browser.switch_to.new_window("tab")
        self.browser, self.window = browser, browser.current_window_handle
        browser.get(link)
        self.wait(lambda: self.script("return document.querySelectorAll('fieldset').length") > 0)

    def script(self, text, *args):
        self.browser.switch_to.window(self.window)
        return self.browser.execute_script(text, *args)

    def wait(self, true, seconds=120):
        until = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < until, self.script("return document.body.innerText")
            time.sleep(0.01)

    def press(self, *keys):
        self.browser.switch_to.window(self.window)
        for key in keys:
            self.browser.switch_to.active_element.send_keys(KEYS.get(key, key))

    def click(self, selector):
        self.browser.switch_to.window(self.window)
        self.browser.find_element("css selector", selector).click()

    def at(self, number):
        self.wait(
            lambda: self.script("return document.getElementById('task').textContent").startswith(
                f"Task {number} of"
            )
        )

    def saved(self):
        self.wait(
            lambda: self.script("return document.getElementById('saved').textContent") == "Saved"
        )

    def texts(self):
        return self.script(
            "return Object.fromEntries([...document.querySelectorAll('article')].map("
            "(a) => [a.children[0].textContent, a.children[1].textContent]))"
        )

    def chosen(self):
        return self.script(
            "return [...document.querySelectorAll('input:checked')].map((i) => i.value)"
        )

    def done(self):
        return self.script("return document.getElementById('done').textContent")

    def visible(self):
        return self.script(
            "return [...document.querySelectorAll('fieldset')].filter((f) => !f.hidden)"
            ".map((f) => f.querySelector('legend').firstChild.textContent)"
        )

    def leave(self):
        self.browser.switch_to.window(self.window)
        errors = [line for line in self.browser.get_log("browser") if line["level"] == "SEVERE"]
        asked = self.script("return performance.getEntriesByType('resource').map((e) => e.name)")
        self.browser.close()
        self.browser.switch_to.window(self.browser.window_handles[0])
        assert errors == []
        assert [name for name in asked if not name.startswith("http://127.0.0.1:")] == []


def preference(shown, key):
    """What a key pressed means for the system that is not the reference."""
    a, b = (author(shown[f"Response {letter}"]) for letter in "AB")
    score = 3 - int(key)
    return (a[0], a[1], score) if b[1] == "reference" else (a[0], b[1], -score)


def test_two_raters_a_reload_in_the_middle_and_a_hostile_text(browser, page, tmp_path):
    served = page("pairwise")
    raters = {name: Rater(browser, served.server.links[name]) for name in ("ann", "ben")}
    expected = {}
    for number in range(8):
        for name, rater in raters.items():
            rater.at(number + 1)
            keys = [
                str((number * shift + len(name) + shift) % 5 + 1)
                for shift in (1, 2, 3 + (name == "ben"))
            ]
            rater.press(*keys)
            for question, key in zip(("Criteria 1", "Criteria 2", "Overall"), keys, strict=True):
                item, system, score = preference(rater.texts(), key)
                expected[name, item, system, question] = score
            rater.wait(lambda rater=rater, number=number: rater.done() == f"{number + 1} of 8 done")
            if name == "ann" and number == 3:
                before = rater.chosen()
                browser.refresh()
                rater.at(5)  # the next open one
                rater.press("Left")
                rater.at(4)
                assert rater.chosen() == before
                rater.press("Right")
                rater.at(5)
            elif number < 7:
                rater.press("Enter")
    shown = set()
    for rater in raters.values():
        assert "Everything is done" in rater.script("return document.body.innerText")
        for number in range(8):
            rater.script("document.activeElement.blur()")
            shown |= set(rater.texts().values())
            assert rater.script("return document.title") == "Mild responses"
            assert (
                rater.script(
                    "return document.querySelectorAll('article script, article img').length"
                )
                == 0
            )
            rater.press("Left")
            rater.at(max(7 - number, 1))
        rater.leave()
    assert HOSTILE in shown
    done = import_answers(served.folder, [], tmp_path / "answers")
    back = {
        (r["rater"], r["item"], r["system_a"], r["attribute"]): r["score"]
        for r in done.tables["preferences"].iter_rows(named=True)
    }
    assert back == expected


def test_a_nested_form_by_keys_and_words(browser, page, tmp_path):
    served = page("nested")
    rater = Rater(browser, served.server.links["ann"])
    rater.at(1)
    assert rater.visible() == ["Situation", "Distortions", "Beliefs"]
    rater.press("Tab")
    rater.press("We met 2 times.")  # digits in a text are text
    rater.saved()
    rater.press("Tab", "1", "2", "3", "4")
    rater.wait(
        lambda: "At most 3" in rater.script("return document.getElementById('saved').textContent")
    )
    assert rater.chosen() == ["Mind reading", "Labeling", "Mental filter"]
    rater.press("1")
    rater.click("fieldset:nth-child(3) label:nth-child(2) input")
    assert rater.visible() == ["Situation", "Distortions", "Beliefs", "Beliefs: Unlovable"]
    rater.click("fieldset:nth-child(5) label input")
    rater.wait(lambda: rater.done() == "1 of 4 done")
    rater.click("fieldset:nth-child(3) label:nth-child(2) input")
    assert rater.visible() == ["Situation", "Distortions", "Beliefs"]
    rater.click("fieldset:nth-child(3) label:nth-child(1) input")
    rater.click("fieldset:nth-child(2) label:nth-child(5) input")  # no distortion, alone
    assert rater.chosen() == ["No distortion", "Helpless", "I am alone"]
    rater.wait(lambda: rater.done() == "0 of 4 done")
    item = next(i for i, text in ITEMS.items() if text == rater.texts()["Text"])
    rater.saved()
    rater.leave()
    tables = import_answers(served.folder, [], tmp_path / "answers").tables
    assert tables["texts"].filter(rater="ann", item=item)["text"].item() == "We met 2 times."
    own = tables["ratings"].filter(rater="ann", item=item)
    scores = dict(own.select("attribute", "score").rows())
    assert scores["Labeling"] == 0
    assert scores["Helpless"] == 1
    assert scores["I am alone"] == 0
    assert scores["I am stuck"] is None


def test_labels_by_keys_alone_up_to_three_and_none_stands_alone(browser, page, tmp_path):
    served = page("labels")
    rater = Rater(browser, served.server.links["ann"])
    expected = {}
    for number, keys in enumerate(("5", "321", "4", "1"), start=1):
        rater.at(number)
        rater.press(*keys)
        named = {DISTORTIONS[int(key) - 1] for key in keys if key != "5"}
        assert set(rater.chosen()) == (named or {"No distortion"})
        rater.saved()
        if number == 2:
            rater.press("4")  # a fourth
            rater.wait(
                lambda: (
                    "At most 3"
                    in rater.script("return document.getElementById('saved').textContent")
                )
            )
            assert set(rater.chosen()) == named
        elif number == 3:
            rater.press("5")
            assert rater.chosen() == ["No distortion"]
            rater.press("2")
            assert rater.chosen() == ["Labeling"]
            named = {"Labeling"}
        elif number == 4:
            rater.press("1")  # taken back: nothing chosen is not "No distortion"
            assert rater.chosen() == []
            named = None
        rater.wait(lambda n=number, k=named is None: rater.done() == f"{n - k} of 4 done")
        item = next(i for i, text in ITEMS.items() if text == rater.texts()["Text"])
        expected[item] = named
        rater.press("Right")
    rater.saved()
    rater.leave()
    own = import_answers(served.folder, [], tmp_path / "answers").tables["ratings"]
    own = own.filter(rater="ann")
    for item, named in expected.items():
        scores = dict(own.filter(item=item).select("attribute", "score").rows())
        assert scores == {
            label: None if named is None else float(label in named) for label in DISTORTIONS
        }


def test_a_choice_by_key_cleared_and_made_again(browser, page, tmp_path):
    served = page("choice")
    rater = Rater(browser, served.server.links["ben"])
    expected = {}
    for number in range(1, 5):
        rater.at(number)
        texts = rater.texts()
        letters = [line[0] for line in texts["Options"].splitlines()]
        rater.press("9")  # no such option
        assert rater.chosen() == []
        rater.press("1", str(len(letters)))
        assert rater.chosen() == [letters[-1]]
        item = next(i for i, text in ITEMS.items() if text == texts["Text"])
        expected[item] = letters[-1]
        rater.wait(lambda number=number: rater.done() == f"{number} of 4 done")
        if number == 4:
            rater.click("fieldset button")  # clear
            rater.wait(lambda: rater.done() == "3 of 4 done")
            assert rater.chosen() == []
            expected[item] = None
        rater.saved()
        rater.press("Enter" if number < 4 else "Left")
    rater.leave()
    tables = import_answers(served.folder, [], tmp_path / "answers").tables
    own = tables["ratings"].filter(rater="ben")
    chosen = dict(own.filter(pl.col("score") == 1).select("item", "attribute").rows())
    assert {item: chosen.get(item) for item in expected} == expected
    blank = tables["ratings"].filter(pl.col("score").is_null())
    assert blank.filter(rater="ann")["item"].n_unique() == 4


def test_a_key_held_down_answers_one_question_and_the_skip_link_keeps_the_token(browser, page):
    served = page("pairwise")
    rater = Rater(browser, served.server.links["ann"])
    rater.script("document.getElementById('skip').click()")
    assert rater.script("return document.activeElement.id") == "task"
    browser.refresh()
    rater.at(1)
    rater.press("1")
    rater.saved()
    rater.script(
        "for (const key of ['1', '1', '2']) document.activeElement.dispatchEvent("
        "new KeyboardEvent('keydown', {key, repeat: true, bubbles: true}))"
    )
    assert rater.chosen() == [LEVELS[2]]
    rater.script(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown',"
        "{key: 'ArrowRight', shiftKey: true, bubbles: true}))"
    )
    rater.press("2")
    assert rater.chosen() == [LEVELS[2], LEVELS[1]]
    rater.at(1)
    rater.saved()
    rater.leave()


def test_a_second_tab_is_told_and_the_first_is_not(page, browser):
    served = page("pairwise")
    told = "return !document.getElementById('elsewhere').hidden"
    first = Rater(browser, served.server.links["ann"])
    assert not first.script(told)
    first.browser.refresh()  # a reload is no second tab
    first.at(1)
    assert not first.script(told)
    second = Rater(browser, served.server.links["ann"])
    second.wait(lambda: second.script(told))
    assert "another tab" in second.script("return document.getElementById('elsewhere').textContent")
    other = Rater(browser, served.server.links["ben"])
    assert not other.script(told)
    first.script("return 0")
    first.browser.close()
    second.wait(lambda: not second.script(told))


def test_words_typed_a_moment_ago_survive_a_reload(browser, page):
    served = page("nested")
    rater = Rater(browser, served.server.links["ann"])
    rater.at(1)
    rater.script("document.querySelector('textarea').focus()")
    rater.press("It rained.")
    rater.script("dispatchEvent(new Event('beforeunload', {cancelable: true}))")
    rater.saved()
    browser.refresh()
    rater.at(1)
    words = "return document.querySelector('textarea').value"
    assert rater.script(words) == "It rained."
    rater.leave()


def test_answers_wait_for_a_server_that_is_gone(browser, page, tmp_path):
    served = page("pointwise")
    rater = Rater(browser, served.server.links["ann"])
    rater.press("4")
    rater.saved()
    port, folder, plan = served.port, served.folder, served.plan
    served.close()
    rater.press("2")
    rater.wait(
        lambda: (
            "Not saved yet" in rater.script("return document.getElementById('saved').textContent")
        )
    )
    served.server = PageServer(plan, folder / DATABASE, port=port)
    served.thread = threading.Thread(target=served.server.run)
    served.thread.start()
    rater.saved()
    assert rater.done() == "1 of 12 done"
    browser.switch_to.window(rater.window)
    browser.get_log("browser")  # that the server was gone stands there, as it should
    rater.leave()
    scores = import_answers(folder, [], tmp_path / "answers").tables["ratings"]["score"]
    assert scores.drop_nulls().to_list() == [4.0, 2.0]


def test_without_a_token_nothing_is_shown(browser, page):
    served = page("pointwise")
    browser.get("about:blank")
    browser.get(f"{served.server.address}/#wrong")
    until = time.monotonic() + 120
    while "whole address" not in browser.execute_script("return document.body.innerText"):
        assert time.monotonic() < until
    assert browser.execute_script("return document.querySelectorAll('fieldset').length") == 0
    browser.get_log("browser")


CONTRAST = """
const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
const light = (c) => rgb(c).slice(0, 3).map((v) => v / 255)
  .map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const ground = (node) => {
  for (let n = node; n; n = n.parentElement) {
    const c = rgb(getComputedStyle(n).backgroundColor);
    if (c.length < 4 || c[3] > 0) return getComputedStyle(n).backgroundColor;
  }
};
const found = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const node = walk.currentNode.parentElement;
  if (!walk.currentNode.textContent.trim() || !node.getClientRects().length) continue;
  if (node.closest(":disabled")) continue;
  const [a, b] = [light(getComputedStyle(node).color), light(ground(node))];
  found.push([(Math.max(a, b) + .05) / (Math.min(a, b) + .05), node.textContent]);
}
return found.sort((x, y) => x[0] - y[0])[0];
"""


@pytest.mark.parametrize("task", list(PARTS))
def test_it_can_be_read_narrow_and_wide_light_and_dark(browser, page, task):
    served = page(task)
    rater = Rater(browser, served.server.links["ann"])
    rater.script(
        "document.getElementById('help').open = true; document.querySelector('input').click()"
    )
    rater.saved()
    for width in (400, 1200):
        for scheme in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            assert rater.script("return document.documentElement.scrollWidth") <= width
            ratio, text = rater.script(CONTRAST)
            assert ratio >= 4.5, (width, scheme, text)  # WCAG 2.2, 1.4.3
    named = rater.script(
        "return [...document.querySelectorAll('input, textarea, button, progress')].filter("
        "(n) => !n.labels?.length && !n.ariaLabel && !n.getAttribute('aria-labelledby')"
        " && !n.textContent.trim()).map((n) => n.outerHTML)"
    )
    assert named == []
    assert rater.script(
        "return [...document.querySelectorAll('fieldset')].every((f) => f.querySelector('legend'))"
    )
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    rater.leave()


def test_a_thousand_tasks_do_not_slow_it(browser, tmp_path):
    study = write_study(tmp_path, "pointwise")
    rows = [
        {"id": f"e{at}", "text": "A calm walk. " * 80, "category": "", "options": []}
        for at in range(1000)
    ]
    (tmp_path / "items.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    write_csv(
        tmp_path / "responses.csv",
        [
            ["item", "system", "text"],
            *([f"e{at}", "one", f"Tea {at}. " * 100] for at in range(1000)),
        ],
    )
    plan, _ = make_plan(study, tmp_path / "work")
    served = Page(tmp_path / "work", plan)
    try:
        start = time.perf_counter()
        rater = Rater(browser, served.server.links["ann"])
        opened = time.perf_counter() - start
        times = rater.script(WALK_START) or rater_times(rater, 300)
        assert opened < 30, f"{opened:.2f} s"  # a busy machine is ten times slower
        first, last = sorted(times[:50])[25], sorted(times[-50:])[25]
        assert last < 5 * first + 100, f"{first:.1f} ms a task at first, {last:.1f} at last"
        nodes = rater.script("return document.querySelectorAll('*').length")
        assert nodes < 200
        rater.leave()
    finally:
        served.close()
    done = import_answers(tmp_path / "work", [], tmp_path / "answers")
    assert (
        done.tables["ratings"].filter(pl.col("rater") == "ann")["score"].drop_nulls().len() == 600
    )


WALK_START = """
window.times = [];
const key = (name) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
const head = document.getElementById("task");
let start = performance.now();
new MutationObserver(() => {
  times.push(performance.now() - start);
  if (times.length >= 300) return;
  setTimeout(() => { key("4"); key("3"); start = performance.now(); key("ArrowRight"); });
}).observe(head, { childList: true });
key("4"); key("3"); start = performance.now(); key("ArrowRight");
"""


def rater_times(rater, count):
    """Milliseconds from the key to the next task, answered on both questions each."""
    rater.wait(lambda: rater.script("return times.length") >= count, 60)
    rater.wait(lambda: rater.done() == f"{count} of 1000 done", 60)
    return rater.script("return times")


def test_first_failures_on_a_phone(browser, tmp_path):
    """A transcript with a word wider than the screen, and a line that imitates a turn."""
    plan, _ = make_plan(conversations(tmp_path, "first"), tmp_path / "work")
    served = Page(tmp_path / "work", plan)
    rater = Rater(browser, served.server.links["ann"])
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    for number in range(4):
        rater.at(number + 1)
        assert rater.script("return document.documentElement.scrollWidth") <= 390
        turns = 8 if "[8]" in rater.texts()["Response"] else 6
        options = "return [...document.querySelectorAll('form input')].map((i) => i.value)"
        assert rater.script(options) == ["never", *map(str, range(1, turns + 1))]
        assert "\n    [9] assistant: planted" in rater.texts()["Response"]
        assert rater.script("return document.querySelectorAll('article script').length") == 0
        rater.click("input[value='4']" if number else "input[value='never']")
        rater.wait(lambda number=number: rater.done() == f"{number + 1} of 4 done")
        rater.saved()
        if number < 3:
            rater.click("#next")
    rater.leave()
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    served.close()
    read = import_answers(tmp_path / "work", [tmp_path / "work" / DATABASE], tmp_path / "out")
    said = read.tables["ratings"].drop_nulls("score")["score"].to_list()
    assert sorted(said) == [0, 4, 4, 4]
