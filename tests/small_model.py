"""The small local model of several tests, read once for all of them that one process runs."""

from __future__ import annotations

from functools import cache

from voirdire_judges.models import hf

#: `hf.load`, for `monkeypatch.setattr(hf, "load", LOADED)`: to read the weights of SmolLM2-135M takes
#: some 20 s of processor time, more than what any of these tests asks of it. By its arguments, so
#: that tests share it where they name the same file, `threads` and `local_files_only`.
LOADED = cache(hf.load)
