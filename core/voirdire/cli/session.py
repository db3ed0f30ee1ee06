"""`voirdire session`: look at a session, and derive its tables anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from voirdire.cli.machine import answer_of, collect, emit
from voirdire.cli.options import JsonOption, SharedOption
from voirdire.shown import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

STATUS = """
Examples:

  voirdire session status a

  voirdire session status a --json
"""
SHOW = """
Examples:

  voirdire session show a

  voirdire session show a --item p1 --rater north

  voirdire session show a --failed --most 5

  voirdire session show a --item p1 --rater debate --sent
"""
REPARSE = """
Examples:

  voirdire session reparse a
"""

MERGE = """
Examples:

  voirdire session merge a b c --out all
"""

BATCHES = """
Examples:

  voirdire session batches a

  voirdire session batches a --cancel
"""

CHECK = """
Examples:

  voirdire session check a

  voirdire session check a --private

It ends with exit code 1 where something is damaged or a table is not as it was written.
"""

WHERE = """
Examples:

  voirdire session where a
"""
FORGET = """
Examples:

  voirdire session forget texts a

  voirdire session forget texts a --yes

  voirdire session forget raters a --yes
"""

FolderArgument = Annotated[
    Path, typer.Argument(help="The folder of the session.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(
        help="Look at a session, or read its stored replies again.", no_args_is_help=True
    )
    group.command("status", epilog=STATUS)(status)
    group.command("show", epilog=SHOW)(show)
    group.command("reparse", epilog=REPARSE)(reparse)
    group.command("merge", epilog=MERGE)(merge)
    group.command("batches", epilog=BATCHES)(batches)
    group.command("check", epilog=CHECK)(check)
    group.command("where", epilog=WHERE)(where)
    group.command("forget", epilog=FORGET)(forget)
    app.add_typer(group, name="session")


def status(folder: FolderArgument, as_json: JsonOption = False) -> None:
    """Show how far each rater is, what failed and what it cost, also during a run."""
    from voirdire.cli.run import print_result
    from voirdire.running import session_status

    result = session_status(folder)
    if as_json:
        told = "Complete." if result.complete else "Not complete."
        emit(answer_of(told), json.loads(result.to_json()))
        return
    print_result(result)
    for one in result.calls:
        typer.echo(f"{visible(one.model)}: {one}")
    typer.echo("Complete." if result.complete else "Not complete.")


def show(
    folder: FolderArgument,
    item: Annotated[
        str | None, typer.Option("--item", help="Show only this item.", show_default=False)
    ] = None,
    rater: Annotated[
        str | None, typer.Option("--rater", help="Show only this rater.", show_default=False)
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Show only calls that failed.")] = False,
    sent: Annotated[
        bool,
        typer.Option("--sent", help="Show what was sent too, so that a debate can be followed."),
    ] = False,
    most: Annotated[int, typer.Option("--most", min=1, help="The most calls to show.")] = 20,
) -> None:
    """Show single calls: the replies as they came, calls of tools and their results, faults."""
    from voirdire.secrets import Hider, environment_keys
    from voirdire.store import replies_frame

    # A provider may repeat a key in its error, and what is shown here is pasted into issues.
    hide = Hider(environment_keys().values())
    frame = replies_frame(folder)
    for column, wanted in (("item", item), ("rater", rater)):
        if wanted is not None:
            frame = frame.filter(frame[column] == wanted)
    if failed:
        frame = frame.filter(frame["error"].is_not_null())
    if sent:  # as it is read, and not in the order in which replies happened to come
        frame = frame.sort("rater", "item", "first", "second", "run", "step", maintain_order=True)
    told = _ToldMessages(folder, sent=sent)
    for rows in _alike(frame.head(most).iter_rows(named=True)):
        lines = [_attempt(rows[0], told.before(rows[0])), *_calls(rows[0])]
        if len(rows) > 1:
            where = ", ".join(dict.fromkeys(_about(row) for row in rows[1:4]))
            more = f" and {len(rows) - 4} more" if len(rows) > 4 else ""
            lines.append(f"    {len(rows)} calls failed so; the others on {where}{more}")
        typer.echo(hide("\n".join(lines)))
    if frame.height > most:
        typer.echo(f"... and {frame.height - most} more (--most)")
    kept = ("rater", "item", "first", "second", "run", "step", "status", "error", "text")
    calls = [
        {name: hide(row[name]) if isinstance(row[name], str) else row[name] for name in kept}
        for row in frame.head(most).iter_rows(named=True)
    ]
    summary = f"{frame.height:,} calls, of which {len(calls)} are shown."
    collect(answer_of(summary, more=frame.height - len(calls)), {"calls": calls})


def reparse(folder: FolderArgument) -> None:
    """Read all stored replies again and rewrite the tables. No model is asked."""
    from voirdire import store

    tables = store.reparse(folder)
    for name, rows in tables.items():
        typer.echo(f"{name}: {rows:,} rows")
    collect(answer_of(f"Wrote {len(tables)} tables of {folder} again."), {"tables": tables})


def check(
    folder: FolderArgument,
    private: Annotated[
        bool, typer.Option("--private", help="Take from others what they may read of the session.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """See whether a session is as it was written: each text, each file, and who may read it."""
    from dataclasses import asdict

    from voirdire.cli import BAD_INPUT, OK
    from voirdire.store.health import check_session, make_private

    changed = make_private(folder) if private else 0
    problems = check_session(folder)
    wrong = any(one.kind in {"damaged", "changed_database", "changed_table"} for one in problems)
    if as_json:
        rows = [{**asdict(one), "remedy": one.remedy} for one in problems]
        told = "Something is wrong." if wrong else "Every text is as it was kept."
        emit(answer_of(told, "unmet" if wrong else "ok"), {"sound": not wrong, "problems": rows})
    else:
        if private:
            typer.echo(f"Made private: {changed:,} files and folders.")
        for one in problems:
            words = one.kind.replace("_", " ")
            typer.echo(f"{words}: {one.where}, {one.count:,}: {visible(one.detail)} ({one.remedy})")
        typer.echo("Something is wrong." if wrong else "Every text is as it was kept.")
    raise typer.Exit(BAD_INPUT if wrong else OK)


def where(folder: FolderArgument) -> None:
    """List the files that hold what people and models wrote: the session's, and its study's."""
    from voirdire.store.forgetting import where_texts_are

    files = where_texts_are(folder)
    for one in files:
        typer.echo(f"{visible(one.path)}: {one.what}")
    collect(
        answer_of(f"{len(files)} files hold what people and models wrote."),
        {"files": [{"path": str(one.path), "what": one.what} for one in files]},
    )


def forget(
    what: Annotated[
        Literal["texts", "raters"],
        typer.Argument(help="What: texts, or the names of people who rated.", show_default=False),
    ],
    folder: FolderArgument,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do it; without it, only what it would do is said.")
    ] = False,
) -> None:
    """Drop what was written, or people's names, and keep every number. It cannot be undone."""
    from voirdire.store.forgetting import forget_raters, forget_texts, where_texts_are

    if what == "raters":
        if not yes:
            typer.echo(
                "People would be called human_1, human_2, ... in the session, and notes beside "
                "their labels dropped; their ratings are kept in it. Do it by --yes."
            )
            _forgot("Nothing was done: --yes is not there.", done=False)
            return
        renamed = forget_raters(folder)
        typer.echo(f"Renamed: {renamed.people:,} people, {renamed.ratings:,} ratings kept.")
        for path in renamed.files:
            typer.echo(f"  {visible(path)}: names them still; remove it where they shall be gone")
        told = f"Renamed: {renamed.people:,} people, {renamed.ratings:,} ratings kept."
        _forgot(told, done=True, files=[str(path) for path in renamed.files])
        return
    if not yes:
        typer.echo(
            "Texts of items, responses, prompts and replies would be dropped from the session; "
            "scores, statuses, tokens and costs stay. Replies cannot be read again, and nothing "
            "more can be asked in it. Do it by --yes."
        )
        _forgot("Nothing was done: --yes is not there.", done=False)
        return
    done = forget_texts(folder)
    typer.echo(f"Forgotten: {done.replies:,} replies and {done.texts:,} other texts.")
    left = where_texts_are(folder)
    if left:
        typer.echo("These files hold texts or names still; remove them where they shall go too:")
    for one in left:
        typer.echo(f"  {visible(one.path)}: {one.what}")
    told = f"Forgotten: {done.replies:,} replies and {done.texts:,} other texts."
    _forgot(told, done=True, files=[str(one.path) for one in left])


