"""Who made a model: over all roads, asked where it is unknown, and what judges leave out for it."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from command_line import invoke

from voirdire import InputError, examine
from voirdire.errors import ContractError, PluginError
from voirdire.examining import audit_source
from voirdire.examining.changing import measured_of, read_lock
from voirdire.identity import Identities, answers, built_in, makers_in
from voirdire.report._methods import settings_section
from voirdire.study import ReadOptions, build_study, family_of, load_study, own_systems
from voirdire.testing import check_maker

ROADS = {
    "openai:gpt-4o": "openai",
    "openai-responses:o4-mini": "openai",
    "compatible:gpt-4o": "openai",
    "compatible:openai/gpt-4o:free": "openai",
    "compatible:azure-gpt-35-turbo": "openai",
    "compatible:ft:gpt-4o-2024-08-06:org::id": "openai",
    "openai:our-fine-tune": "openai",
    "anthropic:claude-sonnet-4-5": "anthropic",
    "compatible:us.anthropic.claude-3-5-sonnet-20241022-v2:0": "anthropic",
    "compatible:publishers/google/models/gemini-1.5-pro": "google",
    "hf:meta-llama/Llama-3.1-8B-Instruct": "meta",
    "hf:/data/models/SmolLM2-135M-Instruct": "huggingface",
    "compatible:llama3.1:8b": "meta",
    "compatible:qwen2.5:7b": "alibaba",
    "compatible:gpt-neo-2.7b": "eleutherai",
    "langchain:my_models:claude": "anthropic",
    "simulated:a": "none",
    # Unknown, which is asked and never guessed.
    "compatible:my-deployment": "",
    "langchain:my_models:judge": "",
    "compatible:gpt-judge": "",
    "compatible:o10": "",
    "compatible:marco-o1": "",
    "hf:/data/gpt-4o/checkpoint": "",
}


@pytest.mark.parametrize(("model", "maker"), ROADS.items())
def test_a_maker_is_known_over_every_road_or_not_at_all(model, maker):
    identity = built_in().identify(model)
    assert (identity.maker, identity.possible) == (maker, ())


@pytest.mark.parametrize(
    ("model", "makers"),
    [
        ("compatible:deepseek-r1-distill-llama-70b", ("deepseek", "meta")),
        ("hf:nvidia/Llama-3.1-Nemotron-70B", ("meta", "nvidia")),
        ("hf:NousResearch/Hermes-3-Llama-3.1-8B", ("nous", "meta")),
    ],
)
def test_a_model_made_of_anothers_has_no_maker_until_it_is_said(model, makers):
    identity = built_in().identify(model)
    assert identity.maker == ""
    assert set(identity.possible) == set(makers)


def test_another_address_says_nothing_of_who_made_an_unknown_name():
    assert built_in().identify("openai:house", elsewhere=True).maker == ""
    assert built_in().identify("openai:gpt-4o", elsewhere=True).maker == "openai"


def test_names_of_one_model_have_one_key_and_versions_differ():
    key = {name: built_in().identify(name).key for name in (
        "gpt-4o", "openai/gpt-4o", "compatible:GPT-4o", "gpt-4o-mini", "gpt-4o-2024-08-06",
        "llama3.1:8b", "llama3.1:70b", "our-own", "our-other",
    )}  # fmt: skip
    assert key["gpt-4o"] == key["openai/gpt-4o"] == key["compatible:GPT-4o"]
    assert len(set(key.values())) == len(key) - 2


def test_words_of_people_for_a_maker():
    table = built_in()
    assert [table.maker(word) for word in ("OpenAI", "GPT", "Claude", "x.AI", "house", "o")] == [
        "openai",
        "openai",
        "anthropic",
        "xai",
        "",
        "",
    ]
    assert table.same("x", "x")
    assert not table.same("x", "y")
    assert not table.same("", "")


def test_the_table_is_in_order():
    """Dated, and no beginning or name of one maker is another's."""
    table = built_in()
    assert table.date == "2026-11-29"
    begun = [
        (beginning, maker.name)
        for maker in table.makers.values()
        for beginnings in maker.families.values()
        for beginning in beginnings
    ]
    assert len({beginning for beginning, _ in begun}) == len(begun)
    for beginning, maker in begun:
        identity = table.identify(beginning)
        assert maker in (identity.maker, *identity.possible), beginning


