"""Every command that reads a file of ratings takes the same options that say how it is read."""

from __future__ import annotations

import json
import random
import re
import tomllib
from pathlib import Path

import pytest
from command_line import invoke
from typer.main import get_command

from voirdire.cli.app import build_app
from voirdire.cli.columns import OF_ONE_TABLE, OPTIONS
from voirdire.errors import InputError, QuestionError

APP = get_command(build_app())
#: What is typed for each command, with @ for the options that name columns.
COMMANDS = {
    "examine": "examine r.csv --reference ann --resamples 0 @ --json",
    "decide": "decide r.csv --reference ann --gate 3 @ --json",
    "audit": "audit r.csv --reference ann @ --json",
    "correct": "correct r.csv --reference ann @ --json",
    "calibrate": "calibrate r.csv --reference ann @ --json",
    "plan": "plan r.csv --reference ann --half-width 0.2 @ --json",
    "escalate": "escalate r.csv --reference ann --agree 0.8 --on Calm @ --json",
    "compare": "compare r.csv r.csv --reference ann @ --json",
    "jury": "jury r.csv --members gpt,llama --reference ann @ --json",
    "item": "item r.csv c1 @ --json",
    "look": "look r.csv --reference ann --static page.html @",
    "gate freeze": "gate freeze r.csv --reference ann --as judge.lock @",
    "gate check": "gate check r.csv --lock judge.lock @ --json",
    "init": "init r.csv --reference ann @ --out study.toml",
    "import": "import r.csv --reference ann @ --out read.csv",
}
ABOUT = ("Calm", "Warm")
#: They take files with texts alone; tests of rating work run them.
WITH_TEXTS = ("humans export", "humans serve")
#: A usual header -> the strange one that stands in its place.
STRANGE = {
    "item": "case no.", "system": "bot used", "rater": "von wem", "attribute": "worum",
    "score": "stars", "run": "take", "status": "how it went",
}  # fmt: skip
NAMED = [word for key, head in STRANGE.items() for word in (f"--{key}", head)]


def rows():
    """Two systems, 30 items, two attributes, three raters; some ratings were withdrawn."""
    chance = random.Random(4)
    left_out = chance.sample(
        [(i, bot, about) for i in range(30) for bot in "AB" for about in ABOUT], 9
    )
    for i in range(30):
        for bot in ("A", "B"):
            for about in ABOUT:
                truth = chance.randint(1, 5)
                for rater in ("ann", "gpt", "llama"):
                    score = truth if rater == "ann" else chance.choice([truth, truth, 3])
                    withdrawn = rater == "ann" and (i, bot, about) in left_out
                    yield f"c{i}", bot, rater, about, 5 if withdrawn else score, withdrawn