def _forgot(said: str, *, done: bool, files: Sequence[str] = ()) -> None:
    """Give a program what was dropped, and the files that hold it still."""
    collect(answer_of(said), {"done": done, "files": list(files)})


def batches(
    folder: FolderArgument,
    cancel: Annotated[
        bool,
        typer.Option("--cancel", help="Ask the providers to stop the batches under way."),
    ] = False,
) -> None:
    """List the batches of a session, or cancel those under way."""
    from contextlib import closing

    from voirdire.running import cancel_batches
    from voirdire.store import read_session
    from voirdire.store.batches import all_batches
    from voirdire.store.raters import model_name

    for batch in cancel_batches(folder) if cancel else ():
        typer.echo(f"{batch.name} is asked to stop. What it answered before is billed.")
    with closing(read_session(folder)) as connection:
        kept = all_batches(connection)
    for batch in kept:
        model, detail = visible(model_name(batch.model)), visible(batch.detail)
        more = f" ({detail})" if detail else ""
        typer.echo(f"{batch.name}: {model}, {batch.lines:,} lines, {batch.status}{more}")
    if not kept:
        typer.echo("The session has no batches.")
    rows = [
        {
            "name": one.name,
            "model": model_name(one.model),
            "lines": one.lines,
            "status": one.status,
            "detail": one.detail,
        }
        for one in kept
    ]
    collect(answer_of(f"{len(rows)} batches."), {"batches": rows})


