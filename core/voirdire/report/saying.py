"""What is said of one judge: short whole sentences, all of them made from one table."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from voirdire.examining.gains import BESIDE
from voirdire.examining.spec import COMPONENTS, KINDS, REASONS, THESE, USES, UseSpec
from voirdire.late import dataclass, pattern
from voirdire.report.sentences import because, next_text, sentence
from voirdire.report.words import brief, plural
from voirdire.tabular import number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from voirdire.examining.gains import Simpler
    from voirdire.examining.verdict.facts import Component, State, Verdict

#: Words of the longest sentence; what would be longer is said in two.
MOST_WORDS = 25
_MOST_REASONS = 2
#: Uses that one sentence lists; more are said in the next.
_MOST_USES = 3
#: Refusals with reasons of their own that are said one by one; of more the reasons follow together.
_MOST_REFUSED = 3
#: More attributes or labels than this are counted in a sentence and not named.
_MOST_NAMED = 4
_BRACKETS = pattern(r" \(.*\)$")
#: What stands behind the first number in brackets.
_SECOND = pattern(r", [a-z][^()]*(?=\)$)")
_EVERYWHERE = " on every attribute"

#: Every sentence about a judge. What stands in braces comes from the uses and components.
FRAMES: Mapping[str, str] = {
    "yes": "Use {judge} to {what}{where}.",
    "only": "Use {judge} only to {what}{where}.",
    "also": "Also use it to {what}{where}.",
    "alone": "{what}{where}.",
    "instead": "Use {other} instead of {judge}{where}: no gain over it is shown{price}.",
    "no gain": "No gain over {other} is shown{where}{price}.",
    "itself": "Even so, {judge} may be used to {what}{where}.",
    "not shown": "It is not vouched for {what}.",
    "no": "Do not {what}{where}.",
    "no, since": "Do not {what}{where}: {why}.",
    "because": "{why}, so do not {what}{where}.",
    "so": "So do not {what}{where}.",
    "open": "Not enough data yet to clear {judge} for {what}{where}.",
    "until": "Not enough data yet to clear {judge} for {what}{where}: {step}",
    "all open": "Not enough data to clear {judge} for anything yet.",
    "first answer": "For a first yes or no {step}",
    "nothing": "Do not use {judge} for anything: {why}.",
    "untold": "Nothing can be said of {judge} yet: {why}.",
    "untested": "It could not be tested for {what}: {why}.",
    "no test": "Nothing was tested of {judge}.",
}


def listed(parts: Sequence[str], word: str = "and") -> str:
    """Parts as a sentence joins them.

    >>> listed(["a", "b", "c"]), listed(["a", "b"], "or"), listed([])
    ('a, b and c', 'a or b', '')
    """
    if len(parts) < 2:
        return "".join(parts)
    # What is itself a choice is set apart: "quote it, or let it rank or gate".
    stop = "," if f" {word} " in parts[-1] and word == "or" else ""
    return f"{', '.join(parts[:-1])}{stop} {word} {parts[-1]}"


@dataclass(frozen=True, slots=True)
class Saying:
    """One judge, and what its sentences are made of.

    Attributes
    ----------
    systems : int
        How many its verdicts are about.
    constant : float
        The one score that it gives on every attribute; NaN for a judge whose scores differ.
    simpler : sequence of Simpler
        What costs less and is not shown to be worse, the dearest use of it first.
    cleared : callable
        Whether another rater of the panel has a yes where this one has; None for what is no rater
        of it.
    """

    name: str
    verdicts: Sequence[Verdict]
    systems: int
    constant: float = math.nan
    simpler: Sequence[Simpler] = ()
    cleared: Callable[[str, Verdict], bool | None] = lambda _other, _verdict: None

    @property
    def these(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.target == THESE]

    @property
    def attributes(self) -> list[str]:
        return list(dict.fromkeys(verdict.attribute for verdict in self.these))

    def said(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What to do, and what else holds: reasons, what is open, what could not be tested.

        Nothing takes back what stands before it.
        """
        if (flat := self._useless()) is not None:
            return (flat,), ()
        open_, untested = self._open(), self._not_tested()
        spoken = self._spoken()
        several = len({one.use for one in spoken}) > 1
        if several and all(one.state == "open" for one in spoken):
            step = _step(spoken, fewest=True)
            more = [self._framed("first answer", step=step)] if step else []
            return (self._framed("all open", judge=self.name),), (*more, *untested)
        yes = self._yes()
        forbidden, reasons = self._no()
        lead = yes or forbidden or [*open_[:1]] or [self._framed("no test", judge=self.name)]
        rest = [*(forbidden if yes else []), *reasons, *open_, *untested]
        return tuple(lead), tuple(one for one in dict.fromkeys(rest) if one not in lead)

    def _spoken(self) -> list[Verdict]:
        """Verdicts that a sentence speaks of; those on what is minor only where they are yes."""
        return [one for one in self.these if one.state == "yes" or not USES[one.use].minor]

    def _useless(self) -> str | None:
        """The only sentence where nothing may be done with a judge on any attribute."""
        these = self.these
        if math.isfinite(self.constant):
            one = "probability" if self.these[0].kind == "probability" else "score"
            why = f"it gives one {one} ({self.constant:g}) whatever it is shown"
            return self._framed("nothing", judge=self.name, why=why)
        if not these or any(verdict.state == "yes" for verdict in these):
            return None
        reasons = [one for one in dict.fromkeys(verdict.reason for verdict in these) if one]
        if all(verdict.state == "not tested" for verdict in self._spoken()):
            words = [REASONS[one].words for one in reasons][:_MOST_REASONS]
            words = words or ["these data cannot tell"]
            whole = self._framed("untold", judge=self.name, why=listed(words))
            one = self._framed("untold", judge=self.name, why=words[0])
            return whole if fits(whole) else one
        refused = [verdict for verdict in these if _asks_to_read(verdict)]
        unread = (
            verdict.state == "no" and any(COMPONENTS[key].unread for key in verdict.deciding)
            for verdict in refused
        )
        if not refused or not all(unread):
            return None
        first = next((REASONS[one].words for one in reasons if REASONS[one].first), None)
        why = first or KINDS[these[0].kind].unread
        return self._framed("nothing", judge=self.name, why=why)

    def _framed(self, frame: str, **words: str) -> str:
        return sentence(FRAMES[frame].format(**words))

    def _packed(
        self, frames: Sequence[str], parts: Sequence[str], word: str = "and", **words: str
    ) -> list[str]:
        """Parts in as few sentences as hold them; the first by the first frame."""
        made: list[str] = []
        left = _once(parts)
        while left:
            frame = frames[min(len(made), len(frames) - 1)]
            for many in range(min(len(left), _MOST_USES), 0, -1):
                said = self._framed(frame, what=listed(left[:many], word), **words)
                if fits(said) or many == 1:
                    break
            for shorter in (_SECOND, _BRACKETS):  # long names leave room for one number, or none
                if not fits(said):
                    said = self._framed(frame, what=shorter.sub("", left[0]), **words)
            made.append(said)
            left = left[many:]
        return made

    def _by_place(
        self, state: State, among: Iterable[Verdict]
    ) -> dict[str, dict[str, list[Verdict]]]:
        """Where -> use -> its verdicts of a state."""
        by_use: dict[str, list[Verdict]] = {}
        for verdict in among:
            if verdict.state == state:
                by_use.setdefault(verdict.use, []).append(verdict)
        places: dict[str, dict[str, list[Verdict]]] = {}
        for use in USES:
            if use in by_use:
                places.setdefault(self._on(by_use[use]), {})[use] = by_use[use]

        # Where most is said goes first: it is the sentence that is read.
        def verdicts(uses: dict[str, list[Verdict]]) -> int:
            return -sum(map(len, uses.values()))

        return dict(sorted(places.items(), key=lambda one: verdicts(one[1])))

    def _yes(self) -> list[str]:
        """What it is for; where something cheaper does as well, that first."""
        cleared = [one for one in self.these if one.state == "yes"]
        better = [one for one in cleared if self._cheaper(one) is not None]
        instead = self._instead(better)
        # A use is refused elsewhere: "only" forbids the rest, which nothing open may be.
        states = {one.state for one in self._spoken()}
        first = "only" if "no" in states and "open" not in states else "yes"
        said: list[str] = []
        by_themselves: list[tuple[UseSpec, list[Verdict], str]] = []
        # What would be all that it is for is said as any other use is.
        small = all(USES[one.use].alone for one in cleared)
        for where, uses in self._by_place("yes", cleared).items():
            listed_uses = {
                use: own
                for use, own in uses.items()
                if (USES[use].verb if small and not said else not USES[use].alone)
            }
            verbs = [
                f"{self._words(USES[use].verb, own)}{numbered(own)}"
                for use, own in listed_uses.items()
            ]
            begun = "itself" if instead and len(better) == len(cleared) else first
            frames = ["also"] if said else [begun, "also"]
            said += self._packed(frames, verbs, judge=self.name, where=where)
            rest = uses.keys() - listed_uses.keys()
            by_themselves += [(USES[use], own, where) for use, own in uses.items() if use in rest]
        for use, own, where in by_themselves:
            what = self._words(use.alone, own, **self._named(not said))
            told = self._framed("alone", what=f"{what}{numbered(own)}", where=where)
            said.append(told if fits(told) else self._framed("alone", what=what, where=where))
        if instead and len(better) == len(cleared):
            return [*instead, *said, *self._not_shown(cleared)]
        return [*said, *instead, *self._not_shown(cleared)]

    def _cheaper(self, verdict: Verdict) -> Simpler | None:
        """What may take its place: a rater that has the same yes, or the judge with fewer steps."""
        for one in self.simpler:
            if (
                one.attribute == verdict.attribute
                and self.cleared(one.instead, verdict) is not False
            ):
                return one
        return None

    def _instead(self, better: Sequence[Verdict]) -> list[str]:
        groups: dict[str, list[tuple[Verdict, Simpler]]] = {}
        for verdict in better:
            if (one := self._cheaper(verdict)) is not None:
                groups.setdefault(one.instead, []).append((verdict, one))
        said = []
        for other, pairs in groups.items():
            own = list({verdict.attribute: verdict for verdict, _ in pairs}.values())
            times = max(one.times for _, one in pairs)
            price = f", at {times:.1f} times the price" if math.isfinite(times) else ""
            where = self._on(own)
            called = BESIDE.get(other, brief(other, 40))
            said.append(
                self._framed("instead", other=called, judge=self.name, where=where, price=price)
            )
        return said

    def _not_shown(self, cleared: Sequence[Verdict]) -> list[str]:
        """Systems, labels and hard items of which a yes was not shown."""
        single = [one for one in cleared if not USES[one.use].per_label]
        parts = [part for one in single for part in one.components]
        said, plain = [], []
        for key, spec in COMPONENTS.items():
            named = [part for part in parts if part.name == key and part.not_shown]
            if named and spec.spared is not None:
                said.append(spec.spared(named))
            else:
                plain += named
        out = list(dict.fromkeys(brief(name, 40) for part in plain for name in part.not_shown))
        if len(out) > _MOST_NAMED:
            out = [*out[:_MOST_NAMED], f"{len(out) - _MOST_NAMED} more"]
        said += self._packed(["not shown"], [f"on {listed(out)}"]) if out else []
        without = dict.fromkeys(REASONS[part.reason].beside_yes for part in parts if part.reason)
        return [*said, *filter(None, without)]

    def _no(self) -> tuple[list[str], list[str]]:
        """What it is not for, and why not; in one where it is for something else."""
        places = self._by_place("no", self._spoken())
        cleared = any(one.state == "yes" for one in self.these)
        forbidden: list[str] = []
        groups: dict[tuple[str, str], list[str]] = {}
        for where, uses in places.items():
            # The judge is named once: "rank systems by good, quote its averages or ...".
            named = not (cleared or forbidden)
            verbs = [
                self._words(USES[use].refused, own, "or", **self._named(named and at == 0))
                for at, (use, own) in enumerate(uses.items())
            ]
            if not cleared:
                forbidden += self._packed(["no"], verbs, "or", where=_any(where))
            for verb, own in zip(verbs, uses.values(), strict=True):
                groups.setdefault((where, _worst(own)), []).append(verb)
        if not cleared and len(groups) <= _MOST_REFUSED and all(why for _, why in groups):
            # Each reason, which has the number, beside what it refuses.
            told: list[str] = []
            for (place, why), verbs in groups.items():
                where = _any(place)
                said = self._packed(["no, since"], verbs, "or", where=where, why=why)
                if len(said) > 1 or not fits(said[0]):
                    said = [*self._packed(["no"], verbs, "or", where=where), sentence(why)]
                told += said
            return told, []
        if not cleared:
            whys = [
                f"{where[1:]} {why}" if where and len(places) > 1 else why
                for where, why in groups
                if why
            ]
            return forbidden, [sentence(why) for why in dict.fromkeys(whys)]
        for (place, why), verbs in groups.items():
            where = _any(place)
            said = self._packed(["because" if why else "no"], verbs, "or", where=where, why=why)
            if not all(map(fits, said)):
                said = [sentence(why), *self._packed(["so"], verbs, "or", where=where)]
            forbidden += said
        return forbidden, []

    def _named(self, named: bool) -> dict[str, str]:
        return dict(
            zip(
                ("it", "its"),
                (self.name, f"{self.name}'s") if named else ("it", "its"),
                strict=True,
            )
        )

    def _open(self) -> list[str]:
        said = []
        for where, uses in self._by_place("open", self._spoken()).items():
            doing = [self._words(USES[use].doing, own, "or") for use, own in uses.items()]
            step = _step([one for own in uses.values() for one in own])
            frames = ["until" if step else "open"]
            told = self._packed(frames, doing, "or", judge=self.name, where=_any(where), step=step)
            if step and (len(told) > 1 or not fits(told[0])):
                told = self._packed(["open"], doing, "or", judge=self.name, where=_any(where))
                told.append(sentence(step))
            said += told
        return said

    def _not_tested(self) -> list[str]:
        """Uses that people ask for by themselves, where no attribute was tested."""
        groups: dict[str, list[str]] = {}
        for use in USES.values():
            own = [one for one in self.these if (one.use, one.state) == (use.key, "not tested")]
            if own and use.untested_said and len(own) == len(self.attributes):
                reason = REASONS.get(own[0].reason)
                why = "these data cannot tell" if reason is None else reason.words
                groups.setdefault(why, []).append(self._words(use.doing, own, "or"))
        return [
            said
            for why, doing in groups.items()
            for said in self._packed(["untested"], doing, "or", why=why)
        ]

    def _words(
        self, words: str, verdicts: Sequence[Verdict], joined: str = "and", **more: str
    ) -> str:
        """Words of a use, filled in; `joined` stands between labels."""
        use = USES[verdicts[0].use]
        return words.format(
            systems=f"these {plural(self.systems, 'system')}" if self.systems > 1 else "systems",
            label=_labels_of(use, verdicts, joined),
            averages=KINDS[verdicts[0].kind].averages,
            **more,
        )

    def _on(self, verdicts: Sequence[Verdict]) -> str:
        """On which attributes; nothing where there is but one, or where it is all of them."""
        if verdicts[0].label and USES[verdicts[0].use].per_label:  # the verb names the labels
            verdicts = list({one.attribute: one for one in verdicts}.values())
        elif verdicts[0].label:
            # Of the only question a label needs no other name.
            single = len(self.attributes) == 1
            about = [brief(one.label if single else one.about, 40) for one in verdicts]
            shown = listed(about) if len(about) <= _MOST_NAMED else f"{len(about)} labels"
            return f" on {shown}"
        names = list(dict.fromkeys(brief(verdict.attribute, 40) for verdict in verdicts))
        if len(names) == len(self.attributes):
            return "" if len(names) == 1 else _EVERYWHERE
        if len(names) > _MOST_NAMED:
            return f" on {len(names)} of {len(self.attributes)} attributes"
        return f" on {listed(names)}"


