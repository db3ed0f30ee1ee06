"""A run that is killed again and again, at 256 in flight, with 6 % of calls at fault.

    python benchmarks/kills.py                                  # 100,000 judgements, twenty kills
    python benchmarks/kills.py --judgements 2000 --kills 3 --at 64 --workers 2

Each kill (SIGKILL of all processes of the run) comes while calls are under way, at a place that is
drawn; a SIGTERM, a Ctrl-C and a Ctrl-C given twice come at drawn places between the kills. At the
end each task must have one final reply, the session must cost what its replies do, and the server
must have answered no more often than tasks and calls under way at the ends allow.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from wire_server import FAULTS, WireProcess  # noqa: E402

from voirdire.running import session_status  # noqa: E402
from voirdire.running.tasks import COMMITTING, WAITING  # noqa: E402
from voirdire.store import ratings_frame, replies_frame  # noqa: E402

#: What stops a rater by design, takes any bytes by hand, or would be answered and kept as it is.
LEFT_OUT = {
    "auth", "forbidden", "bad_request", "not_found", "quota", "refused_parameter", "filter_400",
    "raw", "refusal", "filter",
}  # fmt: skip
STRIKING = [name for name in FAULTS if name not in LEFT_OUT]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judgements", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--at", type=int, default=256)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--faults", type=float, default=0.06, help="share of calls at fault")
    parser.add_argument("--latency", type=float, default=1.0, help="seconds of an answer")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    os.environ["OTHER_KEY"] = "invented"
    with tempfile.TemporaryDirectory() as folder, WireProcess(latency=given.latency) as server:
        print(json.dumps(killed(Path(folder), server, given), indent=1))


def killed(folder: Path, server: WireProcess, given: argparse.Namespace) -> dict[str, object]:
    """Run, kill, resume; what came of it."""
    write_study(folder, server.openai, given)
    for name in STRIKING:
        details = {"retry_after": 0.05} if name == "rate_limit" else {}
        server.fault(name, times=None, every=round(len(STRIKING) / given.faults), **details)
    chance, ended = random.Random(given.seed), []
    endings = ["kill"] * given.kills + ["term", "interrupt", "interrupt twice"]
    chance.shuffle(endings)
    places = sorted(chance.uniform(0.02, 0.97) * given.judgements for _ in endings)
    for number, (ending, place) in enumerate(zip(endings, places, strict=True)):
        process = started(folder, given, resume=number > 0)
        while process.poll() is None:
            counts = server.counts
            # A run that goes on after a kill needs a moment until its calls are under way.
            if counts["answered"] >= place and counts["in_flight"] >= 0.78 * given.at:
                break
            time.sleep(0.01)
        under_way, at_end = server.counts["in_flight"], time.monotonic()
        code = ended_by(process, ending)
        seconds = round(time.monotonic() - at_end, 1)
        ended.append({"by": ending, "under way": under_way, "code": code, "seconds": seconds})
        print(f"{ended[-1]}: {server.counts}", file=sys.stderr)
    last = started(folder, given, resume=True)
    code = last.wait()
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    kept = replies_frame(folder / "a")
    ratings = ratings_frame(folder / "a")
    counts, status = server.counts, session_status(folder / "a")
    # Failed tries are kept too: what was paid for says how many tokens it took.
    paid = int(kept["output"].is_not_null().sum())
    twice = counts["answered"] - paid
    under_way = sum(end["under way"] for end in ended)
    bound = under_way + (WAITING + COMMITTING) * len(ended) * given.workers
    return {
        "exit code": code,
        "kinds of faults": len(STRIKING),
        "tasks": given.judgements,
        "ratings, each task once": ratings.height
        == 7 * given.judgements
        == 7 * ratings["item"].n_unique(),
        "without a score": int(ratings["score"].null_count()),
        "replies kept": kept.height,
        "of them paid for": paid,
        "requests": counts["count"],
        "answered": counts["answered"],
        "answered and not kept (paid for twice)": twice,
        "calls under way at the ends": under_way,
        "allowed": bound,
        "ends": ended,
        "cost of the session": status.cost,
        "cost of the replies kept": float((kept["input"].sum() + 2 * kept["output"].sum()) / 1e6),
        "processor seconds of runs": round(spent.ru_utime + spent.ru_stime, 1),
        "peak MB of a run": round(spent.ru_maxrss / 1024),
    }


def ended_by(process: subprocess.Popen[bytes], ending: str) -> int:
    """End the run as the signal does it to all of its processes; its exit code."""
    signals = {"kill": [signal.SIGKILL], "term": [signal.SIGTERM]}
    for number in signals.get(ending, [signal.SIGINT] * (1 + ending.endswith("twice"))):
        os.killpg(process.pid, number)
        time.sleep(0.3)
    code = process.wait()
    wanted = {"kill": -signal.SIGKILL}.get(ending)
    if code == 0 or wanted not in (None, code):
        raise SystemExit(f"the run ended by itself before {ending} (exit code {code})")
    return code


def write_study(folder: Path, url: str, given: argparse.Namespace) -> None:
    names = [f"i{number:06}" for number in range(given.judgements)]
    pl.DataFrame({"id": names, "text": [f"I slept badly, {name}." for name in names]}).write_csv(
        folder / "items.csv"
    )
    pl.DataFrame(
        {"item": names, "system": "x", "text": [f"Keep a fixed bedtime, {name}." for name in names]}
    ).write_csv(folder / "responses.csv")
    (folder / "study.toml").write_text(f"""\
name = "calm"
items = {{ path = "items.csv" }}
responses = {{ path = "responses.csv" }}
rubric = {{ use = "mentalalign" }}

[[panel]]
name = "m"
kind = "judge"
use = "rubric"
model = "compatible:m"
max_tokens = 200
model_options = {{ base_url = "{url}", api_key_env = "OTHER_KEY" }}

[run]
concurrency = {given.at}
start_concurrency = {given.at}
timeout = 10
retries = 6
backoff = 0.05
breaker = 10000

[run.prices."compatible:m"]
input = 1.0
output = 2.0
""")


def started(folder: Path, given: argparse.Namespace, *, resume: bool) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "voirdire",
        "run",
        "study.toml",
        "--out",
        "a",
        "--quiet",
        *(["--workers", str(given.workers)] if given.workers > 1 else []),
        *(["--resume"] if resume else []),
    ]
    return subprocess.Popen(command, cwd=folder, start_new_session=True)


if __name__ == "__main__":
    main()
