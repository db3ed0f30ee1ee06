"""The account of a file: its rows are those that were read and those that are said to be gone, over
every reader and every made shape; one that does not add up is said aloud.
"""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from reading_files import Case, cases
from reading_files_2 import cases as second_cases

from voirdire import InputError, QuestionError, ReadOptions, tables
from voirdire.study import build_study
from voirdire.tables import ReadingBuilder, read_file, read_foreign, write_xlsx
from voirdire.tables._tables import Account

FOREIGN = Path(__file__).parent / "foreign"
MADE = [case for case in (*cases(), *second_cases()) if case.kind not in ("labels", "preferences")]


def _records(path: Path) -> int | None:
    """Rows of a file by another road: the csv module, json, Polars' Parquet; None of a workbook."""
    if path.suffix in (".csv", ".tsv"):
        text = path.read_text(encoding="utf-8-sig")
        mark = max(",;\t", key=text.split("\n", 1)[0].count)
        rows = list(csv.reader(text.splitlines(keepends=True), delimiter=mark))
        return sum(any(cell.strip() for cell in row) for row in rows) - 1
    if path.suffix == ".parquet":
        return int(pl.scan_parquet(path).select(pl.len()).collect().item())
    if path.suffix == ".jsonl" and not path.read_text().startswith("["):
        return sum(bool(line.strip()) for line in path.read_text().split("\n"))
    if path.suffix in (".json", ".jsonl"):
        whole = json.loads(path.read_text())
        return len(whole) if isinstance(whole, list) else None
    return None


@pytest.mark.parametrize("case", MADE, ids=lambda case: case.name)
def test_every_row_of_a_made_file_is_accounted_for(case: Case, tmp_path: Path):
    paths = case.make(tmp_path)
    reference, read = tuple(case.reference), ReadOptions()
    try:
        _, rated = read_file(paths, reference=reference, read=read)
    except QuestionError as asked:
        reference, read = tables.with_answers(asked, reference, read)
        try:
            _, rated = read_file(paths, reference=reference, read=read)
        except InputError:
            pytest.skip("not read")
    except InputError:
        pytest.skip("not read")
    assert len(rated.accounts) == len(paths)
    for path, account in zip(paths, rated.accounts, strict=True):
        assert account.open == (0, 0)
        rows = _records(path)
        # Of a header in two rows the second one is none of the rows; a form's rows are its cells.
        if rows is not None and not any(f.kind == "header_joined" for f in rated.findings):
            assert account.rows % rows == 0, (path.name, account, rows)
    assert not any(note.kind == "account_open" for note in rated.findings)


FILES = sorted(
    path.relative_to(FOREIGN).as_posix()
    for path in FOREIGN.rglob("*")
    if path.suffix in (".json", ".jsonl", ".csv", ".eval", ".parquet")
    and "mlruns" not in path.parts
)


@pytest.mark.parametrize("name", FILES)
def test_every_record_of_another_tool_is_accounted_for(name: str):
    if "pairwise" in name:
        with pytest.raises(
            InputError, match=r"of a pairwise project|without any|no column of ratings"
        ):
            read_foreign(FOREIGN / name)
        return
    if "langgraph" in name:
        with pytest.raises(InputError, match=r"hold no judgement|without any rating"):
            read_foreign(FOREIGN / name)
        return
    found = read_foreign(FOREIGN / name)
    assert found is not None
    assert found.account is not None, "the reader does not count its records"
    assert found.account.open == (0, 0)
    rows = _records(FOREIGN / name)
    # A line of a trace holds many spans, and most hold no judgement: what is counted is these.
    if rows is not None and not name.startswith("traces/"):
        assert found.account.rows == rows
    unused = [note for note in found.findings if note.kind == "rows_unused"]
    assert not found.account.gone or unused


def test_a_record_of_which_nothing_is_made_is_left_out_with_its_place():
    rows = ReadingBuilder("notes", "notes.json")
    given: list[tuple[str, Any]] = [("record 1", {"s": 4}), ("record 2", {}), ("record 3", "text")]
    for place, record in rows.each(given):
        if "s" in record:
            rows.rate(place, "ann", "tone", record["s"])
    reading = rows.reading()
    assert reading.account == Account("notes.json", 3, {"without a judgement": 2}, 1, 0, 1)
    assert rows.unused == {
        "nothing in it is a judgement": ["record 2"],
        "is no object": ["record 3"],
    }


