"""Juries in the product: declared in a study, derived from files and sessions, told by a report."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import invoke
from scripted import go, judge, study_of

from voirdire import InputError, StudyError, examine
from voirdire.examining import audit_source
from voirdire.examining.juries import examine_jury, jury_sections, worth_sentence
from voirdire.examining.parts.juries import JuryFacts
from voirdire.stats import combine
from voirdire.study import build_study

ROOT = Path(__file__).parents[1]


def ratings(noises=(1.0, 1.0, 1.0), items=200, seed=0, systems=("x",)):
    """Judges a, b, c ... that err by themselves, and a human who says the truth."""
    chance = np.random.default_rng(seed)
    rows = []
    for system in systems:
        truth = chance.normal(3, 1, items)
        rows += [(f"i{i:03}", system, "human", score) for i, score in enumerate(truth)]
        for name, noise in zip("abcdefg", noises, strict=False):
            own = truth + chance.normal(0, noise, items)
            rows += [(f"i{i:03}", system, name, score) for i, score in enumerate(own)]
    return pl.DataFrame(rows, schema=["item", "system", "rater", "score"], orient="row")


def levels(frame):
    return frame.with_columns(pl.col("score").round().clip(1, 5))


def panel(*members, combine="mean", more=(), **of_study):
    """A study over ratings.csv with judges and a jury of them."""
    raters = [{"name": "human", "kind": "human"}, *({"name": name} for name in "abc"), *more]
    jury = {"name": "jury", "use": "jury", "members": list(members), "combine": combine}
    return {
        "name": "calm",
        "data": {"sources": [{"path": "ratings.csv"}], "reference": ["human"]},
        "panel": [*raters, jury],
        "analysis": {"resamples": 0},
        **of_study,
    }


def examined(tmp_path, frame, *members, **more):
    frame.write_csv(tmp_path / "ratings.csv")
    return examine(build_study(panel(*members, **more), folder=str(tmp_path)))


def scores_of(frame, rater):
    return frame.filter(pl.col("rater").cast(pl.String) == rater).sort("item", "system")["score"]


def test_a_jury_is_a_rater_derived_from_others(tmp_path):
    found = examined(tmp_path, levels(ratings()), "a", "b", "c")
    each = np.array([scores_of(found.ratings, name) for name in "abc"])
    assert np.allclose(scores_of(found.ratings, "jury"), combine(each, "mean"))
    assert "jury" in found.judges
    assert {verdict.judge for verdict in found.verdicts} == {"a", "b", "c", "jury"}
    kinds = {finding.kind for finding in found.findings}
    assert "rater_missing" not in kinds
    (result,) = found.facts(JuryFacts).results
    assert result.is_worth_it
    worth = result.worth
    assert np.isnan(worth.votes)
    assert 2.0 < worth.votes_low < 3.0
    assert worth.votes_low <= worth.votes_high
    assert "What each jury is worth" in [section.title for section in found.sections]


@pytest.mark.parametrize("how", ["mean", "median", "vote", "fitted", "dawid_skene"])
def test_every_way_gives_what_the_statistic_gives_and_a_dead_member_changes_nothing(tmp_path, how):
    frame = levels(ratings())
    found = examined(tmp_path, frame, "a", "b", "c", combine=how)
    each = np.array([scores_of(found.ratings, name) for name in "abc"])
    human = scores_of(found.ratings, "human").to_numpy()
    wanted = combine(each, how, reference=human, clusters=np.arange(200))
    assert np.allclose(scores_of(found.ratings, "jury").to_numpy(), wanted, equal_nan=True)
    dead = examined(tmp_path, frame, "mute", "a", "b", "c", combine=how, more=[{"name": "mute"}])
    assert scores_of(dead.ratings, "jury").equals(scores_of(found.ratings, "jury"))
    assert dead.facts(JuryFacts).results[0].dead == ("mute",)
    assert (
        dead.facts(JuryFacts).results[0].worth.votes_low
        == found.facts(JuryFacts).results[0].worth.votes_low
    )
    missing = [finding.places for finding in dead.findings if finding.kind == "rater_missing"]
    assert missing == [("mute",)]


def test_abstentions_are_counted_and_a_tie_is_missing(tmp_path):
    rows = [
        ("1", "a", 1.0),
        ("1", "b", 1.0),
        ("2", "a", 1.0),
        ("2", "b", 2.0),
        ("3", "a", 4.0),
        ("3", "b", None),
        ("4", "a", None),
        ("4", "b", None),
    ]
    rows += [(str(i), "human", 1.0 + i) for i in range(1, 5)]
    frame = pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row")
    found = examine_jury(frame, ["a", "b"], "vote", reference=["human"])
    own = found.ratings.sort("item")
    assert own["score"].to_list() == [1.0, None, 4.0, None]
    assert own["status"].to_list() == ["ok", "blank", "ok", "blank"]
    (result,) = found.results
    assert (result.asked, result.missing) == (4, 2)
    assert dict(result.abstained) == {"a": 1, "b": 2}
    assert "too few responses" in worth_sentence(result)


def test_a_jury_that_is_worse_than_its_best_member_is_not_to_be_used():
    found = examine_jury(ratings((0.3, 3, 3, 3)), ["a", "b", "c", "d"], reference=["human"])
    (result,) = found.results
    said = worth_sentence(result)
    assert said.startswith("Do not use this jury: jury on score is worse than its best member.")
    assert "its best member a alone" in said
    assert "with 4 judges in place of one" in said
    (section,) = jury_sections(found.results)
    assert said in section.text


def test_no_gain_is_no_reason_to_pay_and_a_gain_is():
    frame = ratings((0.5, 0.5))
    same = pl.concat(
        [
            frame.filter(pl.col("rater") != "b"),
            frame.filter(pl.col("rater") == "a").with_columns(rater=pl.lit("b")),
        ]
    )
    (copied,) = examine_jury(same, ["a", "b"], reference=["human"]).results
    assert copied.worth.votes_low == pytest.approx(1)
    assert "shows no gain over its best member" in worth_sentence(copied)
    (good,) = examine_jury(ratings(), ["a", "b", "c"], reference=["human"]).results
    assert worth_sentence(good).startswith("Use this jury: jury on score beats its best member.")


def test_weights_are_fitted_on_other_items_than_they_score():
    """All systems' responses to an item stay in one fold: else its labels shape its own score."""
    frame = ratings((1.0, 2.0), items=40, systems=("x", "y"))
    found = examine_jury(frame, ["a", "b"], "fitted", reference=["human"])
    before = found.ratings.filter(pl.col("item") == "i000")["score"].to_list()
    moved = frame.with_columns(
        score=pl.when((pl.col("item") == "i000") & (pl.col("rater") == "human"))
        .then(pl.col("score") + 1)
        .otherwise("score")
    )
    after = examine_jury(moved, ["a", "b"], "fitted", reference=["human"])
    assert after.ratings.filter(pl.col("item") == "i000")["score"].to_list() == before
    others = after.ratings.filter(pl.col("item") != "i000")["score"]
    assert not others.equals(found.ratings.filter(pl.col("item") != "i000")["score"])


