"""What others wrote moves no terminal: control characters are written out."""

from __future__ import annotations

from command_line import typed


def test_ids_and_messages_with_escapes(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("item,human,judge\nx\x1b[31m,,1\nb,2,2\nc,3,5\n")
    audited = typed("audit", path)
    assert r"item x\x1b[31m" in audited.stdout
    path.write_text("item,human,judge\nx\x1b[31m,good,1\nb,2,2\nc,3,5\n")
    failed = typed("audit", path)
    assert failed.returncode == 1
    assert r"(item 'x\x1b[31m')" in failed.stderr
    assert "\x1b" not in audited.stdout + failed.stderr


def test_names_of_raters_systems_and_attributes_with_escapes(tmp_path):
    red = "\x1b[31m"
    header = "item,system,rater,attribute,score\n"
    rows = [
        f"{item},{system}{red},{rater}{red},Calm{red},{(at + bump) % 5 + 1}\n"
        for at, item in enumerate("abcdefgh")
        for system in ("x", "y")
        for rater, bump in (("human", 0), ("judge", at % 2))
    ]
    path = tmp_path / f"r{red}.csv"
    path.write_text(header + "".join(rows))
    done = typed(
        "examine",
        path,
        "--resamples",
        "0",
        "--measure",
        "icc",
        "-o",
        tmp_path / f"o{red}",
        "--format",
        "md",
    )
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    for name in ("judge", "Calm", "human", "r", "o"):
        assert rf"{name}\x1b[31m" in "".join(done.stdout.split()), name


def test_a_terminal_without_a_letter_is_told_its_number(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("item,human,judge\n\u732b,,1\nb,2,2\nc,3,5\n", encoding="utf-8")
    audited = typed("audit", path, PYTHONIOENCODING="ascii")
    assert (audited.returncode, audited.stderr) == (0, "")
    assert r"item \u732b" in audited.stdout
