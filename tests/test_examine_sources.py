"""What a source is taken for, and how a benchmark or a reference that fails is named."""

from __future__ import annotations

import re
import sys
import types
from importlib.metadata import EntryPoint

import polars as pl
import pytest

import voirdire
from voirdire import InputError, PluginError
from voirdire.examining import benchmarks, examine, sources
from voirdire.examining.labels import labels_beside_chance
from voirdire.examining.panel import panel_of
from voirdire.study import build_study
from voirdire.tables import from_frame
from voirdire.testing import load_plugins


class Gardens:
    def study(self, data):
        if not (data / "beds.txt").is_file():
            raise TypeError("no beds")
        return build_study({"name": "gardens"}, "gardens", str(data))

    def review(self, examination):
        raise KeyError("roses")


@pytest.fixture
def gardens(tmp_path, monkeypatch):
    module = types.ModuleType("plugin_haiku")
    module.GARDENS = Gardens()
    module.voirdire_register_benchmarks = voirdire.hookimpl(
        lambda register: register("gardens", "plugin_haiku:GARDENS")
    )
    monkeypatch.setitem(sys.modules, "plugin_haiku", module)
    found = load_plugins([EntryPoint("haiku", "plugin_haiku", "voirdire")])
    for module in (sources, benchmarks):
        monkeypatch.setattr(module, "plugins", lambda: found)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gardens").mkdir()
    return tmp_path / "gardens"


def test_a_benchmark_with_data_wins_over_a_folder_of_its_name_and_is_named(gardens):
    with pytest.raises(PluginError, match=r"^benchmark 'gardens' \(plugin haiku\) failed: TypeErr"):
        examine("gardens", data=gardens)
    (gardens / "beds.txt").write_text("tulips")
    with pytest.raises(PluginError, match=r"\(plugin haiku\) failed: KeyError: 'roses'"):
        examine("gardens", data=gardens)
    with pytest.raises(InputError, match="gardens is no session folder"):
        examine("gardens")


def test_a_reference_named_nearly_is_asked_about():
    study = build_study({"name": "s", "data": {"reference": ["human"]}})
    rows = [("1", name, 3) for name in ("human_1", "human_2", "judge")]
    frame = pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row")
    _, tables = from_frame(frame)
    with pytest.raises(InputError, match=r"did you mean 'human_1', 'human_2'\?"):
        panel_of(study, tables)


def test_files_folders_and_benchmarks_are_missed_in_plain_words(tmp_path):
    with pytest.raises(InputError, match=r"^none\.csv: there is no such file$"):
        examine("none.csv")
    with pytest.raises(InputError, match=re.escape(f"{tmp_path} is a folder, and no file")):
        labels_beside_chance([tmp_path])
    with pytest.raises(InputError, match=r"that was run on them$"):
        examine("cbt_bench")