def test_a_plugin_adds_makers_and_more_of_those_that_are_there():
    more = makers_in(
        {
            "house": {"families": {"sage": ["sage-1"]}},
            "openai": {"families": {"gpt": ["house-gpt"]}},
        },
        "a plugin",
    )
    table = built_in().with_makers(more)
    assert table.identify("compatible:sage-1-mini").maker == "house"
    assert table.identify("compatible:house-gpt-2").maker == "openai"
    assert table.identify("compatible:gpt-4o").maker == "openai"
    with pytest.raises(PluginError, match="aliases, owners"):
        makers_in({"house": {"family": "sage"}}, "a plugin")
    with pytest.raises(ContractError, match="begins names of openai"):
        check_maker({"families": {"x": ["gpt-4o"]}})
    assert Identities([]).identify("gpt-4o").maker == ""


def test_answers_are_pairs():
    assert answers(["a=b=none"]) == {"a=b": "none"}
    for wrong in (["a"], ["=b"], ["a="], ["a=b", "a=c"]):
        with pytest.raises(InputError, match="--family"):
            answers(wrong)


def study_of(panel, systems, families=None):
    return build_study(
        {"name": "s", "panel": panel, "systems": systems, "families": families or {}}, "s", "."
    )


SYSTEMS = [
    {"name": "gpt-4o-mini", "family": "OpenAI"}, {"name": "haiku", "family": "anthropic"},
    {"name": "flash", "family": "Gemini"},
]  # fmt: skip


@pytest.mark.parametrize("road", ["openai", "openai-responses", "compatible", "langchain"])
def test_a_judge_leaves_out_its_makers_systems_over_every_road(road):
    study = study_of([{"name": "judge", "model": f"{road}:gpt-4o"}], SYSTEMS)
    assert own_systems(study.panel[0], study) == ("gpt-4o-mini",)


def test_what_is_declared_and_answered_wins_over_the_table():
    def own(rater, families=None):
        study = study_of([{"name": "judge", **rater}], SYSTEMS, families)
        return own_systems(study.panel[0], study)

    assert own({"model": "compatible:gpt-4o", "family": "Claude"}) == ("haiku",)
    assert own({"model": "compatible:gpt-4o", "family": "none"}) == ()
    assert own({"model": "compatible:prod-7"}, {"prod-7": "google"}) == ("flash",)
    assert own({"model": "compatible:prod-7"}, {"judge": "none"}) == ()
    assert own({"model": "compatible:prod-7"}) == ()
    study = study_of([{"name": "ann", "kind": "human"}], SYSTEMS)
    assert family_of(study.panel[0], study) == ""


def ratings(folder, *judges):
    rows = [
        (f"i{i}", system["name"], rater, 1 + (i + k + (rater in judges)) % 5)
        for i in range(12)
        for k, system in enumerate(SYSTEMS)
        for rater in ("ann", "ben", *judges)
    ]
    path = folder / "ratings.csv"
    pl.DataFrame(rows, schema=["item", "system", "rater", "score"], orient="row").write_csv(path)
    return path


def written(folder, rater, systems=SYSTEMS):
    ratings(folder, "judge")
    lines = ["[[data.sources]]", 'path = "ratings.csv"', "[rubric]", 'attributes = ["score"]']
    for table, rows in (
        ("panel", [{"name": "ann", "kind": "human"}, {"name": "ben", "kind": "human"}, rater]),
        ("systems", systems),
    ):
        for row in rows:
            lines += [
                f"[[{table}]]",
                *(f"{key} = {json.dumps(value)}" for key, value in row.items()),
            ]
    path = folder / "study.toml"
    path.write_text("\n".join(lines))
    return path


def kinds(findings):
    return {one.kind: one for one in findings if one.kind.startswith("family")}