def test_a_member_does_not_vote_on_systems_that_it_excludes(tmp_path):
    levels(ratings(systems=("x", "y"))).write_csv(tmp_path / "ratings.csv")
    raw = panel("a", "b", "c")
    raw["panel"][1]["excludes"] = ["x"]
    found = examine(build_study(raw, folder=str(tmp_path)))
    for system, names in (("x", "bc"), ("y", "abc")):
        of = found.ratings.filter(pl.col("system") == system)
        each = np.array([scores_of(of, name) for name in names])
        assert np.allclose(scores_of(of, "jury"), each.mean(0))
    assert found.facts(JuryFacts).results[0].abstained["a"] == 200


def test_coefficients_over_all_raters_and_listwise_pairs_know_no_jury(tmp_path):
    frame = levels(ratings())
    analysis = {"resamples": 0, "measures": ["alpha"]}
    found = examined(tmp_path, frame, "a", "b", combine="vote", analysis=analysis)
    plain = panel("a", "b", analysis=analysis)
    plain["panel"] = plain["panel"][:-1]
    without = examine(build_study(plain, folder=str(tmp_path)))
    assert found.rated.measures == without.rated.measures
    raw = panel("a", "b", combine="vote")
    raw["data"]["pairs"] = "listwise"
    listwise = examine(build_study(raw, folder=str(tmp_path)))
    assert listwise.facts(JuryFacts).results[0].missing > 0
    assert listwise.result("a", "score").n_pairs == 200
    # What the jury is worth rests on what all raters rated, as everything listwise does.
    gaps = frame.filter((pl.col("rater") != "c") | (pl.col("item") >= "i050"))
    gaps.write_csv(tmp_path / "ratings.csv")
    less = examine(build_study(raw, folder=str(tmp_path)))
    assert less.facts(JuryFacts).results[0].worth.n < listwise.facts(JuryFacts).results[0].worth.n
    frame.filter(pl.col("item") >= "i050").write_csv(tmp_path / "ratings.csv")
    assert (
        less.facts(JuryFacts).results[0].worth.n
        == examine(build_study(raw, folder=str(tmp_path))).facts(JuryFacts).results[0].worth.n
    )