ROWS = [f"q{at},{at % 5 + 1},{(at + at // 7) % 5 + 1}" for at in range(30)]


def _accounted(path: Path, **read: Any) -> tuple[Account, tuple[Any, ...]]:
    _, rated = read_file(path, reference=["human"], read=ReadOptions(**read))
    (account,) = rated.accounts
    assert account.open == (0, 0)
    return account, rated.findings


def test_rows_that_are_gone_are_told_by_their_reason(tmp_path):
    path = tmp_path / "r.csv"
    lines = ["item,human,judge", *ROWS, ROWS[3], "", ",3,4", ",,", "Total,90,91"]
    path.write_text("\n".join(lines) + "\n")
    account, notes = _accounted(path)
    assert (account.rows, account.kept) == (33, 30)
    assert account.gone == {"without an id": 1, "sums of others": 1, "repeated": 1}
    (note,) = [note for note in notes if note.kind == "account"]
    assert note.message == (
        "Of 33 rows in the file 30 were read; 1 without an id, 1 sums of others, 1 repeated."
    )


def test_withdrawn_and_unreadable_and_hidden_rows_are_told(tmp_path):
    path = tmp_path / "r.csv"
    status = ["rejected" if at % 10 == 0 else "approved" for at in range(30)]
    made = [f"{row},{one}" for row, one in zip(ROWS, status, strict=True)]
    path.write_text("\n".join(["item,human,judge,status", *made]) + "\n")
    with pytest.raises(QuestionError, match=r"'status' .* may say which rows are no ratings"):
        _accounted(path)
    assert _accounted(path, status="status")[0].gone == {"withdrawn": 3}
    assert _accounted(path, ignore=("status",))[0].gone == {}
    hidden = tmp_path / "r.xlsx"
    cells = [row.split(",") for row in ROWS]
    frame = pl.DataFrame(cells, schema=["item", "human", "judge"], orient="row")
    write_xlsx(hidden, {"R": frame.cast({"human": pl.Int64, "judge": pl.Int64})})
    from openpyxl import load_workbook

    book = load_workbook(hidden)
    book.active.row_dimensions[5].hidden = True
    book.save(hidden)
    assert _accounted(hidden, hidden="leave-out")[0].gone == {"hidden": 1}
    assert _accounted(hidden, hidden="read")[0].gone == {}


def test_a_row_that_is_lost_without_a_word_is_said_aloud(tmp_path, monkeypatch):
    from voirdire.tables import _records

    path = tmp_path / "r.csv"
    path.write_text("\n".join(["item,human,judge", *ROWS]) + "\n")
    whole = _records._with_ids

    def loses(raw: Any, plan: Any, frame: pl.DataFrame) -> Any:
        kept, notes = whole(raw, plan, frame)
        return kept.head(-2), notes

    monkeypatch.setattr(_records, "_with_ids", loses)
    _, rated = read_file(path, reference=["human"])
    (note,) = [note for note in rated.findings if note.kind == "account_open"]
    assert (note.severity, note.count) == ("serious", 2)
    assert "30 rows, 28 read, none gone; 2 rows too few" in note.message


def test_hidden_rows_of_labels_are_asked_about_as_those_of_scores(tmp_path):
    path = tmp_path / "labels.xlsx"
    words = ["billing", "refund", "login"] * 10
    ids = [f"q{at}" for at in range(30)]
    frame = pl.DataFrame({"item": ids, "human_1": words, "gpt": words[1:] + words[:1]})
    write_xlsx(path, {"R": frame})
    from openpyxl import load_workbook

    book = load_workbook(path)
    book.active.row_dimensions[5].hidden = True
    book.save(path)
    with pytest.raises(QuestionError, match=r"1 row \('5'\) is hidden"):
        tables.read_judged(path, read=ReadOptions())
    found = tables.read_judged(path, read=ReadOptions(hidden="leave-out"))
    assert found is not None
    assert found[1].labels["item"].n_unique() == 29
    assert {note.kind for note in found[1].findings} >= {"hidden_rows", "account"}