def _step(verdicts: Sequence[Verdict], *, fewest: bool = False) -> str:
    """How much more data would settle all of them, or with `fewest` the first, as a clause."""
    steps = [one.next for one in verdicts if one.next.action == "rate more" and one.next.needed]
    if not steps or not (fewest or len(steps) == len(verdicts)):
        return ""
    chosen = (min if fewest else max)(steps, key=lambda step: (step.needed or 0) / (step.now or 1))
    told = next_text(chosen, "open")
    return f"{told[:1].lower()}{told[1:]}"


def numbered(verdicts: Sequence[Verdict]) -> str:
    """The number that clears a use, in brackets: of several attributes that of the weakest.

    Empty where nothing that the use is explained by was measured.
    """
    use = USES[verdicts[0].use]
    said: list[str] = []
    for key in dict.fromkeys((*use.shown, *(one.key for one in use.required[THESE]))):
        spec = COMPONENTS[key]
        parts = [
            part
            for one in verdicts
            for part in one.components
            if part.name == key and math.isfinite(part.estimate)
        ]
        if parts and len(said) < use.numbers and (spec.in_brackets or key in use.shown):
            said.append(spec.in_brackets(parts) if spec.in_brackets else _titled(parts))
    told = ", ".join(filter(None, said))
    return f" ({told})" if told else ""


