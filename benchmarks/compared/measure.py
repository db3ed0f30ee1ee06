"""Each peer on the same files: what it says, processor seconds and lines of user code.

python benchmarks/compared/measure.py VENVS OUT.md [SCRIPT ...]

VENVS holds a virtual environment for each tool, `peers-NAME`, and `npm` for promptfoo:

    python -m venv VENVS/peers-truescore && VENVS/peers-truescore/bin/pip install truescore
    npm install --prefix VENVS/npm promptfoo

A tool that is not there is said to be absent; nothing is filled in for it. Processor time is that
of the process and its children, user and system, the best of three (or of TIMES).
"""

import csv
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Script -> the environment, and a word of the line that is its answer.
PEERS = {
    "labels_voirdire.sh": ("voirdire", "People would"),
    "labels_truescore.sh": ("truescore", "corrected:"),
    "labels_ppi_python.py": ("ppi-python", "["),
    "labels_glide_py.py": ("glide-py", "Interval"),
    "labels_judgekeeper.sh": ("judgekeeper", "Not trustworthy"),
    "scores_voirdire.sh": ("voirdire", "Use careful"),
    "scores_evalica.py": ("evalica", "lenient"),
    "scores_autorubric.py": ("autorubric", "lenient"),
    "pairs_voirdire.sh": ("voirdire", "Use gpt"),
    "pairs_arenakit.sh": ("arenakit", "FLAG"),
    "pairs_evalica.py": ("evalica", "people"),
    "sure_voirdire.sh": ("voirdire", "Use judge"),
    "sure_kunko_judge_audit.py": ("kunko-judge-audit", "ece"),
    "run_voirdire.sh": ("voirdire", "Nothing can"),
    "run_inspect_ai.py": ("inspect-ai", "mean"),
    "run_deepeval.py": ("deepeval", "'mean'"),
    "run_promptfoo.sh": ("promptfoo", "passed"),
}


def lines_of(path):
    """Lines that a user writes: neither blank nor a comment."""
    return sum(
        bool(one.strip()) and not one.strip().startswith("#")
        for one in path.read_text("utf-8").splitlines()
    )


def place_of(venvs, name):
    if name == "promptfoo":
        return venvs / "npm" / "node_modules" / ".bin"
    return venvs / f"peers-{name}" / "bin" if name != "voirdire" else Path(sys.executable).parent


def run_files(folder):
    """Forty answers and a person's score of each, for the tools that run evaluations."""
    with (folder / "answers.csv").open("w", newline="") as file:
        rows = [(f"q{at}", "mine", f"answer {'x' * (at * 7 % 23)}") for at in range(40)]
        csv.writer(file).writerows([("item", "system", "text"), *rows])
    with (folder / "items.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "text"), *((f"q{at}", f"q{at}") for at in range(40))])
    with (folder / "people.csv").open("w", newline="") as file:
        people = [(f"q{at}", "mine", 1 + at * 3 % 5) for at in range(40)]
        csv.writer(file).writerows([("item", "system", "ann"), *people])


def measured(script, bin_folder):
    """Seconds of processor time, the exit code, and what was printed."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        subprocess.run([sys.executable, HERE / "make_files.py", folder], check=True)
        run_files(folder)
        program = ["sh", "-e"] if script.suffix == ".sh" else [str(bin_folder / "python")]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [*program, str(script)], cwd=folder, capture_output=True, text=True, check=False,
            env={**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "COLUMNS": "400",
                 "NO_COLOR": "1", "PROMPTFOO_DISABLE_TELEMETRY": "1",
                 "PROMPTFOO_CONFIG_DIR": str(folder / "config")},
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return spent, done.returncode, done.stdout + done.stderr


def version_of(bin_folder, name):
    if name == "promptfoo":
        words = [str(bin_folder / "promptfoo"), "--version"]
    else:
        code = f"import importlib.metadata as m; print(m.version({name!r}))"
        words = [str(bin_folder / "python"), "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (done.stdout.strip().splitlines() or ["?"])[-1]


def main():
    venvs, out = Path(sys.argv[1]), Path(sys.argv[2])
    lines = [
        "| files | tool | what it says | processor s | lines | script |",
        "|---|---|---|---:|---:|---|",
    ]
    for name, (tool, word) in PEERS.items():
        if sys.argv[3:] and name not in sys.argv[3:]:
            continue
        script, bin_folder = HERE / "peers" / name, place_of(venvs, tool)
        files = name.partition("_")[0]
        if not bin_folder.is_dir():
            lines.append(f"| {files} | {tool} | absent here | | | `{name}` |")
            continue
        each = [measured(script, bin_folder) for _ in range(int(os.environ.get("TIMES", "3")))]
        spent, code, printed = min(each, key=lambda one: one[0])
        said = next((one for one in printed.splitlines() if word in one), f"(exit code {code})")
        said = " ".join(said.split()).replace("|", "\\|")[:240]
        lines.append(
            f"| {files} | {tool} {version_of(bin_folder, tool)} | {said} | {spent:.1f} | "
            f"{lines_of(script)} | `{name}` |"
        )
        print(lines[-1], flush=True)
        if code not in (0, 2):
            print(printed[-1500:], file=sys.stderr)
    out.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
