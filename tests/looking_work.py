"""Sources for the tests of `voirdire look`, served."""

from __future__ import annotations

import http.client
import threading
from urllib.parse import urlencode, urlsplit

import polars as pl

from voirdire.examining import examine
from voirdire.examining.source import inputs_of, labelled_at, open_source
from voirdire.looking import LookServer, material_of

#: Names and texts that must be shown and do nothing.
MARKUP = "<script>window.hacked = 1</script>"
IMAGE = "<img src=x onerror='window.hacked = 1'>"
BIDI = "good\u202edab"
CONTROL = "red\x1b[31m\x07"


def write_ratings(path, items=40, human="human", judge="judge", systems=("old", "new"), note=str):
    """One human column and a judge that is too kind to the second system."""
    rows = [
        (f"i{k}", system, rater, value)
        for k in range(items)
        for shift, system in enumerate(systems)
        for truth in [(k * 7 + shift) % 5 + 1]
        for rater, value in (
            (human, truth),
            (judge, min(truth + shift * (k % 3), 5) if k else 6 - truth),
        )
    ]
    frame = pl.DataFrame(rows, schema=["item", "system", "rater", "score"], orient="row")
    frame = frame.with_columns(text=pl.Series(map(note, frame["item"])))
    frame.write_csv(path)
    return path


def material(source, reference=("human",), *, with_text=False, beside=None):
    """As the command makes it."""
    changes = {"analysis": {"resamples": 0}, "data": {"reference": reference or None}}
    opened = open_source(source, reference=reference, changes=changes)
    found = examine(source, reference=reference, resamples=0)
    labels = labelled_at(source, opened.session)
    return material_of(inputs_of(opened), found, labels, with_text=with_text, beside=beside)


class Site:
    """A served page, and a browser without a window."""

    def __init__(self, made, who="ann", start="/"):
        self.server = LookServer(made, "ratings", who, start=start)
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        self.token = urlsplit(self.server.link).query.removeprefix("token=")
        self.cookie = f"voirdire-look-{self.server.port}={self.token}"

    def ask(self, path, method="GET", body=None, **headers):
        """Status, headers and body."""
        sent = {"Cookie": self.cookie, **{k.replace("_", "-"): v for k, v in headers.items()}}
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        connection.request(method, path, body, {k: v for k, v in sent.items() if v is not None})
        answer = connection.getresponse()
        text = answer.read().decode("utf-8")
        connection.close()
        return answer.status, dict(answer.getheaders()), text

    def label(self, back, score, **fields):
        """Send the form of a response."""
        values = {"back": back, "score": score, "by": "ann", "rater": "human", "do": "keep"}
        body = urlencode({**values, **fields})
        kind = "application/x-www-form-urlencoded"
        return self.ask("/label", "POST", body, Content_Type=kind)

    def close(self):
        self.server.stop()
        self.thread.join()
        self.server.__exit__()
