"""The first 800 pixels of reports, as pictures: `python docs/pictures/screens.py` draws them anew.

Five cases, simulated from one seed: one judge, seven judges, 28 pairs of judge and attribute,
labels, and preferences; each 1280 and 390 pixels wide. It needs selenium and a Chrome or Chromium.
"""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from selenium.webdriver import Chrome, ChromeOptions

import voirdire
from voirdire.examining.simulate import DEMO, simulate_panel, tidy_ratings
from voirdire.report import write_outputs

PICTURES = Path(__file__).parent
WIDTHS, HIGH = (1280, 390), 800
SEED = 7
HUMANS = ["human-1", "human-2", "human-3"]


def graded(judges: tuple[str, ...], attributes: tuple[str, ...]) -> voirdire.Examination:
    """Judges of known kinds on a scale, on so many attributes."""
    panel = [
        tidy_ratings(simulate_panel(10, 120, SEED + at, kinds=judges), attribute)
        for at, attribute in enumerate(attributes)
    ]
    return voirdire.examine(pl.concat(panel), reference=HUMANS, gate=4, resamples=0)


def worded(folder: Path) -> voirdire.Examination:
    """Labels of support tickets by two people and a judge that errs on one in eight."""
    chance = np.random.default_rng(SEED)
    words = np.array(["refund", "delivery", "other"])
    truth = chance.choice(3, 400, p=[0.3, 0.3, 0.4])

    def said(error: float) -> np.ndarray:
        other = (truth + chance.integers(1, 3, 400)) % 3
        return words[np.where(chance.random(400) < error, other, truth)]

    columns = {"ann": said(0.06), "ben": said(0.06), "gpt": said(0.12)}
    path = folder / "tickets.csv"
    pl.DataFrame({"ticket": [f"t{k}" for k in range(400)], **columns}).write_csv(path)
    return voirdire.examine(
        path,
        reference=["ann", "ben"],
        read=voirdire.ReadOptions(judge=("gpt",), item="ticket", kind="label"),
        resamples=0,
    )


def compared(folder: Path) -> voirdire.Examination:
    """Which of two answers is better, by two people and a judge that sides with them mostly."""
    chance = np.random.default_rng(SEED)
    rows = []
    for k in range(300):
        a, b = chance.choice(4, 2, replace=False)
        lead = 0.5 * (b - a) + chance.normal(0, 1)
        for rater, noise in (("ann", 0.4), ("ben", 0.4), ("gpt", 0.6)):
            winner = "a" if lead + chance.normal(0, noise) > 0 else "b"
            rows.append((f"q{k}", f"v{a}", f"v{b}", rater, winner))
    path = folder / "pairs.csv"
    names = ["item", "system_a", "system_b", "rater", "winner"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(path)
    read = voirdire.ReadOptions(first="a")
    return voirdire.examine(path, reference=["ann", "ben"], read=read, resamples=0)


def main() -> None:
    """Draw every picture."""
    options = ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"):
        options.add_argument(flag)
    four = ("good", "lenient", "noisy", "blind")
    seven = ("Guidance", "Empathy", "Safety", "Clarity", "Depth", "Warmth", "Tone")
    with tempfile.TemporaryDirectory() as place, Chrome(options=options) as browser:
        folder = Path(place)
        for name, found in (
            ("one", graded(("lenient",), ("Helpfulness",))),
            ("seven", graded(DEMO, ("Helpfulness",))),
            ("pairs", graded(four, seven)),
            ("labels", worded(folder)),
            ("preferences", compared(folder)),
        ):
            write_outputs(found, folder / name, ["html"], figures=False)
            for width in WIDTHS:
                size = {"width": width, "height": HIGH, "deviceScaleFactor": 1, "mobile": False}
                browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
                browser.get((folder / name / "report.html").as_uri())
                # By the protocol: on a busy machine the driver's own call may time out.
                made = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
                picture = PICTURES / f"screen-{name}-{width}.png"
                picture.write_bytes(base64.b64decode(made["data"]))


if __name__ == "__main__":
    main()
