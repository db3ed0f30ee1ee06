"""Judges with planted biases, as arrays of scores and as a model that the runner asks."""

from __future__ import annotations

import random
import re

import numpy as np
from scipy.special import stdtr

from voirdire._manager import installed
from voirdire.examining.probing.effects import probe_effect, with_readings
from voirdire.examining.probing.paired import PairedRuns
from voirdire.probes import ResponseProbe
from voirdire.protocols import costs_nothing
from voirdire.schema import Reply, Usage
from voirdire.testing import load_plugins

#: Probes of a simulated suite, one of which may have an effect.
PROBES = 14
MARGIN = 0.2


def scores(rng, truth, effect, runs=2):
    """(K, N) scores: the truth plus an effect, re-asking noise of one in six, whole points."""
    x = truth + effect
    whole = np.floor(x + rng.random((runs, len(truth))))
    noise = (rng.random(whole.shape) < 0.16) * rng.choice([-1, 1], whole.shape)
    return np.clip(whole + noise, 1, 5)


def suite(seed, *, effect=0.0, items=200):
    """Effects of a suite on one judge; its first probe has the effect, the others have none."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, 5, items).astype(float)
    key, groups = np.arange(items), np.arange(items).astype(str)
    plain, again = scores(rng, truth, 0.0), scores(rng, truth, 0.0)
    identity = PairedRuns(plain, again, key, groups)
    found = []
    for k in range(PROBES):
        probe = ResponseProbe(f"p{k}", lambda _, response: response.text)
        after = scores(rng, truth, effect if k == 0 else 0.0)
        pair = PairedRuns(plain, after, key, groups)
        found.append(probe_effect(probe, "judge", "Calm", pair, identity, MARGIN))
    return with_readings(found)


def power(*, effect, runs, items=200):
    """Share of suites in which the planted effect is shown."""
    return np.mean([suite(s, effect=effect, items=items)[0].p_holm <= 0.05 for s in range(runs)])


def paired_p(difference):
    """Two-sided p of (..., N) paired differences by the t test: what `suite` does, for many."""
    n = difference.shape[-1]
    error = difference.std(axis=-1, ddof=1) / np.sqrt(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(difference.mean(axis=-1)) / error
    return 2 * stdtr(n - 1, -np.where(np.isnan(t), 0.0, t))


def clean_suites(seeds, *, items=200):
    """Whether each of many clean suites shows any effect: Holm's first step over its probes."""
    shown = []
    for seed in seeds:
        rng = np.random.default_rng(9000 + seed)
        truth = rng.integers(2, 5, items).astype(float)
        before = np.concatenate([scores(rng, truth, 0.0), scores(rng, truth, 0.0)]).mean(axis=0)
        after = np.stack([scores(rng, truth, 0.0).mean(axis=0) for _ in range(PROBES)])
        shown.append(paired_p(after - before).min() * PROBES <= 0.05)
    return np.array(shown)


class Planted:
    """A model that reads the first digit of a text as its quality, and has biases of its own.

    `per_100_words`, `bullets` and `bold` are points; `cut` is what it takes off a text without its
    last sentence ("Sleep well.").
    """

    def __init__(self, model_name, *, per_100_words=0.0, bullets=0.0, prompt=0.0, cut=0.0):
        self.name, self.rng = model_name, random.Random(model_name)
        self.per_100_words, self.bullets, self.prompt, self.cut = (
            per_100_words,
            bullets,
            prompt,
            cut,
        )

    async def complete(self, request):
        text = request.messages[-1].content
        score = float(re.search(r"[1-5]", text)[0])
        score += self.per_100_words * (len(text.split()) - 20) / 100
        score += self.bullets * text.startswith("- ")
        score += self.prompt * any(m.content.startswith("Please read") for m in request.messages)
        score -= self.cut * ("Sleep well" not in text.replace("*", ""))
        score += 0.0 if self.rng.random() > 0.1 else self.rng.choice([-1, 1])
        whole = int(score + self.rng.random())
        return Reply(str(min(max(whole, 1), 5)), usage=Usage(10, 1), model=self.name)


class Placed:
    """A model that compares two digits.

    It gives the first place `first` levels and a list of bullets `bullets`, and takes one off a
    text that ends before its last sentence ("Sleep well.") where it `reads` to the end.
    """

    def __init__(self, model_name, *, first=0.0, bullets=0.0, reads=False):
        self.name, self.first, self.bullets, self.reads = model_name, first, bullets, reads

    async def complete(self, request):
        said = re.findall(
            r"(- )?Level ([1-5])(.*?)(?=(?:- )?Level|\Z)", request.messages[-1].content, re.DOTALL
        )
        (dash, one, text), (other_dash, two, other_text) = said[:2]
        level = ((one > two) - (one < two)) + int(self.first)
        level += int(self.bullets) * (bool(dash) - bool(other_dash))
        level -= self.reads * (("Sleep well" not in text) - ("Sleep well" not in other_text))
        said = {2: "A>>B", 1: "A>B", 0: "A=B", -1: "B>A", -2: "B>>A"}[max(-2, min(2, level))]
        return Reply(f'{{"Calm": "{said}"}}', usage=Usage(10, 1), model=self.name)


class Naming:
    """A model that names the labels that a text names, with noise in one answer of ten.

    It adds *grave* where experts are mentioned (`experts`), and names nothing else where it is
    asked to read carefully (`prompt`).
    """

    def __init__(self, model_name, *, experts=False, prompt=False):
        self.name, self.rng = model_name, random.Random(model_name)
        self.experts, self.prompt = experts, prompt

    async def complete(self, request):
        text = request.messages[-1].content
        named = [label for label in ("calm", "tense") if label in text.casefold()]
        named += ["grave"] * (self.experts and "experts" in text)
        if self.prompt and request.messages[0].content.startswith("Please read"):
            named = ["calm"]
        if self.rng.random() < 0.1:
            named = ["tense"]
        return Reply(", ".join(named), usage=Usage(10, 2), model=self.name)


@costs_nothing
def naming(model_name, **options):
    """The factory of `Naming`."""
    return Naming(model_name, **options)


@costs_nothing
def placed(model_name, **options):
    """The factory of `Placed`."""
    return Placed(model_name, **options)


@costs_nothing
def planted(model_name, **options):
    """The factory of `Planted`."""
    return Planted(model_name, **options)


def plugins():
    """The built-in probes and judges, with the model above and the judge that reads a digit."""
    found = load_plugins(installed(), only="")
    found.add("model", "tests", "planted", "probe_simulation:planted")
    found.add("model", "tests", "placed", "probe_simulation:placed")
    found.add("model", "tests", "naming", "probe_simulation:naming")
    found.add("judge", "tests", "digit", "scripted:Digit")
    return found