def _titled(parts: Sequence[Component]) -> str:
    """Of a component that has no words of its own for it."""
    return f"{COMPONENTS[parts[0].name].title} {number_text(parts[0].estimate, 2)}"


def _once(parts: Sequence[str]) -> list[str]:
    """Parts in a row that begin with "let it" as one: "let it replace a human or rank"."""
    made: list[str] = []
    for part in parts:
        if made and made[-1].startswith("let ") and part.startswith("let it "):
            made[-1] += f" or {part.removeprefix('let it ')}"
        else:
            made.append(part)
    return made


def _any(where: str) -> str:
    """Where, as a denial says it: what holds nowhere holds not on any, and not "not on every"."""
    return " on any attribute" if where == _EVERYWHERE else where


def fits(text: str) -> bool:
    """Whether a sentence is short enough."""
    return len(text.split()) <= MOST_WORDS


def _labels_of(use: UseSpec, verdicts: Sequence[Verdict], joined: str) -> str:
    """The labels that uses of single labels are about."""
    if not use.per_label:
        return ""
    labels = list(dict.fromkeys(brief(one.label, 40) for one in verdicts))
    if use.all_labels and len(labels) > 1:
        return use.all_labels
    return listed(labels, joined) if len(labels) <= _MOST_NAMED else f"{len(labels)} labels"


