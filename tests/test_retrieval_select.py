"""Selectors: nearest, balanced, diverse, random, fixed; what the guard keeps out is counted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from word_embedder import GivenEmbedder, WordEmbedder, at_cosine

from voirdire import InputError, plugins
from voirdire.protocols import ExampleSelector
from voirdire.schema import Item
from voirdire_retrieval import (
    Guard,
    balanced,
    build_index,
    diverse,
    fixed,
    guard_against,
    leak_findings,
    make_pool,
    nearest,
    pool_overlap,
    random_examples,
)
from voirdire_retrieval._selectors import take_balanced, take_diverse

pytest.importorskip("faiss", reason="faiss is not installed")


def index_of(cosines, *, labels=(), group=None, **columns):
    """A pool whose texts lie at given cosines to the text `q`."""
    names = list(cosines)
    table = pl.DataFrame({"id": names, "text": [f"text {name}" for name in names], **columns})
    vectors = {f"text {name}": at_cosine(value) for name, value in cosines.items()}
    embedder = GivenEmbedder({"q": [1.0, 0.0], **vectors})
    return build_index(make_pool(table, labels=list(labels), group=group), embedder), embedder


Q = Item("q", "q")
LINE = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6, "e": 0.5}


def ids(selection):
    return [example["id"] for example in selection.examples]


def test_nearest_first_with_labels_and_similarity():
    index, embedder = index_of(LINE, labels=["mood"], mood=[1, 0, None, 0, 1])
    chosen = nearest(index, embedder).select(Q, 3)
    assert [(one["id"], one["text"], one["mood"]) for one in chosen] == [
        ("a", "text a", 1),
        ("b", "text b", 0),
        ("c", "text c", None),
    ]
    np.testing.assert_allclose([one["similarity"] for one in chosen], [0.9, 0.8, 0.7], rtol=1e-6)


def test_it_is_an_example_selector_of_the_core():
    assert isinstance(nearest(*index_of(LINE)), ExampleSelector)


def test_many_at_once_equal_one_by_one():
    words = [
        f"{a} {b}" for a in ["red", "green", "blue", "grey"] for b in ["sky", "sea", "sun", "moon"]
    ]
    embedder = WordEmbedder()
    pool = make_pool(pl.DataFrame({"id": words, "text": words}))
    items = [Item(word, word) for word in words]
    for make in (nearest, diverse, random_examples):
        selector = make(build_index(pool, embedder), embedder)
        many = selector.select_many(items, 3)
        assert [list(one.examples) for one in many] == [selector.select(item, 3) for item in items]


@pytest.mark.parametrize(
    ("item", "options", "reason"),
    [
        (Item("a", "q"), {}, "same_id"),
        (Item("x", "Text  A"), {}, "same_text"),
        (Item("q", "q", {"group": "g1"}), {}, "same_group"),
        (Item("q", "q", {"who": "g1"}), {"group_key": "who"}, "same_group"),
        (Q, {"max_similarity": 0.85}, "near_duplicate"),
        (Q, {"test_ids": frozenset(["a"])}, "test_split"),
    ],
)
def test_each_guard_fires_is_named_and_the_next_one_is_taken(item, options, reason):
    index, embedder = index_of(LINE, group="who", who=["g1", "g2", "g2", "g2", "g2"])
    embedder.vectors["Text  A"] = embedder.vectors["q"]
    selection = nearest(index, embedder, Guard(**options)).select_many([item], 2)[0]
    assert ids(selection) == ["b", "c"]
    assert [(one.id, one.reason) for one in selection.excluded] == [("a", reason)]


def test_groups_may_be_allowed_and_the_ceiling_lifted():
    index, embedder = index_of({"a": 1.0, "b": 0.5}, group="who", who=["g1", "g2"])
    guard = Guard(max_similarity=None, exclude_same_group=False)
    assert ids(nearest(index, embedder, guard).select_many([Item("q", "q", {"group": "g1"})])[0])[
        0
    ] == ("a")
    with pytest.raises(InputError, match=r"max_similarity must lie in -1\.\.1 or be None, got 98"):
        Guard(max_similarity=98)


def test_a_merged_row_is_known_by_all_its_ids_and_groups():
    table = pl.DataFrame(
        {"id": ["a", "b", "c"], "text": ["one", "One", "two"], "who": ["g1", "g2", "g3"]}
    )
    embedder = GivenEmbedder({"q": [1, 0], "one": at_cosine(0.9), "two": at_cosine(0.5)})
    selector = nearest(build_index(make_pool(table, group="who"), embedder), embedder)
    for item in (Item("b", "q"), Item("q", "q", {"group": "g2"})):
        assert ids(selector.select_many([item], 2)[0]) == ["c"]


def test_what_was_not_reached_is_not_counted_as_a_leak():
    index, embedder = index_of(LINE)
    guard = Guard(test_ids=frozenset(["a", "e"]))
    assert [one.id for one in nearest(index, embedder, guard).select_many([Q], 2)[0].excluded] == [
        "a"
    ]


def test_more_is_fetched_until_k_are_left():
    cosines = {f"p{n}": 0.97 - n / 1000 for n in range(500)}
    index, embedder = index_of(cosines)
    guard = Guard(test_ids=frozenset(f"p{n}" for n in range(450)))
    selection = nearest(index, embedder, guard).select_many([Q, Item("z", "q")], 2)[1]
    assert ids(selection) == ["p450", "p451"]
    assert len(selection.excluded) == 450
    assert selection.notes == ()


def test_balanced_takes_the_nearest_of_each_class():
    index, embedder = index_of(LINE, labels=["mood"], mood=[1, 1, 1, 0, 0])
    chosen = balanced(index, embedder, label="mood").select(Q, 2)
    assert [(one["id"], one["mood"]) for one in chosen] == [("a", 1), ("d", 0)]
    assert [one["id"] for one in balanced(index, embedder, label="mood").select(Q, 3)] == [
        "a",
        "b",
        "d",
    ]


def test_balanced_looks_far_for_a_rare_class_and_says_when_it_runs_out():
    cosines = {f"p{n}": 0.97 - n / 1000 for n in range(300)}
    mood = ["yes" if n == 299 else "no" for n in range(300)]
    index, embedder = index_of(cosines, labels=["mood"], mood=mood)
    selector = balanced(index, embedder, label="mood")
    assert ids(selector.select_many([Q], 2)[0]) == ["p0", "p299"]
    short = selector.select_many([Q], 4)[0]
    assert ids(short) == ["p0", "p1", "p299"]
    assert short.notes == ("3 of 4 examples: no more are left",)


def test_balanced_leaves_unlabelled_rows_out_and_refuses_what_it_cannot_balance():
    index, embedder = index_of(LINE, labels=["mood"], mood=[None, 1, 0, None, 1])
    assert ids(balanced(index, embedder, label="mood").select_many([Q], 2)[0]) == ["b", "c"]
    with pytest.raises(InputError, match=r"no label 'joy' \(it has mood\)"):
        balanced(index, embedder, label="joy")
    with pytest.raises(InputError, match="class 2 does not occur"):
        balanced(index, embedder, label="mood", classes=[1, 2])


@given(st.lists(st.sampled_from("abc"), max_size=30), st.integers(1, 9))
def test_balance_never_differs_by_more_than_one_while_candidates_last(labels, k):
    places = take_balanced(labels, "abc", k)
    taken = [sum(labels[place] == one for place in places) for one in "abc"]
    assert places == sorted(set(places))
    assert len(places) <= k
    for one, count in zip("abc", taken, strict=True):
        assert count <= -(-k // 3)
        assert count >= min(k // 3, labels.count(one))


def test_diverse_prefers_examples_unlike_each_other():
    rows = np.array([[1, 0, 0], [0.99, 0.141, 0], [0.6, 0, 0.8]], np.float32)
    to_item = np.array([0.95, 0.94, 0.7], np.float32)
    assert take_diverse(to_item, rows, 2, 0.5) == [0, 2]
    assert take_diverse(to_item, rows, 2, 1.0) == [0, 1]
    assert take_diverse(to_item, rows, 9, 0.5) == [0, 2, 1]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.floats(0, 1), st.integers(1, 6))
def test_diverse_equals_its_definition(seed, weight, k):
    draw = np.random.default_rng(seed)
    rows = draw.standard_normal((13, 5)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows, to_item = rows[:12], rows[:12] @ rows[12]
    taken = []
    for place in take_diverse(to_item, rows, k, weight):
        gains = {
            one: weight * to_item[one]
            - (1 - weight) * max((float(rows[one] @ rows[two]) for two in taken), default=0.0)
            for one in range(12)
            if one not in taken
        }
        assert gains[place] == pytest.approx(max(gains.values()), abs=1e-6)
        taken.append(place)
    assert len(taken) == k


def test_diverse_runs_through_the_index_and_checks_its_weight():
    index, embedder = index_of(LINE)
    assert ids(diverse(index, embedder, weight=1.0).select_many([Q], 2)[0]) == ["a", "b"]
    assert ids(diverse(index, embedder, weight=0.1).select_many([Q], 2)[0]) == ["a", "e"]
    with pytest.raises(InputError, match=r"weight must lie in 0\.\.1, got 2"):
        diverse(index, embedder, weight=2)


def test_random_depends_on_seed_and_item_alone_and_reaches_everyone():
    index, embedder = index_of(LINE)
    for name in "wxyz":
        embedder.vectors[name] = embedder.vectors["q"]
    items = [Item(name, name) for name in "wxyz"]
    first = random_examples(index, embedder, seed=1).select_many(items, 2)
    again = random_examples(index, embedder, seed=1).select_many(items[::-1], 2)[::-1]
    assert first == again
    assert first != random_examples(index, embedder, seed=2).select_many(items, 2)
    drawn = {
        name
        for seed in range(30)
        for name in ids(random_examples(index, embedder, seed=seed).select_many([Q], 2)[0])
    }
    assert drawn == set(LINE)
    assert first[0].examples[0]["similarity"] == pytest.approx(LINE[ids(first[0])[0]], rel=1e-5)


def test_a_longer_random_draw_begins_like_a_shorter_one():
    from voirdire_retrieval._selectors import _draw

    whole = _draw(3, Q, 200, 200)
    assert sorted(whole) == list(range(200))
    for count in (0, 1, 7, 60):
        assert _draw(3, Q, 200, count) == whole[:count]
    firsts = [_draw(seed, Q, 5, 1)[0] for seed in range(2000)]
    assert np.bincount(firsts).min() > 330  # 400 expected, standard deviation 18


def test_random_keeps_to_the_guard():
    index, embedder = index_of(LINE)
    guard = Guard(max_similarity=0.75, test_ids=frozenset("c"))
    for seed in range(20):
        chosen = random_examples(index, embedder, guard, seed=seed).select(Q, 5)
        assert {one["id"] for one in chosen} == {"d", "e"}


def test_fixed_gives_the_same_ones_in_order_and_does_not_replace():
    index, embedder = index_of(LINE)
    selector = fixed(index, embedder, ids=["d", "a", "d"])
    assert ids(selector.select_many([Q], 2)[0]) == ["d", "a"]
    own = selector.select_many([Item("a", "q")], 2)[0]
    assert ids(own) == ["d"]
    assert own.notes == ("1 of 2 examples: no more are left",)
    with pytest.raises(InputError, match="the pool has no example 'x'"):
        fixed(index, embedder, ids=["x"])


def test_an_item_without_text_has_nothing_near_to_it():
    index, embedder = index_of(LINE)
    selection = nearest(index, embedder).select_many([Item("z", " "), Q], 2)
    assert selection[0].examples == ()
    assert selection[0].notes == ("the item's text is empty, so nothing is near to it",)
    assert ids(selection[1]) == ["a", "b"]


def test_no_item_and_no_k():
    selector = nearest(*index_of(LINE))
    assert selector.select_many([], 2) == []
    with pytest.raises(InputError, match="k must be 1 or more, got 0"):
        selector.select(Q, 0)


def test_another_model_is_refused_when_the_selector_is_made():
    index, _ = index_of(LINE)
    with pytest.raises(InputError, match="built with the model given, and words is asked for"):
        nearest(index, WordEmbedder())


def test_leaks_are_counted_and_the_overlap_named():
    index, embedder = index_of(LINE)
    embedder.vectors["TEXT B"] = embedder.vectors["text b"]
    test = [Item("a", "q"), Item("t2", "TEXT B")]
    guard = guard_against(test, max_similarity=0.999)
    overlap = pool_overlap(index, test)
    assert [(one.kind, one.severity, one.count, one.places) for one in overlap] == [
        ("pool_test_overlap", "serious", 2, ("a", "b"))
    ]
    findings = leak_findings(nearest(index, embedder, guard).select_many(test, 4))
    assert [(one.kind, one.count, one.places) for one in findings] == [
        ("leak_same_id", 1, ("a<-a",)),
        ("leak_same_text", 1, ("t2<-b",)),
        ("leak_test_split", 2, ("a<-b", "t2<-a")),
        ("few_examples", 2, ("a", "t2")),
    ]
    assert pool_overlap(index, [Q]) == []
    assert leak_findings(nearest(index, embedder).select_many([Q], 2)) == []


def test_the_selectors_are_registered_and_made_from_options_alone(tmp_path):
    found = plugins()
    assert {"nearest", "balanced", "diverse", "random", "fixed"} <= set(found.names("selector"))
    rows = pl.DataFrame({"id": ["a", "b"], "text": ["text a", "text b"], "mood": [1, 0]})
    rows.write_csv(tmp_path / "pool.csv")
    _, embedder = index_of(LINE)
    common = {"pool": "pool.csv", "folder": tmp_path, "embedder": embedder, "labels": ["mood"]}
    make = found.resolve("selector", "nearest")
    assert [(one["id"], one["mood"]) for one in make(**common).select(Q, 1)] == [("a", 1)]
    kept_out = make(**common, index="index", test=[Item("a", "elsewhere")]).select(Q, 1)
    assert kept_out[0]["id"] == "b"
    assert (tmp_path / "index" / "card.json").is_file()
    with pytest.raises(InputError, match="does not take these options"):
        make(**common, ids=["a"])


def test_equally_near_examples_come_in_the_pool_s_order_whatever_is_asked_beside():
    table = pl.DataFrame({"id": [f"p{n}" for n in range(60)], "text": [f"t{n}" for n in range(60)]})
    near = at_cosine(0.8)
    embedder = GivenEmbedder({"q": [1.0, 0.0], **{f"t{n}": near for n in range(60)}})
    selector = nearest(build_index(make_pool(table), embedder), embedder)
    items = [Item(f"q{n}", "q") for n in range(40)]
    together = [ids(one) for one in selector.select_many(items, 3)]
    assert together == [["p0", "p1", "p2"]] * 40
    assert ids(selector.select_many(items[:1], 2)[0]) == ["p0", "p1"]


def test_random_examples_do_not_hang_on_the_order_of_the_pool():
    names = [f"p{n}" for n in range(30)]
    found = []
    for order in (names, names[::-1]):
        table = pl.DataFrame({"id": order, "text": [f"words of {name}" for name in order]})
        embedder = WordEmbedder()
        selector = random_examples(build_index(make_pool(table), embedder), embedder, seed=3)
        found.append([ids(one) for one in selector.select_many([Q, Item("r", "r")], 4)])
    assert found[0] == found[1]


def test_ids_of_two_files_meet_whatever_type_they_were_written_from():
    index, embedder = index_of({"7": 0.9, "8.0": 0.8, "009": 0.7})
    chosen = nearest(index, embedder, guard_against([Item("8", "x"), Item("9", "y")]))
    assert [one["id"] for one in chosen.select(Item("7.0", "q"), 3)] == ["009"]


def test_an_overlap_by_id_alone_is_told_from_one_by_text():
    index, _ = index_of(LINE)
    (found,) = pool_overlap(index, [Item("a", "another text"), Item("z", "text b")])
    assert found.count == 2
    assert "1 of them share an id alone, with another text" in found.message
    (found,) = pool_overlap(index, [Item("z", "text b")])
    assert "alone" not in found.message


def test_fixed_examples_may_be_named_by_numbers_and_by_the_rows_merged_into_them():
    table = pl.DataFrame({"id": ["1", "2", "3"], "text": ["one", "two", "ONE"]})
    embedder = WordEmbedder()
    index = build_index(make_pool(table), embedder)
    assert ids(fixed(index, embedder, ids=[2, "3"]).select_many([Q], 2)[0]) == ["2", "1"]
    for wrong in ([], "12"):
        with pytest.raises(InputError, match="a list of one or more ids"):
            fixed(index, embedder, ids=wrong)


def test_many_items_are_searched_a_block_at_a_time(monkeypatch):
    from voirdire_retrieval import _selector

    embedder = WordEmbedder()
    table = pl.DataFrame({"id": [f"p{n}" for n in range(40)], "text": [f"w{n}" for n in range(40)]})
    index = build_index(make_pool(table), embedder)
    items = [Item(f"q{n}", f"w{n} w{n + 1}") for n in range(9)]
    whole = nearest(index, embedder).select_many(items, 2)
    monkeypatch.setattr(_selector, "_CELLS", 40)
    assert nearest(index, embedder).select_many(items, 2) == whole


def test_an_endpoint_of_a_study_has_an_address_and_a_key(tmp_path, monkeypatch):
    pl.DataFrame({"id": ["a"], "text": ["x"]}).write_csv(tmp_path / "pool.csv")
    make = plugins().resolve("selector", "nearest")
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    options = {"pool": "pool.csv", "folder": tmp_path, "embedder": "compatible:m"}
    with pytest.raises(InputError, match=r"NO_SUCH_KEY \(api_key_env\) is empty"):
        make(**options, base_url="http://localhost:1/v1", api_key_env="NO_SUCH_KEY")


def test_texts_without_a_label_are_no_examples_of_a_study_and_are_counted(tmp_path):
    rows = pl.DataFrame({"id": list("abc"), "text": ["x one", "x two", "y"], "mood": [None, 1, 0]})
    rows.write_csv(tmp_path / "pool.csv")
    common = {"pool": "pool.csv", "folder": tmp_path, "embedder": WordEmbedder(), "index": "i"}
    for _ in range(2):  # built, then read
        selector = plugins().resolve("selector", "nearest")(**common, labels=["mood"])
        chosen = selector.select_many([Item("q", "x")], 2)
        assert ids(chosen[0]) == ["b", "c"]
        (found,) = selector.findings([Item("q", "x")], chosen)
        assert (found.kind, found.count) == ("pool_unlabelled", 1)


@pytest.mark.parametrize(
    ("low", "tense", "lacking"),
    [
        ([1, 0, 1], [0, 1, 1], ("none of low, tense",)),  # as silver labels without a control
        ([1, 1, 1], [0, 1, 1], ("low = no",)),
        (["no", "no", None], [0, 1, 0], ("low = yes",)),
        ([0, 0, 1], [0, 1, 1], ()),
    ],
)
def test_classes_that_no_example_can_show_are_named(low, tense, lacking):
    index, embedder = index_of(
        {"a": 0.9, "b": 0.8, "c": 0.7}, labels=["low", "tense"], low=low, tense=tense
    )
    said = nearest(index, embedder).findings([], [])
    found = [finding for finding in said if finding.kind == "pool_lacks_class"]
    assert [finding.places for finding in found] == ([lacking] if lacking else [])
    assert all(finding.severity == "serious" for finding in found)


def test_labels_of_several_classes_are_no_yes_or_no():
    index, embedder = index_of({"a": 0.9, "b": 0.8}, labels=["mood"], mood=["calm", "tense"])
    assert nearest(index, embedder).findings([], []) == []
