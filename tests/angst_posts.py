"""Invented, mild posts with known labels, and a model that answers about them on the wire.

Each post is about a situation and says how its author feels. The model reads feelings rightly only
if an example about the same situation stands in its prompt, and else in about two posts of three.
"""

from __future__ import annotations

import json
import random
import re
from hashlib import blake2b

import polars as pl

SITUATIONS = (
    "piano lessons", "garden fence", "bicycle repair", "cooking course", "library job",
    "football club", "train commute", "choir rehearsal", "night shift", "chess evenings",
    "driving test", "flat share", "dance class", "sewing machine", "thesis chapter",
    "swimming pool", "market stall", "school play", "camera club", "hiking group",
    "bakery counter", "language exam", "puppy training", "tax form", "moving boxes",
    "violin teacher", "allotment shed", "office kitchen", "rowing boat", "evening college",
)  # fmt: skip
LOW = (
    "Nothing about it has been fun for weeks.",
    "I feel empty and slow whenever it comes up.",
    "I keep staying in bed instead and feel low.",
)
TENSE = (
    "My heart races the evening before.",
    "I worry about it for hours and cannot sit still.",
    "I am nervous and keep expecting the worst.",
)
PLAIN = (
    "It was a quiet and pleasant afternoon.",
    "We laughed a lot and had tea afterwards.",
    "It went as it usually goes, nothing special.",
    "My sleep is short these days, but all is well.",
)
DETAILS = (
    "My sister lent me her old {n} notes about it.", "The bus number {n} takes me there.",
    "It costs {n} coins a month.", "There are {n} of us by now.", "I started {n} months ago.",
    "Room {n} is always cold.", "We meet at {n} past six.", "Page {n} explains it badly.",
)  # fmt: skip


def posts(count: int, seed: int, prefix: str) -> pl.DataFrame:
    """Posts with ``id, text, depression, anxiety``."""
    draw = random.Random(seed)
    rows = []
    for number in range(count):
        low, tense = draw.random() < 0.5, draw.random() < 0.4
        said = [draw.choice(LOW)] * low + [draw.choice(TENSE)] * tense
        said = said or [draw.choice(PLAIN)]
        details = [one.format(n=draw.randrange(2, 60)) for one in draw.sample(DETAILS, 3)]
        about = draw.choice(SITUATIONS)
        text = f"About the {about}. {' '.join([details[0], *said, *details[1:]])}"
        rows.append((f"{prefix}{number:04}", text, int(low), int(tense)))
    return pl.DataFrame(rows, schema=["id", "text", "depression", "anxiety"], orient="row")


def feelings(text: str) -> dict[str, bool]:
    """What a post truly says."""
    return {
        "depression": any(one in text for one in LOW),
        "anxiety": any(one in text for one in TENSE),
    }


def answer(seen) -> str:
    """The model's answer to whatever it is asked."""
    asked = "\n".join(text for _, text in seen.texts)
    if "Mental Health Disorder" in asked:
        return open_answer(asked)
    if "serial numbers" in asked:
        return scale_answer(asked)
    return yes_no_answer(asked)


def open_answer(asked: str) -> str:
    found = feelings(asked)
    names = {"depression": "Major depressive disorder", "anxiety": "Generalized anxiety disorder"}
    said = [names[label] for label, has in found.items() if has]
    if not said and "sleep" in asked:
        said = ["Insomnia disorder"]
    return (
        f"**Mental Health Disorder:** {'Yes' if said else 'No'}\n\n"
        f"Name of Mental Health Disorder: {', '.join(said) or 'None'}\n\nDSM5 Rationale: see post."
    )


def scale_answer(asked: str) -> str:
    size = max(map(int, re.findall(r'"(\d+)": X', asked)))
    found = feelings(asked)
    high = found["depression"] if size in (9, 10) else found["anxiety"]
    level = int(re.search(r"whole number from 0 to (\d)", asked)[1]) if "whole" in asked else 1
    values = {
        str(n): ("yes" if high else "no") if level == 1 and "whole" not in asked else level * high
        for n in range(1, size + 1)
    }
    if "not ratable" in asked:
        observed = int(re.search(r"items (\d+) only", asked)[1])
        values[str(observed)] = "not ratable"
    return json.dumps(values)


def yes_no_answer(asked: str) -> str:
    shown = re.findall(r"About the ([a-z ]+)\.", asked)
    post = asked[asked.rindex("About the ") :]
    helped = shown[-1] in shown[:-1]
    truth = feelings(post)
    labels = [label for label in truth if f"'{label}':" in asked or f'"{label}":' in asked]
    said = {}
    for label in labels:
        chance = blake2b(f"{label}{post}".encode(), digest_size=2).digest()[0] / 255
        right = helped or chance < 0.65
        said[label] = "yes" if truth[label] == right else "no"
    return json.dumps(said)


EXAMPLES = {
    "answered": (
        {"id": "p1", "text": "One calm day.", "depression": 0, "anxiety": "no"},
        {"id": "p2", "text": "One tense day.", "depression": 1, "anxiety": "yes"},
    ),
    "open": ({"id": "p7", "text": "One odd day.", "anxiety": None},),
}


class Fixed:
    """A selector with the same examples for every post; the pool's name says which."""

    def __init__(self, *, pool, labels, test, folder):
        assert (labels, test, folder) == (["depression", "anxiety"], (), ".")
        self.rows = EXAMPLES[pool]

    def select(self, item, k):
        return list(self.rows[:k])