@pytest.mark.parametrize(
    ("rater", "message"),
    [
        ({"members": ["a"]}, "members belongs to a jury"),
        ({"use": "jury", "members": ["a"]}, "two or more different members"),
        ({"use": "jury", "members": ["a", "a"]}, "two or more different members"),
        ({"use": "jury", "members": ["a", "b"], "model": "openai:m"}, "asks no model"),
        ({"use": "jury", "members": ["a", "b"], "combine": "best"}, "combine"),
        ({"use": "jury", "members": ["a", "other"]}, "the jury 'other' as a member"),
        ({"use": "jury", "members": ["a", "tagger"]}, "members of several kinds"),
    ],
)
def test_what_is_no_jury_is_said(rater, message):
    others = [
        {"name": "a"}, {"name": "b"}, {"name": "tagger", "kind": "annotator"},
        {"name": "other", "use": "jury", "members": ["a", "b"]},
    ]  # fmt: skip
    with pytest.raises(StudyError, match=message):
        build_study({"name": "calm", "panel": [*others, {"name": "jury", **rater}]})


@pytest.mark.parametrize(
    ("members", "how", "options", "message"),
    [
        (["a", "bb"], "mean", {}, r"member 'bb' is unknown \(allowed: a, b, c, human\)"),
        (["a", "b"], "vote", {}, "jury 'jury' on score, combine = 'vote': a vote needs labels"),
        (["a", "b"], "mean", {"name": "c"}, "jury 'c' has ratings of its own"),
        ([], "mean", {}, "no jury: name its members"),
    ],
)
def test_what_cannot_be_derived_is_said(members, how, options, message):
    with pytest.raises(InputError, match=message):
        examine_jury(ratings(), members, how, reference=["human"], **options)


def test_without_a_human_there_is_nothing_to_fit_and_nothing_to_hold_it_against():
    frame = ratings().filter(pl.col("rater") != "human")
    with pytest.raises(InputError, match="need the humans' scores"):
        examine_jury(frame, ["a", "b"], "fitted")
    with pytest.raises(InputError, match="no reference"):
        examine_jury(frame, ["a", "b"])


