"""angst end to end over the wire: silver labels, index, zero- and few-shot, questionnaires, report.

    python benchmarks/angst.py MODEL [SILVER GOLD RUNS]

MODEL is the folder of a sentence-transformers model, such as all-mpnet-base-v2. Posts are invented
(tests/angst_posts.py), and so is the model that answers about them: it reads a post rightly when an
example about the same situation stands in its prompt, and else in about two of three.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from _help import help_asked
from _timing import machine, seconds, table, versions

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Print the time of each step, and what was found."""
    sys.path.append(str(ROOT / "tests"))
    from angst_posts import answer, posts
    from wire_server import WireServer

    embedder, *sizes = sys.argv[1:]
    silver, gold, runs = map(int, sizes or (500, 200, 3))
    folder = Path(tempfile.mkdtemp())
    pool, test = posts(silver, 1, "s"), posts(gold, 2, "g")
    planted = test.filter(test["depression"] == 1).head(1)
    planted = planted.with_columns(planted["id"] + "-planted")
    pool.vstack(planted).select("id", "text").write_csv(folder / "posts.csv")
    test.write_csv(folder / "gold.csv")
    with WireServer(answer, keep=False) as server:
        model = ("--model", "compatible:m", "--model-option", f"base_url={server.openai}")
        steps = {
            f"silver labels of {silver + 1} posts": (
                "paper", "angst", "silver", folder / "posts.csv", *model,
                "--out", folder / "silver",
            ),
            "study": (
                "paper", "angst", "study", folder / "gold.csv", *model, "--out", folder / "angst",
                "--silver", folder / "silver" / "silver.jsonl", "--embedder", embedder, "--runs",
                runs, "--scale", "phq9=5", "--scale", "madrs=20", "--scale", "hamilton",
                "--scale", "bai=30",
            ),
            "embedding, index, examples, leaks": (
                "run", folder / "angst" / "study.toml", "--dry-run",
            ),
            f"run: {gold} posts x {runs} runs x 10 raters": (
                "run", folder / "angst" / "study.toml", "--out", folder / "session",
            ),
            "report": (
                "examine", "angst", "--data", folder / "session", "--out", folder / "out",
                "--no-figures",
            ),
        }  # fmt: skip
        rows = [(name, seconds(_timed(step))) for name, step in steps.items()]
    print(
        f"{machine()}; {versions('sentence-transformers', 'torch', 'faiss-cpu')}; "
        f"{Path(embedder).name}\n"
    )
    print(table(("step", "time"), rows))
    print(f"\n{_found(folder)}")


def _timed(step: tuple[object, ...]) -> float:
    from typer.testing import CliRunner

    from voirdire.cli.app import build_app

    start = time.perf_counter()
    done = CliRunner().invoke(build_app(), [str(part) for part in step])
    if done.exit_code:
        raise SystemExit(done.output)
    return time.perf_counter() - start


def _found(folder: Path) -> str:
    from voirdire.examining import examine
    from voirdire.examining.labels import methods_of
    from voirdire_plugins.angst.labels import LABELS

    examination = examine("angst", data=folder / "session", resamples=0)
    methods = methods_of(examination.ratings, "gold", LABELS)
    rows = [(one.rater, f"{one.mean('accuracy'):.3f}") for one in methods]
    leaks = [f"- {one.kind}: {one.message}" for one in examination.findings if one.table == "pool"]
    return "\n".join([table(("rater", "accuracy"), rows), "", *leaks])


if __name__ == "__main__":
    help_asked(__doc__)
    main()
