"""`voirdire mcp`: a client's walk through every tool, and what no client may do."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import typed
from test_programs import wrong

from voirdire.cli.folders import Folders
from voirdire.cli.offered import ALWAYS_PAID, PAID, TOOLS, arguments_schema, offered, words_of
from voirdire.cli.schemas import every_command, schema_of
from voirdire.errors import InputError

EXAMPLES = Path(__file__).parents[1] / "examples"
NEEDS_MCP = "pip install 'voirdire[mcp]'"


@pytest.fixture
def work(tmp_path):
    """A folder with examples, beside one that the server must not see."""
    for name in ("correct", "run", "gate"):
        shutil.copytree(EXAMPLES / name, tmp_path / "data" / name)
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(EXAMPLES / "correct" / "answers.csv", tmp_path / "elsewhere")
    return tmp_path / "data"


def words(tool, folder, texts=False, **arguments):
    named = {key.rstrip("_").replace("_", "-"): value for key, value in arguments.items()}
    return words_of(tool, named, Folders((folder,)), texts=texts)


# --- without the extra: what is typed for a call ---


def test_every_tool_is_a_command_and_offers_options_that_it_has():
    commands = every_command()
    for tool, command in TOOLS.items():
        assert command in commands
        shown = typed(*command.split(), "--help", COLUMNS="200").stdout
        schema = arguments_schema(tool, texts=True)
        for name, what in offered(tool, texts=True).items():
            place = schema["properties"].get("read", {}) if what.reads else schema
            assert name in place["properties"]
            assert what.place or f"--{name}" in shown, (tool, name)
        assert set(schema["required"]) <= set(schema["properties"])
        assert ("go" in schema["properties"]) == (tool in PAID)
        assert "max-cost" in schema["required"] or tool not in ALWAYS_PAID


def test_a_call_is_typed_so_that_no_value_becomes_an_option(work):
    found = words(
        "examine",
        work,
        source=["correct/answers.csv"],
        reference=["human", "--help"],
        gate="4",
        no_figures=True,
        read={"judge": ["judge"], "assume": False},
    )
    assert found == [
        "examine", "correct/answers.csv", "--reference=human", "--reference=--help",
        "--judge=judge", "--gate=4", "--no-figures", "--json",
    ]  # fmt: skip
    assert words("compare", work, b="run", a="correct")[:3] == ["compare", "correct", "run"]
    dashed = words("item", work, source="correct/answers.csv", name="--help")
    assert dashed == ["item", "--json", "--", "correct/answers.csv", "--help"]


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("plan", {"source": "correct/answers.csv", "half_widht": "1"}, "did you mean 'half-width'"),
        ("plan", {"source": "correct/answers.csv", "read": {"scores": "a"}}, "key 'scores' is unknown"),
        ("plan", {"source": "correct/answers.csv", "read": "score"}, "an object of options"),
        ("plan", {"source": ["correct/answers.csv"]}, "string is asked for"),
        ("plan", {"source": "correct/answers.csv", "as_json": True}, "argument 'as-json' is unknown"),
        ("plan", {}, "say 'source'"),
        ("run", {"study": "run/study.toml", "out": "s"}, "say 'max-cost'"),
        ("examine", {"source": ["correct/answers.csv"], "with_text": True}, "'with-text' is unknown"),
        ("examine", {"source": ["correct/none.csv"]}, "there is no such file"),
        ("examine", {"source": ["mentalalign"]}, "there is no such file"),
        ("examine", {"source": ["correct/answers.csv"], "data": "."}, "argument 'data' is unknown"),
    ],
)  # fmt: skip
def test_what_a_tool_has_not_is_named(work, tool, arguments, says):
    with pytest.raises(InputError, match=says):
        words(tool, work, **arguments)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("examine", {"source": ["../elsewhere/answers.csv"]}),
        ("examine", {"source": ["/etc/passwd"]}),
        ("examine", {"source": ["~/x.csv"]}),
        ("examine", {"source": ["link/answers.csv"]}),
        ("examine", {"source": ["../elsewhere/*.csv"]}),
        ("examine", {"source": ["correct/answers.csv"], "out": "../elsewhere/report"}),
        ("examine", {"source": ["correct/answers.csv"], "out": "link/new/report"}),
        ("examine", {"source": ["correct/answers.csv"], "read": {"human": ["../elsewhere/answers.csv"]}}),
        ("examine", {"source": ["correct/answers.csv"], "read": {"answer": ["human=/etc/passwd"]}}),
        ("correct", {"source": "correct/answers.csv", "errors_from": "link/answers.csv"}),
        ("correct", {"source": "correct/answers.csv", "drawn": "../elsewhere/answers.csv"}),
        ("gate_check", {"source": "correct/answers.csv", "lock": "../elsewhere/judge.lock"}),
        ("run", {"study": "away.toml", "out": "s", "max_cost": 1}),
        ("run", {"study": "run/study.toml", "out": "/tmp/away", "max_cost": 1}),
        ("examine", {"source": ["session"]}),
    ],
)  # fmt: skip
def test_no_file_outside_the_folders_is_named(work, tool, arguments):
    (work / "link").symlink_to(work.parent / "elsewhere")
    away = '[items]\npath = "../elsewhere/answers.csv"\n[[panel]]\nname = "a"\nuse = "rubric"\n'
    (work / "away.toml").write_text(away)
    (work / "session").mkdir()
    (work / "session" / "study.toml").write_text(away.replace("../else", "../../else"))
    with pytest.raises(InputError, match="lies in none of the folders"):
        words(tool, work, **arguments)


def test_texts_are_offered_where_they_are_allowed(work):
    found = words("examine", work, texts=True, source=["correct/answers.csv"], with_text=True)
    assert "--with-text" in found


# --- with the extra: a client's walk over standard input and output ---


async def walked(folder, walk, *more):
    import mcp

    command = ["-m", "voirdire", "mcp", "--folder", str(folder), *more]
    server = mcp.StdioServerParameters(command=sys.executable, args=command)
    async with mcp.Client(mcp.stdio_client(server)) as client:
        return await walk(client)


def walking(folder, walk, *more):
    pytest.importorskip("mcp", reason=NEEDS_MCP)
    return asyncio.run(asyncio.wait_for(walked(folder, walk, *more), 300))


async def asked(client, tool, **arguments):
    """What a tool gives, by its own schema, and the whole of it by the command's."""
    named = {key.rstrip("_").replace("_", "-"): value for key, value in arguments.items()}
    found = await client.call_tool(tool, named)
    record = found.structured_content
    (tools,) = [one for one in (await client.list_tools()).tools if one.name == tool]
    assert wrong(record, tools.output_schema) == []
    assert json.loads(found.content[0].text) == record
    assert found.is_error == (record["answer"]["state"] == "error")
    whole = json.loads((await client.read_resource(record["whole"])).contents[0].text)
    assert whole["answer"] == record["answer"]
    if "budget" not in record:
        assert wrong(whole, schema_of(TOOLS[tool])) == []
    return record, whole


