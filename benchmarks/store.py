"""A session of 400,000 replies: its size on disk, and the time that its tables take.

    python benchmarks/store.py           # prints the figures and writes results/store.md

Four judges rate 100,000 responses (60-word items, 200-word responses, replies with a 40-word
explanation, all of random words, which compress badly) on the built-in rubric.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import resource
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire._manager import plugins
from voirdire.schema import Item, Reply, Response, Usage
from voirdire.store import ratings_frame, replies_frame, write_tables
from voirdire.store.raters import participants
from voirdire.store.records import Attempt, Finish, Slot, make_call
from voirdire.store.session import open_session
from voirdire.store.tasks import iterate_tasks, take_items, take_responses
from voirdire.study import Study, build_study, study_to_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RESULTS = Path(__file__).resolve().parent / "results" / "store.md"
ATTRIBUTES = (
    "Guidance",
    "Informativeness",
    "Relevance",
    "Safety",
    "Empathy",
    "Helpfulness",
    "Understanding",
)
STUDY = {
    "name": "large", "rubric": {"use": "mentalalign"}, "items": {"path": "none"},
    "panel": [{"name": f"judge{k}", "use": "rubric", "model": f"openai:m{k}"} for k in range(4)],
}  # fmt: skip


class Texts:
    """Random words, the same each time."""

    def __init__(self) -> None:
        self.chance = random.Random(5)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self.words = ["".join(self.chance.choices(letters, k=6)) for _ in range(5_000)]

    def text(self, words: int) -> str:
        return " ".join(self.chance.choices(self.words, k=words))

    def reply(self) -> Reply:
        scores = {name: self.chance.randint(1, 5) for name in ATTRIBUTES}
        said = json.dumps({**scores, "Overall": 4, "Explanation": self.text(40)})
        return Reply(
            said,
            usage=Usage(1200, 80),
            latency=1.2,
            model="gpt-4o-2024-08-06",
            provider_id=f"chatcmpl-{self.chance.getrandbits(120):x}",
            params={"model": "gpt-4o", "temperature": 0.0},
        )


def fill(folder: Path, study: Study, responses: int) -> None:
    """Write a session as a run would."""
    texts, panel, written = Texts(), participants(study, plugins()), 0

    def committed(group: Sequence[object]) -> None:
        nonlocal written
        written += len(group)

    with open_session(folder, study, study_to_toml(study)) as session:
        names = [f"i{number}" for number in range(responses)]
        take_items(session.connection, ((Item(name, texts.text(60)), "") for name in names))
        made = (Response(name, "x", texts.text(200)) for name in names)
        take_responses(session.connection, made, "file")
        session.start(committed)
        for about, task in iterate_tasks(session.connection, "rating", study.comparisons):
            for participant in panel:
                slot = Slot(participant.id, *about[:3], unit=about.unit)
                call = make_call(slot, participant.rater.requests(task)[0])
                session.put(Attempt(call, time.time(), texts.reply()))
                session.put(Finish((call.key,), "ok", slot=slot))
            while session.given - written > 5_000:
                session.check()  # raises what ended the writer
                time.sleep(0.01)


def timed(what: Callable[..., Any], *given: object) -> tuple[float, Any]:
    began = time.perf_counter()
    value = what(*given)
    return time.perf_counter() - began, value


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--responses", type=int, default=100_000)
    responses = parser.parse_args().responses
    study = build_study(STUDY)
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given) / "session"
        fill(folder, study, responses)
        size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
        derived, _ = timed(write_tables, folder)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        replies, frame = timed(replies_frame, folder)
        count = frame.height
        del frame
        ratings, frame = timed(ratings_frame, folder)
        rows = frame.height
    text = (
        "# A large session\n\n"
        f"`python benchmarks/store.py`, 2 cores, Python {platform.python_version()}.\n\n"
        "| what | figure |\n| --- | ---: |\n"
        f"| replies | {count:,} |\n| on disk | {size:,.0f} MB |\n"
        f"| every reply into a frame | {replies:.1f} s |\n"
        f"| every reply parsed into {rows:,} ratings | {ratings:.1f} s |\n"
        f"| the same, and all tables, into Parquet page by page | {derived:.1f} s |\n"
        f"| peak memory up to there, filling the session included | {peak:.0f} MiB |\n"
    )
    print(text)
    if responses == 100_000:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