def _asks_to_read(verdict: Verdict) -> bool:
    """Whether its use asks whether scores follow the responses, and it was tested."""
    asked = USES[verdict.use].required[verdict.target]
    return verdict.state != "not tested" and any(COMPONENTS[one.key].unread for one in asked)


def _worst(verdicts: Sequence[Verdict]) -> str:
    """Why, from what fails most clearly: the widest bias, else the first component that is no."""
    part = worst_part(verdicts)
    if part is not None:
        return _plain(part, verdicts[0].kind)
    return REASONS[verdicts[0].reason].words if verdicts[0].reason else ""


def worst_part(verdicts: Sequence[Verdict]) -> Component | None:
    """The component that refuses most clearly, of verdicts that are no."""
    parts = [
        part
        for verdict in verdicts
        for part in verdict.components
        if part.name in verdict.deciding and part.state == "no" and math.isfinite(part.estimate)
    ]
    # A judge that does not follow the responses fails everything else by chance or by luck.
    if unread := [part for part in parts if COMPONENTS[part.name].unread]:
        return unread[0]
    # Points of the scale compare with one another; correlations and shares do not.
    level = [part for part in parts if COMPONENTS[part.name].unit == "points"]
    return max(level, key=lambda one: abs(one.estimate)) if level else next(iter(parts), None)


def _plain(part: Component, kind: str) -> str:
    """A component without its interval, which stands further down."""
    return because(replace(part, low=math.nan, high=math.nan), kind)