def test_a_client_walks_from_files_to_a_report(work):
    async def walk(client):
        skill = (await client.read_resource("voirdire://skill")).contents[0].text
        assert "Never conclude" in skill
        said = {"reference": ["human"]}
        record, whole = await asked(
            client, "examine", source=["correct/answers.csv"], out="report", no_figures=True, **said
        )
        printed = typed(
            "examine",
            "correct/answers.csv",
            "--reference=human",
            "--out=report",
            "--no-figures",
            "--json",
            cwd=work,
        ).stdout
        assert whole == json.loads(printed)
        assert record["answer"]["states"]["judge"]["estimate"] == "yes"
        listed = {one.uri for one in (await client.list_resources()).resources}
        tables = (work / "report" / "tables.md").as_uri()
        assert tables in listed
        assert (work / "report" / "report.html").as_uri() not in listed
        assert "judge" in (await client.read_resource(tables)).contents[0].text
        page = (await client.read_resource("voirdire://docs/verdict")).contents[0].text
        assert page.startswith("# How the verdict was tested")
        schema = (await client.read_resource("voirdire://schemas/gate%20check")).contents[0].text
        assert json.loads(schema) == schema_of("gate check")
        for tool, more in (
            ("correct", {"compare": ["new,old"], **said}),
            ("plan", {"half_width": "0.05", **said}),
        ):
            record, _ = await asked(client, tool, source="correct/answers.csv", **more)
            assert record["answer"]["state"] == "ok"
        record, _ = await asked(
            client, "compare", a="correct/answers.csv", b="correct/answers.csv", **said
        )
        assert record["answer"]["state"] == "ok"
        item = next(iter((work / "correct" / "answers.csv").read_text().splitlines()[1:])).split(
            ","
        )[0]
        _, whole = await asked(client, "item", source="correct/answers.csv", name=item)
        assert whole["tables"]

    walking(work, walk)