def jury_session(tmp_path, jury, items=30, **more):
    """A session of two scripted judges, and a human of whom one judge says the truth."""
    study = study_of(
        tmp_path,
        judge("ann", model_options={"says": "4"}),
        judge("bob", model_options={"says": "2"}),
        items=items,
        systems=("x", "y"),
        rubric={"attributes": ["Calm"]},
        run={"prices": {"script:ann": {"input": 1, "output": 2}}, **more.pop("run", {})},
    )
    rows = [(f"i{n}", s, "human", "Calm", 1 + n % 5) for n in range(items) for s in ("x", "y")]
    pl.DataFrame(
        rows, schema=["item", "system", "rater", "attribute", "score"], orient="row"
    ).write_csv(tmp_path / "human.csv")
    raw = study.model_dump(exclude_unset=True)
    raw["panel"] = [*raw["panel"], {"name": "human", "kind": "human"}, jury]
    raw["data"] = {"reference": ["human"], "sources": [{"path": "human.csv", "layout": "long"}]}
    return build_study({**raw, **more}, folder=str(tmp_path))


def test_a_session_derives_its_jury_at_will_and_knows_what_it_costs(tmp_path):
    jury = {"name": "jury", "use": "jury", "members": ["ann", "bob"]}
    study = jury_session(tmp_path, jury)
    result = go(tmp_path, study)
    assert result.exit_code == 0
    found = examine(tmp_path / "a")
    assert scores_of(found.ratings, "jury").to_list() == [3.0] * 60
    (one,) = found.facts(JuryFacts).results
    assert [(p.rater, p.calls, p.tokens) for p in one.prices] == [
        ("ann", 60, 6600),
        ("bob", 60, 6600),
    ]
    assert one.prices[0].money == pytest.approx(60 * (100 * 1 + 10 * 2) / 1e6)
    assert one.prices[1].money is None
    assert one.price.money is None
    assert one.price.calls == 120
    cost = next(s for s in found.sections if s.title == "What each jury costs")
    assert cost.table.rows[-1][:3] == ("all members", "jury", 120)
    assert not [f for f in audit_source(tmp_path / "a") if f.kind == "rater_missing"]
    again = examine_jury(tmp_path / "a", ["ann", "bob"], "median", name="other")
    assert [r.jury for r in again.results] == ["other"]


def test_a_jury_of_annotators_is_one_and_stays_out_of_their_runs(tmp_path):
    rows = [
        (f"i{i}", name, label, float((i + at) % 3 == 0))
        for i in range(30)
        for at, name in enumerate(("human", "a", "b", "c"))
        for label in ("calm", "tense")
    ]
    frame = pl.DataFrame(rows, schema=["item", "rater", "attribute", "score"], orient="row")
    frame.write_csv(tmp_path / "ratings.csv")
    raw = panel("a", "b", "c", combine="vote")
    for rater in raw["panel"][1:-1]:
        rater["kind"] = "annotator"
    study = build_study(raw, folder=str(tmp_path))
    assert study.rater("jury").kind == "annotator"
    found = examine(study)
    each = np.array(
        [scores_of(found.ratings.filter(pl.col("attribute") == "calm"), n) for n in "abc"]
    )
    own = scores_of(found.ratings.filter(pl.col("attribute") == "calm"), "jury")
    assert np.allclose(own, combine(each, "vote"))


def command(*asked):
    done = invoke(asked)
    assert done.exit_code == 0, done.exception
    return done.output


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    ratings((0.3, 3, 3)).write_csv(tmp_path / "ratings.csv")
    asked = ["jury", str(tmp_path / "ratings.csv"), "--members", "a,b,c", "--reference", "human"]
    written = tmp_path / "own.csv"
    said = command(*asked, "--ratings", str(written), "--out", str(tmp_path / "out"))
    assert "Do not use this jury" in said
    assert pl.read_csv(written)["rater"].unique().to_list() == ["jury"]
    assert (tmp_path / "out" / "jury.html").is_file()
    record = json.loads(command(*asked, "--combine", "fitted", "--json"))
    assert record["results"][0]["combine"] == "fitted"
    assert record["results"][0]["worth"]["over_single"]["value"] > -0.05


