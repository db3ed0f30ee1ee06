"""The browser that pages are tested in."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

import pytest

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-prefers-reduced-motion",  # no smooth scrolling while a test clicks
)


@contextmanager
def leading(browser):
    """What is done inside leads to another page: wait until that stands.

    The driver waits for a navigation only if it has begun when the click ends, which on a busy
    machine it may not have: the next line would read the page that is left.
    """
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.support.ui import WebDriverWait

    browser.execute_script("window.pageThatIsLeft = true")
    yield
    there = "return !window.pageThatIsLeft && document.readyState === 'complete'"
    # A script asked for between two pages ends in an error.
    WebDriverWait(browser, 120, ignored_exceptions=[WebDriverException]).until(
        lambda one: one.execute_script(there)
    )


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A window of chromium, its console kept; skipped, saying so, where there is none."""
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("no chromium and chromedriver on this machine")
    options = selenium.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    window = selenium.Chrome(options=options, service=Service(driver))
    yield window
    window.quit()