def test_families_declared_and_a_judge_of_none_is_a_serious_finding(tmp_path):
    path = written(tmp_path, {"name": "judge", "model": "compatible:prod-7"})
    finding = kinds(audit_source(path))["family_unmatched"]
    assert finding.severity == "serious"
    assert "prod-7" in finding.message
    assert "'OpenAI', 'anthropic'" in finding.message
    answered = kinds(audit_source(path, read=ReadOptions(families={"judge": "none"})))
    assert answered == {}
    said = invoke(["audit", path, "--family", "prod-7=google", "--json"])
    assert "family" not in said.output
    examined = examine(path, read=ReadOptions(families={"prod-7": "google"}), resamples=0)
    assert examined.results[0].excluded_systems == ("flash",)
    typo = written(tmp_path, {"name": "judge", "family": "opnai"})
    assert "opnai" in kinds(audit_source(typo))["family_unmatched"].message


def test_what_is_left_out_by_a_name_is_said_with_the_tables_date(tmp_path):
    path = written(tmp_path, {"name": "judge", "model": "compatible:gpt-4o"})
    examined = examine(path, resamples=0)
    assert examined.results[0].excluded_systems == ("gpt-4o-mini",)
    settings = [*settings_section(examined).tables[0].rows]
    assert ("version of makers", built_in().date) in settings
    finding = kinds(examined.findings)["family_by_name"]
    assert "2026-11-29" in finding.message
    assert kinds(audit_source(written(tmp_path, {"name": "judge", "excludes": []}))) == {}


def test_a_file_alone_in_which_a_judge_rates_its_own(tmp_path):
    path = ratings(tmp_path, "gpt-4o")
    finding = kinds(audit_source(path, reference=("ann", "ben")))["family_undeclared"]
    assert finding.severity == "serious"
    assert finding.places == ("gpt-4o-mini",)
    said = invoke(
        [
            "examine",
            path,
            "--reference",
            "ann,ben",
            "--resamples",
            "0",
            "--json",
            "--family",
            "gpt-4o=openai",
            "--family",
            "gpt-4o-mini=openai",
        ]
    )
    assert said.exit_code == 0, said.output
    record = json.loads(said.stdout)
    assert record["results"][0]["excluded_systems"] == ["gpt-4o-mini"]
    assert "family_undeclared" not in said.stdout
    nobody = ReadOptions(families={"gpt-4": "openai"})
    odd = kinds(audit_source(path, reference=("ann", "ben"), read=nobody))
    assert odd["family_of_nobody"].places == ("gpt-4",)


OWN = ("--family", "gpt-4o=openai", "--family", "gpt-4o-mini=openai")
HELD = ("--reference", "ann,ben")


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "ratings.csv", "ratings.csv"),
        ("correct", "ratings.csv"),
        ("calibrate", "ratings.csv"),
        ("jury", "ratings.csv", "--members", "gpt-4o,other"),
    ],
)
def test_every_command_that_holds_judges_against_people_takes_families(
    tmp_path, monkeypatch, command
):
    ratings(tmp_path, "gpt-4o", "other")
    monkeypatch.chdir(tmp_path)
    said = invoke([*command, *HELD, *OWN])
    assert said.exit_code == 0, said.output
    odd = invoke([*command, *HELD, "--family", "gpt-4o"])
    assert "write NAME=MAKER" in str(odd.exception)


def test_a_lock_keeps_the_families_it_was_frozen_with(tmp_path, monkeypatch):
    path, lock = ratings(tmp_path, "gpt-4o"), tmp_path / "judge.lock"
    frozen = invoke(["gate", "freeze", path, "--items", "8", "--as", lock, *HELD, *OWN])
    assert frozen.exit_code == 0, frozen.output
    assert read_lock(lock).read["families"] == {"gpt-4o": "openai", "gpt-4o-mini": "openai"}
    seen = []

    def measuring(source, **how):
        seen.append(measured_of(source, **how))
        return seen[-1]

    monkeypatch.setattr("voirdire.examining.changing.checking.measured_of", measuring)
    for more, excluded in (((), "gpt-4o-mini"), (("--family", "flash=openai"), "flash")):
        said = invoke(["gate", "check", path, "--lock", lock, *HELD, *more])
        assert said.exit_code == 0, said.output
        judge = seen[-1].study.rater("gpt-4o")
        assert excluded in own_systems(judge, seen[-1].study)


