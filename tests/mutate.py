"""A chore, not a test: change one operator at a time and see whether any test fails.

    python tests/mutate.py core/voirdire/stats/cohen.py --tests tests/test_stats_cohen.py --sample 30
    python tests/mutate.py core/voirdire/store --tests tests/test_store_*.py --sample 40

The tests are collected once and run once on the unchanged package, and each says which of the
sampled lines it reaches. Each mutant is a copy of the whole package with one change, on which those
tests run, the quickest first, until one fails: in a fork of the process that collected them, where
the functions of the changed file get their new code. What runs as a module is imported, and
compiled kernels, need a process of their own. A line that no test of this process reaches (it may
run in a process that a test starts) is tried on all of them. The score is the share of mutants that
some test noticed; the others are printed with their line, and each is a hole in the tests or a
change that means nothing.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from _pytest.runner import runtestprotocol

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("core", "judges", "retrieval", "plugins")
#: What each operator becomes: near enough to be a slip of the pen.
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
#: Where the process that collects the tests finds its mutants.
JOB = "MUTATE_JOB"


@dataclass(frozen=True)
class Place:
    """One thing in a file that can be changed: its turn among them and the lines it stands on."""

    path: Path
    turn: int
    lines: tuple[int, ...]
    before: str
    after: str

    def tree(self) -> ast.Module:
        """The file with that one change, each part on the line where it stood."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        return ast.fix_missing_locations(Mutator(self.turn).visit(tree))  # type: ignore[return-value]

    @property
    def name(self) -> str:
        """The file below the root."""
        return str(self.path.relative_to(ROOT))

    def __str__(self) -> str:
        return f"{self.name}:{self.lines[0]}: {self.before}  ->  {self.after}"