def test_what_stands_beside_the_rows_of_a_json_file_is_named(tmp_path):
    path = tmp_path / "r.json"
    rows = [dict(zip(("item", "human", "judge"), row.split(","), strict=True)) for row in ROWS]
    whole = {"results": rows, "version": 2, "dropped": ["q31", "q32"]}
    path.write_text(json.dumps(whole))
    _, notes = _accounted(path)
    (note,) = [note for note in notes if note.kind == "keys_unread"]
    assert (note.severity, note.places) == ("serious", ("version", "dropped"))
    path.write_text(json.dumps({"results": rows, "version": 2}))
    (note,) = [note for note in _accounted(path)[1] if note.kind == "keys_unread"]
    assert note.severity == "note"


@pytest.mark.parametrize("more", [{"has_more": True}, {"next_cursor": "x"}])
def test_one_page_of_several_is_said(tmp_path, more):
    whole = json.loads((FOREIGN / "openai_evals" / "page.json").read_text()) | more
    path = tmp_path / "page.json"
    path.write_text(json.dumps(whole))
    found = read_foreign(path)
    assert [note.severity for note in found.findings if note.kind == "pages_unread"] == ["serious"]
    last = read_foreign(FOREIGN / "openai_evals" / "page.json")
    assert not [note for note in last.findings if note.kind == "pages_unread"]


def test_blank_lines_of_a_large_file_do_not_shift_its_rows(tmp_path, monkeypatch):
    path = tmp_path / "r.csv"
    path.write_text("\n".join(["item,human,judge", *ROWS[:10], "", *ROWS[10:]]) + "\n")
    monkeypatch.setattr("voirdire.tables._files._csv._LARGE", 0)
    account, _ = _accounted(path)
    assert account.rows == 30


