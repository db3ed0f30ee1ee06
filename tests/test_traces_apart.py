"""Traces and logs in files of their own, and files that are packed: the same runs and ratings."""

import gzip
import json
from pathlib import Path

import pytest
from command_line import typed

from voirdire import TableError, examine
from voirdire.study import build_study
from voirdire.tables import MOST_AT_ONCE, read_foreign, reader_of, unpacked
from voirdire.tables.packed import packing

TRACES = Path(__file__).parent / "foreign" / "traces"
KEY = ["item", "rater", "attribute"]
WHOLE = TRACES / "opentelemetry.jsonl"


def zstd(data, **options):
    module = pytest.importorskip("zstandard", reason="pip install 'voirdire[otlp]'")
    return module.ZstdCompressor(**options).compress(data)


def framed(messages):
    """As a collector's exporter of files writes them: the length in four bytes before each."""
    return b"".join(len(one).to_bytes(4, "big") + one for one in messages)


@pytest.fixture
def apart(tmp_path):
    """The traces and the logs of one file, as a collector's two pipelines write them."""
    lines = WHOLE.read_text().splitlines(keepends=True)
    files = tmp_path / "traces.jsonl", tmp_path / "logs.jsonl"
    for file, signal in zip(files, ("resourceSpans", "resourceLogs"), strict=True):
        file.write_text("".join(line for line in lines if signal in json.loads(line)))
    return files


def rows(reading):
    return reading.ratings.sort(KEY)


@pytest.mark.parametrize("order", [1, -1])
def test_traces_and_logs_are_joined_by_their_ids_whatever_their_order(apart, order):
    first, second = apart[::order]
    found = read_foreign(first, beside=[second])
    assert rows(found).equals(rows(read_foreign(WHOLE)))
    assert "spans_absent" not in {one.kind for one in found.findings}
    examination = examine(list(apart[::order]))
    assert {(one.judge, one.attribute, one.n_pairs) for one in examination.results} == {
        ("gpt-4o", "step_right", 20),
        ("gpt-4o", "resolved", 10),
    }
    assert len(examination.inputs.hashes) == 2


def test_commands_take_both_files(apart, tmp_path):
    for out, more in (("runs.jsonl", ["--messages"]), ("ratings.csv", [])):
        typed("import", *map(str, apart), *more, "--out", str(tmp_path / out))
        typed("import", str(WHOLE), *more, "--out", str(tmp_path / f"whole_{out}"))
        both = [(tmp_path / name).read_text().splitlines() for name in (out, f"whole_{out}")]
        assert sorted(both[0]) == sorted(both[1])


def test_a_study_names_both_and_other_files_beside_them(apart, tmp_path):
    (tmp_path / "more.csv").write_text(
        "item,rater,attribute,score\n" + f"a1{1:030x} step 3,ben,step_right,1\n"
    )
    paths = ["more.csv", "logs.jsonl", "traces.jsonl"]
    study = build_study(
        {
            "name": "steps", "rubric": {"scale": [0, 1], "attributes": [{"name": "step_right"}]},
            "panel": [{"name": "ann", "kind": "human"}, {"name": "ben", "kind": "human"},
                      {"name": "gpt-4o"}],
            "data": {"reference": ["ann"],
                     "sources": [{"path": path} | ({} if path == "more.csv"
                                 else {"only": ["step_right"]}) for path in paths]},
        },
        folder=str(tmp_path),
    )  # fmt: skip
    ratings = examine(study).inputs.ratings
    assert dict(ratings.group_by("rater").len().iter_rows()) == {"ann": 20, "ben": 1, "gpt-4o": 20}


def test_places_name_the_file(apart):
    with apart[1].open("a") as file:
        file.write('{"message": "started"}\n')
    (unused,) = (
        one
        for one in read_foreign(apart[0], beside=[apart[1]]).findings
        if one.kind == "rows_unused"
    )
    assert unused.places == ("logs.jsonl, line 3",)
    assert unused.table == "traces.jsonl and logs.jsonl"
    apart[1].write_text(apart[1].read_text().replace('{"message": "started"}', '{"message'))
    with pytest.raises(TableError, match=r"logs.jsonl, line 3"):
        examine(list(apart))


# Packed


def packed_files():
    lines = WHOLE.read_bytes().splitlines()
    binary = (TRACES / "opentelemetry.binpb").read_bytes()
    messages, at = [], 0
    while at < len(binary):
        size = int.from_bytes(binary[at : at + 4], "big")
        messages.append(binary[at + 4 : at + 4 + size])
        at += 4 + size
    return {
        "a.jsonl.gz": gzip.compress(WHOLE.read_bytes()),
        "a.jsonl.zst": zstd(WHOLE.read_bytes()),
        "two_frames.jsonl.zst": b"".join(zstd(line + b"\n") for line in lines),
        "collector.json": framed(map(zstd, lines)),
        "collector.binpb": framed(map(zstd, messages)),
        "a.binpb.gz": gzip.compress(binary),
        "unsuffixed.jsonl": gzip.compress(WHOLE.read_bytes()),
    }


def test_a_packed_file_is_what_it_holds(tmp_path):
    pytest.importorskip("opentelemetry.proto", reason="pip install 'voirdire[otlp]'")
    want = rows(read_foreign(WHOLE))
    for name, data in packed_files().items():
        path = tmp_path / name
        path.write_bytes(data)
        assert reader_of(path).name == "opentelemetry", name
        assert rows(read_foreign(path)).equals(want), name
        assert len(list(reader_of(path).conversations(path))) == 10


def test_a_packed_file_that_was_cut_is_refused_by_its_name(tmp_path):
    for name, data in packed_files().items():
        for share in (0.6, 0.95):
            path = tmp_path / name
            path.write_bytes(data[: int(len(data) * share)])
            with pytest.raises(TableError) as caught:
                examine(path)
            assert name in str(caught.value)
            assert "cut or damaged" in str(caught.value), name


def test_a_damaged_frame_and_a_bomb_are_refused(tmp_path):
    good = zstd(WHOLE.read_bytes(), write_checksum=True)
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(good[:-2] + bytes([good[-2] ^ 1, good[-1]]))
    with pytest.raises(TableError, match="cut or damaged"):
        read_foreign(path)
    start = WHOLE.read_bytes()[:500]
    path.write_bytes(zstd(start + b"x" * (MOST_AT_ONCE + 1)))
    assert path.stat().st_size < 20_000
    with pytest.raises(TableError, match="over 100,000,000 bytes long"):
        read_foreign(path)


def test_other_formats_say_that_a_file_is_to_be_unpacked(tmp_path):
    log = json.dumps(
        {
            "version": 2,
            "status": "success",
            "eval": {"eval_id": "1", "task": "t", "model": "m"},
            "samples": [],
        }
    )
    path = tmp_path / "log.json.gz"
    path.write_bytes(gzip.compress(log.encode()))
    with pytest.raises(TableError, match=r"packed by gzip.*inspect_ai.*unpack it first"):
        read_foreign(path)


def test_what_is_not_packed_is_read_as_it_is(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("a,b\n")
    assert packing(path) == packing(tmp_path / "absent") == ""
    with unpacked(path) as file:
        assert file.read() == b"a,b\n"