class Mutator(ast.NodeTransformer):
    """Changes the operator or number whose turn it is; `found` has all that could be."""

    def __init__(self, turn: int = -1) -> None:
        self.turn = turn
        self.found: list[tuple[ast.AST, ast.AST]] = []

    def visit(self, node: ast.AST) -> ast.AST:
        """Annotations and docstrings hold nothing that runs."""
        if isinstance(node, ast.AnnAssign):
            node.value = self.visit(node.value) if node.value else None  # type: ignore[assignment]
            return node
        if isinstance(node, ast.arguments):
            node.defaults = [self.visit(part) for part in node.defaults]  # type: ignore[misc]
            return node
        node = self.generic_visit(node)
        after = self._after(node)
        if after is None:
            return node
        self.found.append((node, after))
        return ast.copy_location(after, node) if len(self.found) - 1 == self.turn else node

    def _after(self, node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return ast.Constant(node.value + 1)
        if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
            return ast.BinOp(node.left, SWAPS[type(node.op)](), node.right)  # type: ignore[arg-type]
        if isinstance(node, ast.BoolOp):
            return ast.BoolOp(SWAPS[type(node.op)](), node.values)  # type: ignore[arg-type]
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            ops = [SWAPS[type(node.ops[0])](), *node.ops[1:]]
            return ast.Compare(node.left, ops, node.comparators)  # type: ignore[arg-type]
        return None


def places_of(path: Path) -> list[Place]:
    """Every change that a file allows, by one reading of it."""
    mutator = Mutator()
    mutator.visit(ast.parse(path.read_text(encoding="utf-8")))
    return [
        Place(
            path,
            turn,
            tuple(range(node.lineno, (node.end_lineno or node.lineno) + 1)),  # type: ignore[attr-defined]
            ast.unparse(node),
            ast.unparse(after),
        )
        for turn, (node, after) in enumerate(mutator.found)
    ]


class Reached:
    """Which of the lines a test reaches, and how long it takes."""

    def __init__(self, lines: dict[str, set[int]]) -> None:
        self.lines, self.seen = lines, set[tuple[str, int]]()

    def frame(self, frame: Any, event: str, argument: object) -> Any:
        """Follow the frames of those files, and no others."""
        return self.line if frame.f_code.co_filename in self.lines else None

    def line(self, frame: Any, event: str, argument: object) -> Any:
        """A line of such a file runs."""
        name = frame.f_code.co_filename
        if event == "line" and frame.f_lineno in self.lines[name]:
            self.seen.add((name, frame.f_lineno))
        return self.line

    def of(self, item: pytest.Item, following: pytest.Item | None) -> tuple[float, list, bool]:  # type: ignore[type-arg]
        """Run one test: seconds, what it reaches, whether it passes."""
        self.seen.clear()
        began = time.process_time()
        threading.settrace(self.frame)
        sys.settrace(self.frame)
        try:
            good = passes([item], following)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
        return time.process_time() - began, sorted(self.seen), good


def passes(items: list[pytest.Item], following: pytest.Item | None = None) -> bool:
    """Whether all these tests pass; the first that fails ends it."""
    for item, then in zip(items, [*items[1:], following], strict=True):
        reports = runtestprotocol(item, nextitem=then, log=False)
        if any(report.failed for report in reports):
            return False
    return True


def forked(work: Any, limit: float | None) -> Any:
    """What the work answers in a fork of this process, which must start no thread; None if late."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        with contextlib.suppress(BaseException):
            os.write(1, b"")
            answer = json.dumps(work()).encode()
            with os.fdopen(writing, "wb") as out:
                out.write(answer)
        os._exit(0)
    os.close(writing)
    timer = threading.Timer(limit, os.killpg, (child, signal.SIGKILL)) if limit else None
    if timer:
        timer.start()
    with os.fdopen(reading, "rb") as back:
        answer = back.read()
    os.waitpid(child, 0)
    if timer:
        timer.cancel()
    return json.loads(answer) if answer else None


class Mutants:
    """A plugin that runs no test but in forks: once as they are, then on each mutant."""

    def __init__(self, folder: Path, places: list[Place]) -> None:
        self.folder, self.places = folder, places
        self.tests: dict[str, pytest.Item] = {}
        self.reached: dict[str, tuple[float, set[tuple[str, int]]]] = {}

    def file(self, place: Place) -> Path:
        """The file in the copy."""
        return self.folder / place.name

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Learn what each test reaches, then try the mutants."""
        self.tests = {item.nodeid: item for item in session.items}
        start = time.monotonic()
        learned = forked(self.learned, None)
        if learned is None or not all(good for _, _, good in learned.values()):
            bad = [name for name, (_, _, good) in (learned or {}).items() if not good]
            print("the tests fail before anything is changed:", *bad, flush=True)
            return True
        for name, (spent, lines, _) in learned.items():
            self.reached[name] = spent, {(file, line) for file, line in lines}
        limit = 10 * (time.monotonic() - start) + 60
        for place in self.places:
            word = "noticed" if self.noticed(place, limit) else "survived"
            print(f"{word}: {place}", flush=True)
        return True

    def learned(self) -> dict[str, tuple[float, list, bool]]:  # type: ignore[type-arg]
        """Every test once, on the unchanged package."""
        lines: dict[str, set[int]] = {}
        for place in self.places:
            lines.setdefault(str(self.file(place)), set()).update(place.lines)
        reached, items = Reached(lines), list(self.tests.values())
        return {
            item.nodeid: reached.of(item, following)
            for item, following in zip(items, [*items[1:], None], strict=True)
        }

    def meeting(self, place: Place) -> list[pytest.Item]:
        """The tests that reach it, the quickest first; all where none does."""
        lines = {(str(self.file(place)), line) for line in place.lines}
        names = [name for name, (_, seen) in self.reached.items() if seen & lines]
        names.sort(key=lambda name: self.reached[name][0])
        return [self.tests[name] for name in names] or list(self.tests.values())

    def noticed(self, place: Place, limit: float) -> bool:
        """Whether any test fails on that change; one that hangs does."""
        file, tree, items = self.file(place), place.tree(), self.meeting(place)
        kept, stat = file.read_bytes(), file.stat()
        file.write_text(ast.unparse(tree), encoding="utf-8")
        try:
            functions = renewed(compile(tree, str(file), "exec"), str(file))
            if functions is None:
                return not fresh([item.nodeid for item in items], limit)

            def work() -> bool:
                for function, code in functions:
                    function.__code__ = code
                return passes(items)

            return not forked(work, limit)
        finally:
            file.write_bytes(kept)
            os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def renewed(module: CodeType, name: str) -> list[tuple[FunctionType, CodeType]] | None:
    """The loaded functions of that file and their new code; None where that is not enough."""
    if not any(getattr(known, "__file__", None) == name for known in list(sys.modules.values())):
        return []  # imported when a test asks for it, changed
    codes: dict[tuple[str, int], CodeType] = {}
    waiting = [module]
    while waiting:
        code = waiting.pop()
        inner = [part for part in code.co_consts if isinstance(part, CodeType)]
        codes |= {(part.co_qualname, part.co_firstlineno): part for part in inner}
        waiting += inner
    gc.unfreeze()  # of conftest.py: what is frozen is not among these objects
    loaded = [
        function
        for function in gc.get_objects()
        if isinstance(function, FunctionType) and function.__code__.co_filename == name
    ]
    new = [
        (function, codes[function.__code__.co_qualname, function.__code__.co_firstlineno])
        for function in loaded
        if (function.__code__.co_qualname, function.__code__.co_firstlineno) in codes
    ]
    changed = [pair for pair in new if pair[0].__code__ != pair[1]]
    jitted = "jit" in Path(name).read_text(encoding="utf-8")
    return changed if changed and not jitted else None


def fresh(tests: list[str], limit: float) -> bool:
    """Whether the tests pass in a process of their own."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {name: value for name, value in os.environ.items() if name != JOB}
    quiet = subprocess.DEVNULL
    try:
        ran = subprocess.run(
            command, env=environment, stdout=quiet, stderr=quiet, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return ran.returncode == 0


def pytest_configure(config: pytest.Config) -> None:
    """Become a plugin of the process that collects the tests (`-p mutate`)."""
    if JOB in os.environ:
        job = json.loads(Path(os.environ[JOB]).read_text(encoding="utf-8"))
        places = {path: places_of(Path(path)) for path in {path for path, _ in job["places"]}}
        chosen = [places[path][turn] for path, turn in job["places"]]
        config.pluginmanager.register(Mutants(Path(job["folder"]), chosen))


def files_of(paths: list[Path]) -> list[Path]:
    """The files named, and those under the folders named."""
    return [
        file
        for path in paths
        for file in (sorted(path.resolve().rglob("*.py")) if path.is_dir() else [path.resolve()])
    ]


def started(folder: Path, places: list[Place], tests: list[str]) -> subprocess.Popen[str]:
    """A process that tries these mutants on a copy of all packages."""
    for room in ROOMS:
        # The compiled kernels beside the modules are copied too, or each run compiles anew.
        shutil.copytree(ROOT / room, folder / room)
    job = folder / "job.json"
    chosen = [(str(place.path), place.turn) for place in places]
    job.write_text(json.dumps({"folder": str(folder), "places": chosen}), encoding="utf-8")
    path = os.pathsep.join([*(str(folder / room) for room in ROOMS), str(ROOT / "tests")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", JOB: str(job)}
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-p", "mutate"]
    return subprocess.Popen(
        [*command, *tests], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )


def main() -> int:
    """Run the mutants of the named files, or a sample of them, and print the score."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, help="files, or folders with all below")
    parser.add_argument("--tests", nargs="+", required=True)
    parser.add_argument("--sample", type=int, help="how many mutants; all by default")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with its mutants")
    given = parser.parse_args()
    places = [place for path in files_of(given.files) for place in places_of(path)]
    if given.sample is not None and given.sample < len(places):
        places = random.Random(given.seed).sample(places, given.sample)
    words: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        workers = [
            started(Path(folder) / str(number), places[number :: given.jobs], given.tests)
            for number in range(given.jobs)
        ]
        for worker in workers:
            for line in worker.stdout or ():
                word, _, _ = line.partition(": ")
                if word in {"noticed", "survived"}:
                    words.append(word)
                if word == "survived" or word.startswith("the tests fail"):
                    print(line, end="", flush=True)
            worker.wait()
    print(f"{words.count('noticed')} of {len(places)} mutants were noticed")
    return len(words) < len(places)


if __name__ == "__main__":
    sys.exit(main())