def test_an_archive_says_of_each_member(tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name in ("ada", "ben"):
            rows = [
                {
                    "id": at,
                    "text": "t",
                    "label": [("warm", "cold")[at % 2]] if at else [],
                    "Comments": [],
                }
                for at in range(4)
            ]
            archive.writestr(f"{name}.jsonl", "\n".join(map(json.dumps, rows)))
    found = read_foreign(tmp_path / "all.zip")
    assert found.account.gone == {"without a judgement": 2}
    assert (found.account.rows, found.account.kept) == (8, 6)


def _said(path, **keys):
    _, rated = tables.read_file(path, reference=["human"], read=ReadOptions(**keys))
    (account,) = rated.accounts
    told = [f.message for f in rated.findings if f.kind == "account"]
    return account, told[0] if told else ""


SCORED = [(f"i{at}", at % 5 + 1, (at + at // 7) % 5 + 1) for at in range(40)]
LINES = "".join(f"{i},{h},{j}\n" for i, h, j in SCORED)


def test_bytes_of_a_text_above_its_header_are_counted(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(f"# weekly\nAnswers,,\nitem,human,llm\n{LINES}")
    account, said = _said(path)
    assert account.size == path.stat().st_size
    assert dict(account.unread) == {"lines above the header": len("# weekly\nAnswers,,\n")}
    assert "19 were not read: 19 of lines above the header" in said
    path.write_text(f"item,human,llm\n{LINES}")
    account, said = _said(path)
    assert (sum(account.unread.values()), said) == (0, "")


def test_bytes_beside_the_rows_of_json_and_lines_that_cannot_be_read_are_counted(tmp_path):
    rows = [{"item": i, "human": h, "llm": j} for i, h, j in SCORED]
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"made": {"by": "me"}, "rows": rows}))
    account, said = _said(path)
    assert sum(account.unread.values()) == len('{"by": "me"}')
    assert "what stands next to the rows" in said
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join([*map(json.dumps, rows), "{broken"]))
    read = build_study(
        {
            "name": "r",
            "data": {
                "sources": [{"path": "r.jsonl"}],
                "skip_bad_lines": True,
                "reference": ["human"],
            },
        },
        folder=str(tmp_path),
    )
    (account,) = tables.read_tables(read).accounts
    assert dict(account.unread) == {"lines that cannot be read": len("{broken")}


def test_bytes_of_other_sheets_are_counted(tmp_path):
    path = tmp_path / "r.xlsx"
    frames = {
        "scores": pl.DataFrame(SCORED, schema=["item", "human", "llm"], orient="row"),
        "legend": pl.DataFrame({"level": [1, 5], "means": ["weak", "strong"]}),
    }
    write_xlsx(path, frames)
    account, said = _said(path)
    with zipfile.ZipFile(path) as book:
        sizes = {part.filename: part.file_size for part in book.infolist()}
    assert account.size == sum(sizes.values())
    assert account.unread["other sheets"] == sizes["xl/worksheets/sheet2.xml"]
    assert "of other sheets" in said


def test_fields_that_a_reader_does_not_look_at_are_counted_with_their_bytes(tmp_path: Path):
    """By their JSON: what is read, what is empty and what is gone through whole is not among them."""
    rows = ReadingBuilder("notes", "notes.json")
    records = [{"stars": 4, "usage": {"tokens": 12}, "trace": "Größe", "none": None}] * 3
    for place, record in rows.each((f"line {at}", one) for at, one in enumerate(records)):
        rows.rate(place, "ann", "stars", record["stars"])
        assert record.get("text") is None
    account = rows.reading().account
    assert account is not None
    bytes_of = {
        k: 3 * len(json.dumps(records[0][k], ensure_ascii=False).encode())
        for k in ("usage", "trace")
    }
    assert account.unread == {f"the field {name!r}": size for name, size in bytes_of.items()}
    whole = ReadingBuilder("notes", "notes.json")
    for place, record in whole.each([("line 1", records[0])]):
        whole.rate(place, "ann", "stars", {**record}["stars"])
    told = whole.reading().account
    assert told is not None
    assert not told.unread


def test_members_of_an_archive_that_nobody_reads_are_counted():
    rows = ReadingBuilder("notes", "notes.zip")
    rows.archive({"a.json": 10, "b.json": 20, "log.txt": 300, "more.txt": 4}, {"a.json", "b.json"})
    for place, record in rows.each([("a", {"stars": 4})]):
        rows.rate(place, "ann", "stars", record["stars"])
    account = rows.reading().account
    assert account is not None
    assert account.size == 334
    assert account.unread == {"2 members, such as 'log.txt'": 304}


@pytest.mark.parametrize(
    ("head", "rows", "reference", "roles"),
    [
        ("doc,coder,code,batch", [("d1", "JB", "claim", 1), ("d1", "gpt", "claim", 1)], "JB",
         {"doc": "item", "coder": "rater", "code": "label", "batch": "not used"}),
        ("doc,expert,gpt,outlet", [("d", "up", "up", "A")], "expert",
         {"doc": "item", "expert": "label", "gpt": "label", "outlet": "not used"}),
        ("q,left,right,ann,gpt,shown_first", [("q", "m", "n", "m", "n", "left")], "ann",
         {"q": "item", "left": "system", "right": "system", "ann": "winner", "gpt": "winner",
          "shown_first": "order shown"}),
        ("q,model_a,model_b,rater,winner", [("q", "m", "n", "ann", "A"), ("q", "m", "n", "gpt", "B")],
         "ann", {"q": "item", "model_a": "system", "model_b": "system", "rater": "rater",
                 "winner": "winner"}),
    ],
)  # fmt: skip
def test_labels_and_comparisons_have_the_card_of_scores(
    head: str, rows: list[tuple[Any, ...]], reference: str, roles: dict[str, str], tmp_path: Path
):
    """Each column with its role and the reason, in the finding that the audit shows first."""
    lines = [head]
    for at in range(30):
        for row in rows:
            cells = [f"{row[0]}{at}", *map(str, row[1:])]
            turned = {"claim": "none!", "m": "n", "n": "m", "up": "down", "A": "B", "B": "A"}
            lines.append(",".join(turned.get(c, c) if at % 3 == 0 else c for c in cells))
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    found = tables.read_judged(path, reference=(reference,), read=ReadOptions())
    assert found is not None
    assert {column: role for column, role, _ in found[1].columns} == roles
    card = found[1].findings[0]
    assert card.kind == "reading"
    assert [place.partition(": ")[0] for place in card.places] == list(roles)
    unread = [column for column, role in roles.items() if role == "not used"]
    assert all(column in card.consequence for column in unread)