def test_a_judge_favours_its_family_in_preferences_by_the_table_and_by_answers(tmp_path):
    rng = np.random.default_rng(0)
    rows = []
    for item in range(40):
        for a, b in (("mini", "flash"), ("mini", "haiku"), ("flash", "haiku")):
            human = int(rng.integers(-1, 2))
            rows.append((f"i{item}", a, b, "ann", human))
            rows.append((f"i{item}", a, b, "judge", 1 if a == "mini" else human))
    names = ["item", "system_a", "system_b", "rater", "preference"]
    path = tmp_path / "pairs.csv"
    pl.DataFrame(rows, schema=names, orient="row").write_csv(path)

    def told(found):
        components = {one.name: one for one in found.evidence[0].components}
        return components["FAM"].estimate if "FAM" in components else None

    # Above 0 is the first: which of both a grade about 0 favours is no guess.
    grades = {"words": {"-1": -1, "0": 0, "1": 1}, "first": "unknown"}
    found = examine(path, reference=["ann"], read=ReadOptions(**grades), resamples=0)
    assert found.evidence
    assert told(found) is None
    families = ReadOptions(families={"judge": "openai", "mini": "openai"}, **grades)
    found = examine(path, reference=["ann"], read=families, resamples=0)
    assert told(found) > 0.3


def test_a_reference_that_is_a_model_is_a_serious_finding_and_a_person_may_be_called_claude(
    tmp_path,
):
    path = ratings(tmp_path, "gpt-4o")
    frame = pl.read_csv(path)
    for name, odd in (("gpt-4", True), ("claude-3-opus", True), ("Claude", False)):
        frame.with_columns(pl.col("rater").replace("ann", name)).write_csv(path)
        found = audit_source(path, reference=(name,))
        named = [one for one in found if one.kind == "reference_is_model"]
        assert bool(named) is odd, name
        if odd:
            assert named[0].severity == "serious"
            assert ("gpt-4o" in named[0].message) is (name == "gpt-4")
            person = ReadOptions(families={name: "none"})
            again = audit_source(path, reference=(name,), read=person)
            assert "reference_is_model" not in {one.kind for one in again}


def paper(folder, *more, families=("openai", "anthropic")):
    pl.DataFrame({"id": ["c1"], "text": ["A long day."]}).write_csv(folder / "c.csv")
    names = ["gpt-4o-mini", "haiku"]
    columns = {"item": ["c1"] * 2, "system": names, "text": ["one", "two"]}
    if families:
        columns["family"] = list(families)
    pl.DataFrame(columns).write_csv(folder / "r.csv")
    return invoke(
        [
            "paper",
            "mentalalign",
            folder / "c.csv",
            "--responses",
            folder / "r.csv",
            "--out",
            folder / "study",
            *more,
        ]
    )


def test_the_papers_command_knows_a_compatible_model_and_asks_of_an_unknown_one(tmp_path):
    said = paper(tmp_path, "--model", "compatible:gpt-4o", "--model-option", "base_url=http://x/v1")
    assert said.exit_code == 0, said.output
    study = load_study(tmp_path / "study" / "study.toml")
    assert study.panel[0].family == "openai"
    assert own_systems(study.panel[0], study) == ("gpt-4o-mini",)


def test_the_papers_command_takes_answers(tmp_path):
    asked = paper(tmp_path, "--model", "compatible:prod-7")
    assert isinstance(asked.exception, InputError)
    assert "--family prod-7=MAKER" in str(asked.exception)
    said = paper(tmp_path, "--model", "compatible:prod-7", "--family", "prod-7=none")
    assert said.exit_code == 0, said.output
    assert load_study(tmp_path / "study" / "study.toml").panel[0].family == "none"
    odd = paper(tmp_path, "--model", "compatible:prod-7", "--family", "prod=none")
    assert "--family 'prod' is no model of these" in str(odd.exception)
    (tmp_path / "study" / "study.toml").unlink()
    # Where the systems have no families, there is nothing to ask.
    bare = paper(tmp_path, "--model", "compatible:prod-7", families=())
    assert bare.exit_code == 0, bare.output