def merge(
    folders: Annotated[
        list[Path], typer.Argument(help="The folders of the sessions.", show_default=False)
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder of the new session.", show_default=False)
    ],
    shared: SharedOption = False,
) -> None:
    """Merge sessions of one study. Each call is kept once, and costs are added up."""
    from voirdire.store.merging import merge_sessions

    tables = merge_sessions(folders, out, shared=shared)
    for name, rows in tables.items():
        typer.echo(f"{name}: {rows:,} rows")
    typer.echo(f"How far it is: voirdire session status {out}")
    step = {"say": "How far it is.", "command": f"voirdire session status {out}"}
    collect(
        answer_of(f"Merged {len(folders)} sessions into {out}.", next=[step]), {"tables": tables}
    )


class _ToldMessages:
    """What raters were told before each reply, each message once a task."""

    def __init__(self, folder: Path, *, sent: bool) -> None:
        self.folder, self.sent = folder, sent
        self._said: dict[Any, set[tuple[str, str]]] = {}

    def before(self, row: Mapping[str, Any]) -> list[str]:
        """The messages that came new with this step: all of them, or the results of tools alone."""
        from voirdire.store.replies import shown_messages

        if row["stage"] == "generate" or not (self.sent or row["step"]):
            return []
        task = (row["rater"], row["item"], row["first"], row["run"])
        messages = shown_messages(self.folder, *task)
        seen = self._said.setdefault(task, set())
        lines = []
        for one in messages:
            key = (one.role, one.text)
            if one.step == row["step"] and key not in seen:
                seen.add(key)
                who = f"result of {one.tool}" if one.role == "tool" else f"sent, as {one.role}"
                if self.sent or one.role == "tool":
                    lines.append(f"    {_plain(who)}: {_lines(one.text)}")
        return lines


def _calls(row: Mapping[str, Any]) -> list[str]:
    """The calls of tools that a reply made."""
    return [f"    calls {_plain(call)}" for call in str(row["calls"] or "").splitlines()]


def _lines(text: str) -> str:
    """A text of several lines, each set in, so that none can pass for one of ours."""
    return visible(text).replace("\n", "\n        ")


def _alike(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Calls as they came, those that failed alike one after the other together."""
    together: list[dict[str, Any]] = []
    for row in rows:
        same = row["error"] and together and all(row[key] == together[0][key] for key in _ALIKE)
        if together and not same:
            yield together
            together = []
        together.append(row)
    if together:
        yield together


_ALIKE = ("rater", "role", "run", "step", "error", "message")


def _about(row: Mapping[str, Any]) -> str:
    return " / ".join(_plain(row[key]) for key in ("item", "first", "second") if row[key])


def _attempt(row: Mapping[str, Any], told: Sequence[str]) -> str:
    """One attempt as text; control characters of a hostile reply are made visible."""
    about = _about(row)
    role = f" as {_plain(row['role'])}" if row["role"] else ""
    head = f"{_plain(row['rater'])}{role} on {about}, run {row['run']}, step {row['step']}: "
    if row["error"]:
        return "\n".join([head + f"{row['error']}: {_plain(row['message'])}", *told])
    counts = f"{row['input']} + {row['output']} tokens, {row['latency']:.2f} s"
    notes = f", {_plain(row['notes'])}" if row["notes"] else ""
    what = f"{row['finish_reason']}, {row['status']}, {counts}{notes}"
    return "\n".join([head + what, *told, *filter(None, [f"    {_plain(row['text'])}".rstrip()])])


def _plain(text: object) -> str:
    """In one line."""
    return visible(text or "").replace("\n", "\\n")