def write(folder, heads, word=""):
    """The ratings under these headers, beside points that are no scores; perhaps with a word."""
    folder.mkdir(exist_ok=True)
    lines = [",".join((*heads.values(), "minutes"))]
    for n, (item, bot, rater, about, score, withdrawn) in enumerate(rows()):
        said = word if word and n == 5 else score
        status = "withdrawn" if withdrawn else "done"
        lines.append(f"{item},{bot},{rater},{about},{said},1,{status},{3 + n % 40}")
    (folder / "r.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def typed(command, options):
    words = COMMANDS[command].split()
    at = words.index("@")
    return [*words[:at], *options, *words[at + 1 :]]


def run(folder, monkeypatch, words):
    monkeypatch.chdir(folder)
    return invoke(words)


def leaf(command):
    found = APP
    for name in command.split():
        found = found.commands[name]
    return found


def leaves(command=APP, names=()):
    under = getattr(command, "commands", None)
    if under is None:
        yield " ".join(names), command
        return
    for name, each in under.items():
        yield from leaves(each, (*names, name))


def test_every_command_that_says_that_it_reads_ratings_is_tried_here():
    reads = {
        name
        for name, command in leaves()
        for each in command.params
        if each.param_type_name == "argument"
        and re.search("files? of ratings", getattr(each, "help", None) or "", re.IGNORECASE)
    }
    assert reads == {*COMMANDS, *WITH_TEXTS}


@pytest.mark.parametrize("command", [*COMMANDS, *WITH_TEXTS])
def test_the_same_options_in_help_and_with_one_meaning(command):
    found = {option: each for each in leaf(command).params for option in each.opts}
    shown = invoke([*command.split(), "--help"], env={"COLUMNS": "120"}).output
    # Which judges are examined is a command's own matter; which are read is the same everywhere.
    for key in [key for key in OF_ONE_TABLE if key != "judge"]:
        assert found[f"--{key}"].help == OPTIONS[key].__metadata__[0].help
        assert f"--{key} " in shown


def what_came(folder, done):
    """What the command said and wrote, but for the names of columns."""
    made = (folder / name for name in ("page.html", "judge.lock", "read.csv"))
    said = "\n".join([done.stdout, *(path.read_text() for path in made if path.exists())])
    # A lock keeps how its source was read, and is sealed with it.
    sealed = r"(?ms)^(seal|read|sealed) = [^\n]*\n|^\[(read|sealed)\]\n.*?(?=^\[|\Z)"
    said = re.sub(sealed, "", said)
    for key, head in STRANGE.items():
        said = re.sub(rf"(?<!\w){re.escape(head)}(?!\w)", key, said.replace(repr(head), repr(key)))
    # Why a column is not used rests on its name.
    said = re.sub(r'(?m)^\s*"[^"\n]*: not used,[^"\n]*",?\n', "", said)
    return re.sub(r'"r.csv": "[0-9a-f]{64}"', "", said)


@pytest.mark.parametrize("command", COMMANDS)
def test_strange_headers_are_named_in_every_command(command, tmp_path, monkeypatch):
    usual = write(tmp_path / "usual", {key: key for key in STRANGE})
    strange = write(tmp_path / "strange", STRANGE)
    if command == "gate check":
        for folder, options in ((usual, []), (strange, NAMED)):
            assert run(folder, monkeypatch, typed("gate freeze", options)).exit_code == 0
    unnamed = run(strange, monkeypatch, typed(command, []))
    if command == "gate check":
        # The lock keeps how its source was read.
        assert unnamed.exit_code == 0
    else:
        assert isinstance(unnamed.exception, InputError) or "is not complete" in unnamed.stdout
    (strange / "study.toml").unlink(missing_ok=True)
    known, named = (
        run(folder, monkeypatch, typed(command, [*options, "--ignore", "minutes"]))
        for folder, options in ((usual, []), (strange, NAMED))
    )
    assert (known.exit_code, named.exit_code) == (0, 0), (known.exception, named.exception)
    if command == "init":
        study = tomllib.loads((strange / "study.toml").read_text())
        assert STRANGE.items() <= study["data"]["sources"][0].items()
    else:
        assert what_came(strange, named) == what_came(usual, known)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_option_that_a_question_prints_is_there_and_settles_it(command, tmp_path, monkeypatch):
    folder = write(tmp_path / "asked", {key: key for key in STRANGE}, "dunno")
    lock = write(tmp_path / "usual", {key: key for key in STRANGE})
    if command == "gate check":
        run(lock, monkeypatch, typed("gate freeze", []))
        (folder / "judge.lock").write_bytes((lock / "judge.lock").read_bytes())
    asked = run(folder, monkeypatch, typed(command, []))
    if command == "init":  # writes a study in which the question is open
        assert "Not decided" in asked.stdout or isinstance(asked.exception, QuestionError)
        return
    assert isinstance(asked.exception, QuestionError), asked.exception
    question = asked.exception
    option = f"--{question.key}"
    assert option in [name for each in leaf(command).params for name in each.opts]
    assert f"Say {option} '{question.choices[0]}'" in str(question)
    settled = run(folder, monkeypatch, typed(command, [option, question.choices[0]]))
    assert settled.exit_code == 0, settled.exception


def numbers_of(done):
    """What a command gave as JSON, but for what it says of its files: one here and two there.

    Sections, one a rater, come in the order of the raters in the files.
    """
    given = json.loads(done.stdout)
    if "tables" in given:
        return sorted(given["tables"], key=lambda section: section["title"])
    return {key: value for key, value in given.items() if key != "findings"}


@pytest.mark.parametrize(
    "command", ["correct", "calibrate", "plan", "escalate", "jury", "item", "gate freeze"]
)
def test_labels_in_a_file_of_their_own_give_the_numbers_of_one_file(command, tmp_path, monkeypatch):
    one = write(tmp_path / "one", {key: key for key in STRANGE})
    two = write(tmp_path / "two", {key: key for key in STRANGE})
    head, *lines = (one / "r.csv").read_text().splitlines()
    of_people = [line for line in lines if ",ann," in line]
    judged = [line for line in lines if line not in of_people]
    (two / "r.csv").write_text("\n".join([head, *judged]) + "\n")
    (two / "mine.csv").write_text("\n".join([head, *of_people]) + "\n")
    together = run(one, monkeypatch, typed(command, []))
    apart = run(two, monkeypatch, typed(command, ["--human", "mine.csv"]))
    assert (together.exit_code, apart.exit_code) == (0, 0), (together.exception, apart.exception)
    if command == "gate freeze":
        assert "60 of them with labels" in apart.stdout
        assert apart.stdout == together.stdout
    else:
        assert numbers_of(apart) == numbers_of(together)
        assert numbers_of(apart)


@pytest.mark.parametrize("command", ["examine", "import"])
def test_columns_are_not_named_of_another_tools_file(command, tmp_path, monkeypatch):
    known = Path(__file__).parent / "foreign" / "promptfoo" / "results_rated_0.91.3.json"
    words = {"examine": [], "import": ["--out", "read.csv"]}[command]
    done = run(tmp_path, monkeypatch, [command, str(known), "--score", "stars", *words])
    assert isinstance(done.exception, InputError)
    assert "whose columns are known: --score is for plain tables" in str(done.exception)
    done = run(
        tmp_path, monkeypatch, ["import", str(known), "--only", "Brief", "--out", "read.csv"]
    )
    assert (done.exit_code, (tmp_path / "read.csv").read_text().count("Brief")) == (0, 7)