def test_the_jury_of_the_docs(tmp_path):
    """The five lines of docs/juries.md, as they stand there."""
    text = (ROOT / "docs/juries.md").read_text()
    lines = re.search(r"```toml\n(\[\[panel\]\]\n.*?)```", text, re.DOTALL)[1]
    assert len(lines.strip().splitlines()) == 5
    raw = panel("a", "b")
    raw["panel"] = [*raw["panel"][:-1], *tomllib.loads(lines)["panel"]]
    levels(ratings()).write_csv(tmp_path / "ratings.csv")
    found = examine(build_study(raw, folder=str(tmp_path)))
    assert found.facts(JuryFacts).results[0].worth.reason is None


WORDS = {"yes": 1.0, "no": 0.0}


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "votes", "fitted"), [("framing", 2.05, 0.45), ("cebab_stars", None, 0.84)]
)
def test_public_sets_through_the_product(shared, name, votes, fitted):
    """A jury fitted on 100 labels, held against the humans on the rest: both by the product."""
    folder = shared / "data" / "alttest" / name
    humans = json.loads((folder / "human_annotations.json").read_text())
    judged = json.loads((folder / "llm_annotations.json").read_text())

    def value(label):
        return float(label) if isinstance(label, int | float) else WORDS.get(str(label), np.nan)

    items = sorted(set.intersection(*map(set, judged.values())))
    truth = {i: np.nanmean([value(h[i]) for h in humans.values() if i in h]) for i in items}
    order = np.random.default_rng(0).permutation(len(items))
    known = {items[at] for at in order[:100]}
    rows = [(i, "human", truth[i]) for i in items if i in known and np.isfinite(truth[i])]
    rows += [(i, judge, value(own[i])) for judge, own in judged.items() for i in items]
    frame = pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row", nan_to_null=True)
    derived = examine_jury(frame, list(judged), "fitted", reference=["human"]).ratings
    rest = [(i, "human", truth[i]) for i in items if i not in known and np.isfinite(truth[i])]
    rest += [row for row in rows if row[1] != "human" and row[0] not in known]
    rest += [
        (i, "fitted", score)
        for i, score in derived.select("item", "score").iter_rows()
        if i not in known
    ]
    held = pl.DataFrame(rest, schema=["item", "rater", "score"], orient="row", nan_to_null=True)
    (alone,) = examine_jury(held, list(judged), "mean", reference=["human"]).results
    assert fitted > alone.worth.single + 0.02
    if votes:
        # As stated, by errors that are right or wrong.
        members = alone.worth.members
        stated = members / (1 + (members - 1) * alone.worth.error_correlation)
        assert stated == pytest.approx(votes, abs=0.03)
    pair = examine(held, reference=["human"], resamples=0).result("fitted", "score")
    assert pair.pearson_r**2 == pytest.approx(fitted, abs=0.03)


def test_a_vote_is_judged_by_agreement_so_that_ties_do_not_flatter_it():
    """Two good judges and two that say the reverse on every second item: half of the votes tie."""
    chance = np.random.default_rng(4)
    truth = chance.integers(0, 2, 200).astype(float)
    turned = np.where(np.arange(200) % 2 == 0, 1 - truth, truth)
    good = [np.where(chance.random(200) < 0.95, truth, 1 - truth) for _ in range(2)]
    parts = {"human": truth, "a": good[0], "b": good[1], "c": turned, "d": turned}
    frame = pl.concat(
        pl.DataFrame({"item": np.arange(200).astype(str), "rater": name, "score": scores})
        for name, scores in parts.items()
    )
    found = examine_jury(frame, ["a", "b", "c", "d"], "vote", reference=["human"]).results[0]
    assert found.missing > 80
    assert found.worth.over_single.interval().high > 0  # where the vote is not tied: not worse
    assert found.over_best is found.worth.over_single_agreement
    assert not found.is_worth_it
    said = worth_sentence(found)
    assert said.startswith("Do not use this jury: jury on score is worse than its best member")
    assert f"on {found.worth.agreement:.0%} of the responses" in said