def test_a_question_is_answered_by_its_own_key(tmp_path):
    rows = [f"q{k},{1 + k % 5},{1 + k * 3 % 5},{1 + k * 2 % 5}" for k in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["item,human,north,south", *rows]))

    async def walk(client):
        said = {"source": ["t.csv"], "reference": ["human"]}
        record, _ = await asked(client, "examine", **said)
        assert record["answer"]["state"] == "question"
        answers = [f"{one['key']}={one['choices'][0]}" for one in record["questions"]]
        record, _ = await asked(client, "examine", **said, read={"answer": answers})
        assert record["answer"]["state"] == "ok"

    walking(tmp_path, walk)


def test_nobody_is_asked_before_the_budget_was_shown(work):
    call = {"study": "run/study.toml", "out": "session", "max_cost": 1.0}

    async def walk(client):
        record, whole = await asked(client, "run", **call)
        assert record["answer"]["state"] == "question"
        assert "at most 1" in record["answer"]["sentence"]
        assert (whole["calls"], record["budget"]["max_cost"]) == (624, 1.0)
        assert not (work / "session").exists()
        mark = record["budget"]["go"]
        for other in ({"max_cost": 2.0}, {"out": "other"}, {"go": "0" * 12}):
            record, _ = await asked(client, "run", **{**call, "go": mark, **other})
            assert record["answer"]["state"] == "question"
        study = work / "run" / "study.toml"
        before = study.read_text()
        study.write_text(before + "\n# another study\n")
        record, _ = await asked(client, "run", **call, go=mark)
        assert record["answer"]["state"] == "question"
        study.write_text(before)
        record, _ = await asked(client, "run", **{**call, "max_cost": 9}, go=mark)
        assert "above the 5 that this server allows" in record["answer"]["sentence"]
        assert not (work / "session").exists()
        record, whole = await asked(client, "run", **call, go=mark)
        assert (whole["complete"], whole["calls"]) == (True, 624)
        record, _ = await asked(
            client,
            "tune",
            study="run/study.toml",
            judge="north",
            for_="single",
            out="tuned",
            max_cost=1,
        )
        assert record["answer"]["state"] == "question"
        assert not (work / "tuned").exists()

    walking(work, walk, "--max-cost", "5")


def test_a_gate_is_checked_and_one_that_asks_shows_its_budget(work):
    for line in ("run study.toml --out first", "gate freeze first --as judge.lock"):
        assert typed(*line.split(), cwd=work / "gate").returncode == 0

    async def walk(client):
        record, _ = await asked(client, "gate_check", source="gate/first", lock="gate/judge.lock")
        assert "no change shown" in record["answer"]["sentence"]
        call = {"source": "gate/study.toml", "lock": "gate/judge.lock"}
        record, _ = await asked(client, "gate_check", **call)
        assert "say max-cost" in record["answer"]["sentence"]
        record, _ = await asked(client, "gate_check", **call, max_cost=1)
        assert record["answer"]["state"] == "question"
        record, _ = await asked(client, "gate_check", **call, max_cost=1, go=record["budget"]["go"])
        assert "no change shown" in record["answer"]["sentence"]

    walking(work, walk)


def test_pages_with_texts_are_read_only_where_texts_are_allowed(work):
    (work / "notes.md").write_text("what a patient said")
    for line in (
        "examine answers.csv --reference human --out report --no-figures --format html,json",
        "compare answers.csv answers.csv --reference human --out report --format json,md",
    ):
        assert typed(*line.split(), cwd=work / "correct").returncode == 0
    report = work / "correct" / "report"

    async def read(client):
        from mcp.shared.exceptions import MCPError

        found = []
        for name in ("results.json", "report.html", "compared.md", "../../notes.md"):
            with suppress(MCPError):
                await client.read_resource((report / name).resolve().as_uri())
                found.append(name)
        return found

    assert walking(work, read) == ["results.json"]
    assert walking(work, read, "--texts") == ["results.json", "report.html", "compared.md"]


def test_a_call_that_is_taken_back_ends_its_command_and_the_server_stays(work):
    async def walk(client):
        call = {"source": "correct/answers.csv", "half-width": "0.05", "reference": ["human"]}
        task = asyncio.create_task(client.call_tool("plan", call))
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        record, _ = await asked(client, "plan", **{k.replace("-", "_"): v for k, v in call.items()})
        assert record["answer"]["state"] == "ok"
        with pytest.raises(Exception, match="no tool 'erase'"):
            await client.call_tool("erase", {})

    walking(work, walk)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    done = typed("mcp", "--folder", tmp_path / "none")
    assert (done.returncode, "there is no such folder" in done.stderr) == (1, True)
