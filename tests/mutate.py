"""A chore, not a test: change one operator at a time and see whether any test fails.

    python tests/mutate.py core/voirdire/stats/cohen.py --tests tests/test_stats_cohen.py --sample 30

Each mutant is a copy of the whole package with one change, on which the named tests run until the
first failure. The score is the share of mutants that some test noticed; the others are printed
with their line, and each is a hole in the tests or a change that means nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
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


@dataclass(frozen=True)
class Mutant:
    """One change of one file: its line, what stood there and what stands there now."""

    path: Path
    line: int
    before: str
    after: str
    source: str


class Mutator(ast.NodeTransformer):
    """Changes the operator or number whose turn it is, and counts all of them."""

    def __init__(self, turn: int) -> None:
        self.turn, self.seen = turn, 0
        self.changed: tuple[ast.AST, ast.AST] | None = None

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
        self.seen += 1
        if self.seen - 1 != self.turn:
            return node
        self.changed = node, after
        return ast.copy_location(after, node)

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


def mutants_of(path: Path) -> list[Mutant]:
    """Every mutant of a file, in the order of its lines."""
    text = path.read_text(encoding="utf-8")
    counter = Mutator(-1)
    counter.visit(ast.parse(text))
    found = []
    for turn in range(counter.seen):
        mutator, tree = Mutator(turn), ast.parse(text)
        tree = mutator.visit(tree)  # type: ignore[assignment]
        if mutator.changed is not None:
            before, after = mutator.changed
            source = ast.unparse(ast.fix_missing_locations(tree))
            line = before.lineno  # type: ignore[attr-defined]
            found.append(Mutant(path, line, ast.unparse(before), ast.unparse(after), source))
    return found


def passes(tests: list[str], packages: Path, limit: float | None) -> bool:
    """Whether the tests pass on that copy; one that hangs does not."""
    path = os.pathsep.join(str(packages / room) for room in ("core", "judges", "plugins"))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": path}
    try:
        ran = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return ran.returncode == 0


def main() -> int:
    """Run the mutants of the named files, or a sample of them, and print the score."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--tests", nargs="+", required=True)
    parser.add_argument("--sample", type=int, help="how many mutants; all by default")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    given = parser.parse_args()
    mutants = [mutant for path in given.files for mutant in mutants_of(path.resolve())]
    if given.sample is not None and given.sample < len(mutants):
        mutants = random.Random(given.seed).sample(mutants, given.sample)
    with tempfile.TemporaryDirectory() as folder:
        for room in ("core", "judges", "plugins"):
            # The compiled kernels beside the modules are copied too, or each run compiles anew.
            shutil.copytree(ROOT / room, Path(folder) / room)
        start = time.monotonic()
        if not passes(given.tests, Path(folder), None):
            print("the tests fail before anything is changed")
            return 1
        limit = 3 * (time.monotonic() - start) + 10
        caught = sum(not survives(mutant, given.tests, Path(folder), limit) for mutant in mutants)
    print(f"{caught} of {len(mutants)} mutants were noticed")
    return 0


def survives(mutant: Mutant, tests: list[str], folder: Path, limit: float) -> bool:
    """Whether no test notices; then the mutant is printed."""
    place = folder / mutant.path.relative_to(ROOT)
    kept = place.read_bytes()
    place.write_text(mutant.source, encoding="utf-8")
    try:
        alive = passes(tests, folder, limit)
    finally:
        place.write_bytes(kept)
    if alive:
        name = mutant.path.relative_to(ROOT)
        print(f"survived: {name}:{mutant.line}: {mutant.before}  ->  {mutant.after}", flush=True)
    return alive


if __name__ == "__main__":
    sys.exit(main())
