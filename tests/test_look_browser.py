"""`voirdire look` in a real browser: a newcomer's path, keys alone, a phone, hostile texts."""

from __future__ import annotations

import polars as pl
import pytest
from chromium import leading
from looking_work import BIDI, IMAGE, MARKUP, Site, material, write_ratings
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from voirdire import examine
from voirdire.looking import write_static
from voirdire.tables.hand_labels import hand_labels_path, read_hand_labels

pytestmark = pytest.mark.browser
SIZES = {"desk": (1280, 900), "phone": (390, 844)}


@pytest.fixture
def opened(browser, tmp_path):
    """A site over invented ratings with texts, open in the browser."""
    path = write_ratings(tmp_path / "ratings.csv", note=lambda item: f"I slept badly, {item}.")
    site = Site(material(path, with_text=True))
    browser.get_log("browser")
    browser.get(site.server.link)
    yield site, path
    site.close()


def resize(browser, size):
    """The width of the page itself, which a window of that size does not give below 500."""
    width, height = SIZES[size]
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"},
    )


def fits(browser):
    return browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def quiet(browser):
    """No error of script or policy was logged."""
    return [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def press(browser, *keys):
    for key in keys:
        browser.switch_to.active_element.send_keys(key)


def press_on(browser, key):
    """A key that leads to another page."""
    with leading(browser):
        press(browser, key)


def follow(browser, selector):
    """A click that leads to another page."""
    with leading(browser):
        browser.find_element(By.CSS_SELECTOR, selector).click()


@pytest.mark.parametrize("size", SIZES)
def test_a_newcomer_finds_the_worst_cell_corrects_a_label_and_exports(browser, opened, size):
    site, source = opened
    resize(browser, size)
    assert site.token not in browser.current_url
    assert fits(browser)
    follow(browser, "#worst")
    assert fits(browser)
    follow(browser, '#matrix a[aria-label^="humans 1, judge 5"]')
    assert fits(browser)
    follow(browser, "#rows tbody a")
    assert fits(browser)
    item = browser.find_element(By.TAG_NAME, "h1").text
    assert "I slept badly" in browser.find_element(By.CSS_SELECTOR, "pre.text").text
    browser.find_element(By.CSS_SELECTOR, '.levels input[value="4"]').click()
    browser.find_element(By.NAME, "note").send_keys("the answer is kind")
    follow(browser, 'button[value="keep"]')
    assert "score 4 as human, by ann" in browser.find_element(By.ID, "by-hand").text
    assert fits(browser)
    follow(browser, '[data-key="up"]')
    assert browser.find_element(By.CSS_SELECTOR, "#rows .hand").text == "labelled by hand"
    export = browser.find_element(By.ID, "export").get_attribute("href")
    text = site.ask(export.removeprefix(site.server.address))[2]
    assert text.startswith("judge,attribute,item,system,")
    kept = read_hand_labels(hand_labels_path(source)).row(0, named=True)
    assert (kept["score"], kept["note"]) == (4.0, "the answer is kind")
    assert item.startswith(f"Item {kept['item']}, answered by {kept['system']}")
    found = examine(source, reference=["human"], resamples=0)
    assert "labels_by_hand" in {one.kind for one in found.findings}
    assert quiet(browser)


def test_keys_alone_lead_from_the_grid_to_a_kept_label_and_back(browser, opened):
    _, source = opened
    resize(browser, "desk")
    press(browser, "j")
    press_on(browser, Keys.ENTER)  # the cell of the grid
    press(browser, "j")
    press_on(browser, Keys.ENTER)  # all responses
    press(browser, "j", "j", "k")
    press_on(browser, Keys.ENTER)
    first = browser.current_url
    press_on(browser, "n")
    assert browser.current_url != first
    press_on(browser, "p")
    assert browser.current_url == first
    press(browser, "3")
    press_on(browser, Keys.ENTER)  # sends the form from the level that was chosen
    assert read_hand_labels(hand_labels_path(source))["score"].to_list() == [3.0]
    press_on(browser, "u")
    press(browser, "/")
    assert browser.switch_to.active_element.get_attribute("name") == "q"
    press(browser, "i39")
    press_on(browser, Keys.ENTER)
    assert "q=i39" in browser.current_url
    rows = browser.find_elements(By.CSS_SELECTOR, "#rows tbody a")
    assert {row.text for row in rows} == {"i39"}
    assert quiet(browser)


def test_filters_stand_in_the_address_and_a_reload_keeps_them(browser, opened):
    resize(browser, "desk")
    site, _ = opened
    browser.get(f"{site.server.address}/list?sort=item&system=new")
    browser.find_element(By.CSS_SELECTOR, 'select[name="human"] option[value="4"]').click()
    follow(browser, "#filters button")
    assert {"system=new", "human=4", "sort=item"} <= set(
        browser.current_url.partition("?")[2].split("&")
    )
    before = browser.find_element(By.TAG_NAME, "h1").text
    browser.refresh()
    assert browser.find_element(By.TAG_NAME, "h1").text == before
    head = browser.find_element(By.CSS_SELECTOR, "#rows th[aria-sort]")
    assert head.get_attribute("aria-sort") == "ascending"


def test_hostile_names_and_texts_do_nothing(browser, tmp_path):
    long = "W" * 1_000_000
    source = write_ratings(
        tmp_path / "ratings.csv",
        30,
        judge=f"judge {MARKUP}",
        systems=(IMAGE, BIDI),
        note=lambda item: f"{IMAGE} {item} {long if item == 'i1' else ''}",
    )
    made = material(source, with_text=True)
    site = Site(made)
    browser.get_log("browser")
    resize(browser, "phone")
    browser.get(site.server.link)
    for path in ("/", "/matrix", "/list", "/response?row=2", "/response?row=3"):
        browser.get(site.server.address + path)
        assert browser.execute_script("return window.hacked") is None
        assert browser.execute_script("return document.querySelectorAll('img').length") == 0
        assert fits(browser), path
    assert quiet(browser)
    site.close()
    write_static(made, "ratings", tmp_path / "out.html", most=60)
    browser.get((tmp_path / "out.html").as_uri())
    assert browser.execute_script("return window.hacked") is None
    assert fits(browser)
    browser.find_element(By.ID, "words").send_keys("i7")
    rows = browser.find_elements(By.CSS_SELECTOR, ".rows tbody tr:first-child")
    shown = [row for row in rows if row.is_displayed()]
    assert 0 < len(shown) < 10
    assert quiet(browser)


def test_a_phone_shows_the_sentence_and_the_ten_units_first_and_judges_are_short(browser, opened):
    site, _ = opened
    resize(browser, "phone")
    browser.get(site.server.link)
    places = browser.execute_script(
        "const at = (all) => [...document.querySelectorAll(all)].map(e => e.getBoundingClientRect());"
        "return {answer: at('.answer').map(r => r.bottom), units: at('#units tbody tr').map("
        "r => r.bottom), judges: at('#grid tbody tr').map(r => r.height)}"
    )
    assert places["answer"]
    assert len(places["units"]) == 10
    assert max(places["answer"]) < min(places["units"])
    assert max(places["units"]) <= SIZES["phone"][1]
    assert max(places["judges"]) < 150
    # What is a sign for the eye is a name for the ear, and stands above the grid in words.
    use = browser.find_element(By.CSS_SELECTOR, "#grid .uses a")
    assert "Rank systems" in use.get_property("textContent")
    assert "in this order: Rank systems" in browser.find_element(By.TAG_NAME, "main").text
    resize(browser, "desk")
    assert "in this order" not in browser.find_element(By.TAG_NAME, "main").text


def test_every_control_has_a_name_and_every_page_a_language(browser, opened):
    site, _ = opened
    resize(browser, "desk")
    nameless = """return [...document.querySelectorAll('input:not([type=hidden]), select, button, a')]
      .filter((one) => !(one.labels && one.labels.length) && !one.textContent.trim()
        && !one.getAttribute('aria-label')).map((one) => one.outerHTML)"""
    for path in ("/", "/matrix", "/list", "/response?row=2"):
        browser.get(site.server.address + path)
        assert browser.execute_script(nameless) == []
        assert browser.execute_script("return document.documentElement.lang") == "en"
        assert len(browser.find_elements(By.TAG_NAME, "h1")) == 1
        ids = browser.execute_script("return [...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_the_ground_in_light_and_dark(browser, opened, scheme):
    """WCAG 2.1, 1.4.3: a ratio of 4.5 for every colour of text on its ground."""
    site, _ = opened
    feature = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
    colours = """const seen = []; for (const one of document.querySelectorAll('body *')) {
      if (![...one.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
      let ground = one; while (ground && getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
      if (/^rgb\\(/.test(getComputedStyle(ground || document.body).backgroundColor))
        seen.push([getComputedStyle(one).color, getComputedStyle(ground).backgroundColor]); }
    return seen;"""
    checked = 0
    for path in ("/", "/matrix", "/list", "/response?row=2"):
        browser.get(site.server.address + path)
        for ink, ground in browser.execute_script(colours):
            assert contrast(ink, ground) >= 4.5, (path, ink, ground)
            checked += 1
    assert checked > 50
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def contrast(ink, ground):
    light, dark = sorted(map(luminance, (ink, ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    parts = [float(part) / 255 for part in colour.strip("rgba()").split(",")[:3]]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_exported_rows_are_those_that_are_listed(browser, opened):
    site, _ = opened
    resize(browser, "desk")
    browser.get(f"{site.server.address}/list?system=new&sort=difference")
    count = int(browser.find_element(By.TAG_NAME, "h1").text.split()[0])
    export = browser.find_element(By.ID, "export").get_attribute("href")
    rows = pl.read_csv(site.ask(export.removeprefix(site.server.address))[2].encode())
    assert rows.height == count
