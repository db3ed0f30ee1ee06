"""The page's server: what it lets through, what it keeps, and that it stays quick."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from urllib.parse import urlsplit

import polars as pl
import pytest
from command_line import typed
from humans_work import HOSTILE, LEVELS, SYSTEMS, write_csv, write_study

from voirdire import InputError, SessionError
from voirdire.humans import DATABASE, PageServer, import_answers, make_plan


class Page:
    """A server in a thread, and requests to it as a browser sends them."""

    def __init__(self, folder, plan):
        self.folder, self.plan = folder, plan
        self.server = PageServer(plan, folder / DATABASE)
        self.tokens = {r: urlsplit(link).fragment for r, link in self.server.links.items()}
        self.port = urlsplit(self.server.address).port
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        self.line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def close(self):
        self.line.close()
        self.server.stop()
        self.thread.join()
        self.server.__exit__()

    def ask(self, path, rater="ann", method="GET", body=None, **headers):
        head = {"Authorization": f"Bearer {self.tokens.get(rater, rater)}", **headers}
        self.line.request(method, path, body, head)
        reply = self.line.getresponse()
        return reply, reply.read()

    def put(self, ident, question, answer, rater="ann"):
        body = json.dumps({"question": question, "answer": answer})
        reply, said = self.ask(f"/api/judgement/{ident}", rater, "PUT", body)
        return reply.status, json.loads(said)

    def work(self, rater="ann"):
        return json.loads(self.ask("/api/work", rater)[1])


@pytest.fixture
def page(tmp_path):
    made = []

    def start(task, folder=tmp_path / "work", **kw):
        plan, _ = make_plan(write_study(tmp_path, task, **kw), folder)
        made.append(Page(folder, plan))
        return made[-1]

    yield start
    for one in made:
        one.close()


def test_answers_are_kept_at_once_and_come_back(page, tmp_path):
    served = page("pairwise")
    work = served.work()
    assert (work["rater"], work["at"], set(work["open"])) == ("ann", 0, {3})
    first, second = work["ids"][:2]
    assert served.put(first, "Overall", "A is much better than B") == (200, {"open": 2})
    assert served.put(second, "Overall", "A and B are about the same") == (200, {"open": 2})
    assert served.put(second, "Overall", None) == (200, {"open": 3})
    assert served.put(second, "Overall", "B is slightly better than A") == (200, {"open": 2})
    # Read while the page is still served, and before anything was closed.
    found = import_answers(served.folder, [], tmp_path / "answers").tables["preferences"]
    assert sorted(found["score"].drop_nulls().abs()) == [1, 2]
    assert served.work()["at"] == 1
    shown = json.loads(served.ask(f"/api/judgement/{second}")[1])
    assert shown["answers"] == {"Overall": "B is slightly better than A"}
    assert {title for title, _ in shown["shown"]} == {"Text", "Response A", "Response B"}


def test_a_new_start_goes_on_with_the_same_tokens(page):
    served = page("labels")
    ident = served.work()["ids"][0]
    served.put(ident, "Labels", ["Labeling"])
    again = Page(served.folder, served.plan)
    try:
        assert again.tokens == served.tokens
        assert again.work()["open"][0] == 0
    finally:
        again.close()


def test_the_download_is_a_sheet_that_import_takes(page, tmp_path):
    served = page("nested")
    work = served.work()
    served.put(work["ids"][0], "Situation", "=1+1, she said; 'quite so'")
    served.put(work["ids"][0], "Beliefs", ["Helpless"])
    served.put(work["ids"][0], "Beliefs: Helpless", ["I am stuck", "I am needy"])
    served.put(work["ids"][1], "Beliefs", ["Helpless"])
    served.put(work["ids"][1], "Beliefs: Helpless", ["I am stuck"])
    served.put(work["ids"][1], "Beliefs", ["Unlovable"])  # what stood under Helpless is gone
    reply, text = served.ask("/api/answers.csv")
    assert reply.status == 200
    (tmp_path / "mine.csv").write_bytes(text)
    by_page = import_answers(served.folder, [], tmp_path / "a").tables
    by_sheet = import_answers(served.folder, [tmp_path / "mine.csv"], tmp_path / "b").tables
    assert by_page["texts"]["text"].drop_nulls().to_list() == ["=1+1, she said; 'quite so'"]
    for name, frame in by_page.items():
        assert frame.equals(by_sheet[name])
    assert by_page["ratings"].filter(attribute="I am stuck")["score"].drop_nulls().to_list() == [
        1,
        0,
    ]


def test_only_this_machine_is_answered(page):
    served = page("pairwise")
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::", ""):
        for path in ("/", "/page.js", "/api/work"):
            reply, body = served.ask(path, Host=host)
            assert reply.status == 421, (host, path)
            assert b"another name" in body
    for host in ("localhost", f"127.0.0.1:{served.port}", "[::1]:9000"):
        assert served.ask("/", Host=host)[0].status == 200
    with pytest.raises(InputError, match=r"'0.0.0.0' can be reached from other machines"):
        PageServer(served.plan, served.folder / DATABASE, "0.0.0.0")
    with pytest.raises(InputError, match=f"127.0.0.1:{served.port} cannot be opened"):
        PageServer(served.plan, served.folder / DATABASE, port=served.port)
    with PageServer(served.plan, served.folder / DATABASE, "0.0.0.0", network=True) as open_page:
        assert open_page.links


def test_one_rater_sees_and_answers_nothing_of_another(page):
    served = page("pairwise")
    theirs = served.work("ben")["ids"][0]
    reply, body = served.ask(f"/api/judgement/{theirs}", "ann")
    assert (reply.status, b"among yours" in body) == (400, True)
    status, said = served.put(theirs, "Overall", "A is much better than B", "ann")
    assert status == 400
    assert "among yours" in said["error"]
    for token in ("", "nobody", "é"):
        reply, body = served.ask("/api/work", token.encode().decode("latin-1"))
        assert reply.status == 401
    assert b"ben" not in served.ask("/api/work", "ann")[1]
    assert served.work("ben")["open"] == [3] * 8


@pytest.mark.parametrize(
    ("question", "answer", "message"),
    [
        ("Overall", "A is splendid", "'A is splendid' is off the scale"),
        ("Overall", ["A is much better than B"], "is no text"),
        ("Overall", 2, "2 is no text"),
        ("Humour", "A is much better than B", "there is no question 'Humour'"),
    ],
)
def test_answers_that_cannot_be_are_refused(page, question, answer, message):
    served = page("pairwise")
    status, said = served.put(served.work()["ids"][0], question, answer)
    assert status == 400
    assert message in said["error"]


def test_labels_beyond_the_most_and_texts_beyond_measure_are_refused(page):
    served = page("nested")
    ident = served.work()["ids"][0]
    four = ["Mind reading", "Labeling", "Mental filter", "Fortune-telling"]
    assert "at most 3" in served.put(ident, "Distortions", four)[1]["error"]
    assert "characters" in served.put(ident, "Situation", "a" * 30_000)[1]["error"]
    reply, _ = served.ask(
        f"/api/judgement/{ident}", "ann", "PUT", "x", **{"Content-Length": "300000"}
    )
    assert reply.status == 413
    for body in ("no json", "[]", '{"question": "Situation"}', '"\\ud800"', "[" * 100_000):
        reply, said = served.ask(f"/api/judgement/{ident}", "ann", "PUT", body)
        assert reply.status == 400, said
    assert served.put(ident, "Situation", "a lone \ud800 surrogate")[0] == 200
    assert served.ask("/api/answers.csv")[0].status == 200


def test_every_answer_forbids_what_the_page_does_not_need(page):
    served = page("pairwise")
    for path in ("/", "/page.css", "/page.js", "/api/work", "/nothing", "/../page.js"):
        reply, _ = served.ask(path)
        assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
        assert "unsafe" not in reply.headers["Content-Security-Policy"]
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Cache-Control"] == "no-store"
    assert served.ask("/nothing")[0].status == 404
    assert served.ask("/", method="DELETE")[0].status == 501


def test_the_server_tells_no_system(page):
    served = page("pairwise")
    work = served.work()
    shown = [served.ask(f"/api/judgement/{ident}")[1].decode() for ident in work["ids"]]
    everything = json.dumps(work) + "".join(shown)
    assert not [name for name in SYSTEMS if name in everything]
    assert any(json.dumps(HOSTILE) in text for text in shown)


def test_a_second_tab_of_one_rater_is_told(page):
    served = page("pairwise")

    def opened(tab, rater="ann"):
        return json.loads(served.ask("/api/work", rater, **{"X-Tab": tab})[1])["elsewhere"]

    def stays(tab, *, there=True):
        body = json.dumps(there)
        return json.loads(served.ask("/api/tab", "ann", "PUT", body, **{"X-Tab": tab})[1])

    assert not opened("first")
    assert not opened("first", rater="ben")  # of another rater
    assert opened("second")
    assert not stays("first")["elsewhere"]  # the first one goes on undisturbed
    assert stays("second")["elsewhere"]
    stays("first", there=False)
    assert not stays("second")["elsewhere"]
    assert opened("third")


def test_fifty_browsers_at_once_are_all_served(tmp_path):
    plan, _ = make_plan(write_study(tmp_path, "pointwise"), tmp_path / "work")
    with PageServer(plan, tmp_path / "work" / DATABASE) as server:
        port = urlsplit(server.address).port
        # They all stand in line before the server takes the first of them.
        lines = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(50)]
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            for line in lines:
                line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            for line in lines:
                with line:
                    assert line.recv(15) == b"HTTP/1.1 200 OK"
        finally:
            server.stop()
            thread.join()


def test_a_database_of_another_plan_is_refused(page, tmp_path):
    served = page("pairwise")
    other, _ = make_plan(write_study(tmp_path / "other", "labels"), tmp_path / "other" / "work")
    with pytest.raises(SessionError, match="holds answers to another plan"):
        PageServer(other, served.folder / DATABASE)
    (tmp_path / "no.sqlite").write_bytes(b"no database at all, but long enough to look at" * 9)
    with pytest.raises(SessionError, match="not a database of answers"):
        PageServer(other, tmp_path / "no.sqlite")
    foreign = tmp_path / "foreign.sqlite"
    with closing(sqlite3.connect(foreign)) as connection, connection:
        connection.execute("CREATE TABLE notes (text)")
    before = foreign.read_bytes()
    with pytest.raises(SessionError, match="holds answers to another plan"):
        import_answers(served.folder, [foreign], tmp_path / "answers")
    assert foreign.read_bytes() == before


def test_a_failure_to_keep_an_answer_is_told_to_whoever_serves(page, capsys):
    served = page("pairwise")
    served.server._book._connection.execute("DROP TABLE answers")
    with pytest.raises(http.client.HTTPException):
        served.put(served.plan.raters["ann"][0], "Overall", LEVELS[0])
    assert "no such table: answers" in capsys.readouterr().err


def test_two_raters_at_once_lose_nothing(page, tmp_path):
    served = page("pairwise")

    def answer(rater):
        line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        head = {"Authorization": f"Bearer {served.tokens[rater]}"}
        for ident in served.plan.raters[rater]:
            for question in ("Criteria 1", "Criteria 2", "Overall"):
                body = json.dumps({"question": question, "answer": "A and B are about the same"})
                line.request("PUT", f"/api/judgement/{ident}", body, head)
                assert line.getresponse().read()
        line.close()

    threads = [threading.Thread(target=answer, args=(rater,)) for rater in ("ann", "ben")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = import_answers(served.folder, [], tmp_path / "answers")
    assert done.counts == {"ann": (8, 0, 0), "ben": (8, 0, 0)}
    assert done.tables["preferences"].select(pl.col("score").abs().sum()).item() == 0


def test_a_thousand_tasks_stay_quick(tmp_path):
    """Opening, showing and keeping, with every question answered before."""
    study = write_study(tmp_path, "pointwise")
    rows = [
        {"id": f"e{at}", "text": "A calm walk. " * 80, "category": "", "options": []}
        for at in range(1000)
    ]
    (tmp_path / "items.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    write_csv(
        tmp_path / "responses.csv",
        [["item", "system", "text"], *([f"e{at}", "one", "Tea. " * 200] for at in range(1000))],
    )
    plan, _ = make_plan(study, tmp_path / "work")
    served = Page(tmp_path / "work", plan)
    try:
        ids = plan.raters["ann"]
        assert len(ids) == 1000
        for ident in ids[:999]:
            for name in ("Empathy", "Relevance"):
                served.server._book.keep(ident, name, "4")
        start = time.perf_counter()
        work = served.work()
        opened = time.perf_counter() - start
        assert work["open"].count(0) == 999
        start = time.perf_counter()
        for ident in ids[:100]:
            served.ask(f"/api/judgement/{ident}")
            served.put(ident, "Empathy", "5")
        each = (time.perf_counter() - start) / 200
        assert opened < 10, f"{opened:.3f} s"
        assert each < 0.5, f"{each:.4f} s"
    finally:
        served.close()


def test_a_page_that_is_terminated_says_that_every_answer_is_kept(tmp_path):
    write_study(tmp_path, "pairwise")
    export = ("humans", "export", "study.toml", "--out", "work")
    assert typed(*export, cwd=tmp_path).returncode == 0
    serve = [sys.executable, "-m", "voirdire", "humans", "serve", "work", "--port", "0"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as serving:
        assert any("ben: " in line for line in iter(serving.stdout.readline, ""))
        serving.send_signal(signal.SIGTERM)
        assert "Every answer is kept" in serving.stdout.read()


def test_the_commands_from_export_to_report(tmp_path):
    write_study(tmp_path, "pairwise")

    def run(*options):
        done = typed(*options, cwd=tmp_path)
        return done.returncode, done.stdout, done.stderr

    code, out, _ = run("humans", "export", "study.toml", "--out", "work", "--key", "safe/key.json")
    assert (code, "ann: 8 judgements" in out, "safe/key.json says what they hide" in out) == (
        0,
        True,
        True,
    )
    assert not (tmp_path / "work" / "key.json").exists()
    serve = [sys.executable, "-m", "voirdire", "humans", "serve", "work", "--port", "0"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as serving:
        lines = iter(serving.stdout.readline, "")
        link = urlsplit(next(line.split(": ", 1)[1].strip() for line in lines if "ben: " in line))
        line = http.client.HTTPConnection(link.hostname, link.port, timeout=60)
        head = {"Authorization": f"Bearer {link.fragment}"}
        line.request("GET", "/api/work", headers=head)
        ident = json.loads(line.getresponse().read())["ids"][0]
        body = json.dumps({"question": "Overall", "answer": "A is much better than B"})
        line.request("PUT", f"/api/judgement/{ident}", body, head)
        assert json.loads(line.getresponse().read()) == {"open": 2}
        line.close()
        serving.send_signal(signal.SIGINT)
        assert "Every answer is kept" in serving.stdout.read()
    code, out, _ = run("humans", "import", "work", "--out", "answers", "--key", "safe/key.json")
    assert (code, "ben: 0 complete, 1 in part, 7 missing" in out) == (0, True)
    code, out, error = run("examine", "answers", "--no-figures")
    assert code == 0, error
    code, _, error = run("humans", "serve", "work", "--host", "0.0.0.0")
    assert (code, "add --network" in error) == (1, True)
    code, _, error = run("humans", "import", "work", "--out", "work")
    assert (code, "key.json: there is no such key" in error) == (1, True)
