"""What headers and names say, by the field's usual words: parts of a table, raters, scales."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from voirdire.errors import no_column
from voirdire.late import dataclass, pattern
from voirdire.tables._ids import plain_name
from voirdire.tables._tables import finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Finding

#: Words that name a part, the standard one first; compared in lower case without `_`, `-`, blanks.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "item": (
        "item", "itemid", "id", "convid", "conversationid", "conversation", "dialogueid",
        "questionid", "qid", "exampleid", "sampleid", "promptid", "docid", "documentid", "postid",
        "textid", "instanceid", "pairid", "uid", "index", "idx", "stimulus",
    ),
    "system": (
        "system", "systemid", "systemname", "generator", "responsemodel", "model", "modelname",
        "modelid", "release", "releaseid", "variant", "respondent", "chatbot", "chatbotid",
        "chatbotname", "bot", "botid", "botname",
    ),
    "rater": (
        "rater", "raterid", "ratername", "judge", "judgeid", "judgename", "judgemodel", "annotator",
        "annotatorid", "completedby", "evaluator", "evaluatorid", "coder", "coderid", "worker",
        "workerid", "expert", "expertid", "reviewer",
    ),
    "run": ("run", "runid", "repetition", "repeat", "rep", "trial", "occasion", "iteration",
            "seed"),
    "attribute": (
        "attribute", "criterion", "criteria", "dimension", "aspect", "metric", "metricname",
        "trait",
    ),
    "score": ("score", "rating", "value", "grade", "points", "scorevalue", "answer"),
    "rank": ("rank",),
    "status": (
        "status", "responsestatus", "assignmentstatus", "annotationstatus", "ratingstatus",
        "labelstatus", "wascancelled", "cancelled", "discarded", "withdrawn", "answer",
    ),
    "cluster": ("cluster", "clusterid"),
    "subgroup": ("subgroup",),
    "origin": ("origin",),
    "label_probability": ("labelprobability",),
    "labelled_by": ("labelledby",),
    "labelled_at": ("labelledat",),
    "context": (
        "context", "text", "post", "prompt", "question", "input", "conversation", "dialogue",
        "query", "message",
    ),
    "response": (
        "response", "responsetext", "modelresponse", "systemresponse", "botresponse",
        "chatbotresponse", "assistantresponse", "answer", "answertext", "modelanswer",
        "generatedanswer", "output", "outputtext", "modeloutput", "systemoutput", "completion",
        "generation", "generatedtext",
    ),
    "reason": (
        "reason", "reasons", "reasoning", "rationale", "explanation", "justification", "critique",
    ),
}  # fmt: skip

#: MTurk puts before each header whether the worker was shown it or wrote it.
_MTURK = pattern(r"^(?:Input|Answer)\.")
#: Words of headers over numbers that measure and do not rate, wherever they stand.
_MEASURES = frozenset(
    (
        "age", "year", "years", "month", "months", "day", "days", "date", "token", "tokens", "word",
        "words", "char", "chars", "character", "characters", "len", "length", "time", "times",
        "second", "seconds", "sec", "secs", "minute", "minutes", "duration", "latency", "cost",
        "price", "count", "row", "line", "nr", "number", "order", "position", "turn", "turns",
        "batch", "gender", "sex",
    )
)  # fmt: skip
#: Words that a header ends in where it speaks about a rater or a rating: `human_confidence`.
_MEASURED = frozenset(
    (
        "confidence", "conf", "certainty", "uncertainty", "id", "ids", "votes", "vote", "std",
        "var",
        "variance", "prob", "probs", "probability", "logprob", "logprobs", "reason", "reasoning",
        "rationale", "explanation", "comment", "comments", "notes", "prev", "previous",
        "old", "experience", "seniority", "timestamp", "difficulty", "version", "revision",
        "attempts", "retries", "entropy", "margin", "temperature",
    )
)  # fmt: skip
#: What a header begins with that counts something.
_COUNTS = frozenset(("n", "num", "nb"))
#: The same in the languages of most files: pages, durations, waiting times, lengths, prices, ages.
_MEASURED_ELSEWHERE = pattern(
    r"(?:^|[\W_\d])(?:seiten?(?:zahl)?|p[aá]ginas?|pagin[ae]|sid(?:a|or)|sivu|sayfa|stron[ay]|pagina's"
    r"|dauer|dur[ée]{1,2}|duraci[oó]n|durata|duur|dura[cç][aã]o|kesto|süre|czas|minut[eio]\w*"
    r"|wartezeit|bearbeitungszeit|attente|espera|wachttijd|l[aä]nge|longueur|longitud|lunghezza"
    r"|lengte|wörter|palabras|woorden|alter|[aâ]ge|edad|età|leeftijd|kosten|co[uû]t"
    r"|costo|preis|prix|precio|anzahl|nombre|numero\s+di|jahr|ann[ée]e|a[nñ]o|anno|jaar"
    r"|stran[aey]?|oldal(?:ak)?|halaman|trang|pagini?|stranic[ae]|lehek[uü]lg|lappuse|puslapis"
    r"|délka|hossz|durasi|thời[ _]gian|umur|tuổi|vârst[aă]|varighed|varighet|varaktighet"
    r")(?:$|[\W_\d])"
    r"|ページ|页|頁|쪽|페이지|страниц|время|длина|возраст|сторінк|тривал|вік|σελίδ|διάρκ|ηλικ|صفح|مدة|عمر"
    r"|עמוד|משך|पृष्ठ|अवधि|आयु|หน้า|ระยะเวลา",
    re.IGNORECASE,
)


def find(part: str, columns: Sequence[str], declared: str | None, table: str) -> str | None:
    """The column that plays a part: the declared one, else one whose name is a usual word for it.

    Raises
    ------
    TableError
        The declared column is not there.
    """
    if declared is not None:
        clean = plain_name(declared)
        if clean not in columns:
            raise no_column(table, clean, columns)
        return clean
    # MTurk writes `Input.post_id` and `Answer.status`.
    # Reversed, so that of two columns of one word the first one stays.
    plain = {plain_word(bare_head(_MTURK.sub("", c))): c for c in reversed(columns)}
    return next((plain[word] for word in SYNONYMS[part] if word in plain), None)


def is_usual(column: str) -> bool:
    """Whether a column's name is a usual word for a part of a table (`item`, `run`, ...).

    One for texts that are shown is none here: numbers under `output` may be a rater's scores.
    """
    parts = (words for part, words in SYNONYMS.items() if part not in ("response", "reason"))
    return any(plain_word(column) in words for words in parts)


def is_id(column: str) -> bool:
    """Whether a column's name speaks of ids (`annotator_id`), which may be numbers."""
    return is_usual(column) and plain_word(column).endswith("id")


def measures(column: str) -> bool:
    """Whether a header speaks of something that is measured about a rating, and is no rating.

    Examples
    --------
    >>> measures("human_confidence"), measures("gpt_judge_reason_len"), measures("human_score")
    (True, True, False)
    """
    # `ratingTime` is two words.
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column).lower())
    counted = len(words) > 1 and words[0] in _COUNTS and words[-1].endswith("s")  # n_raters
    measured = bool(words) and (words[-1] in _MEASURED or not _MEASURES.isdisjoint(words))
    return counted or measured or _MEASURED_ELSEWHERE.search(column) is not None


#: A header that is one human rater, as it stands; a small n behind one is a count.
_PERSON = pattern(
    r"(?:human|expert|clinician|therapist|psychologist|annotator|gold|doctor|nurse|physician"
    r"|counsellor|counselor|psychiatrist|teacher|crowd|coder)s?[ _-]?(?:\d+|[a-mo-z]|(?-i:N))?"
    r"|ann(?:ot)?[ _-]?\d+",
    re.IGNORECASE,
)


def is_person(column: str) -> bool:
    """Whether a header names one human rater or all of them, and nothing else about them.

    Examples
    --------
    >>> is_person("Expert 2"), is_person("nurse"), is_person("human_confidence")
    (True, True, False)
    """
    return bool(_PERSON.fullmatch(column))


#: A header over what people said, whoever they were: a person's column only beside a judge's.
_LABELS = pattern(
    r"(?:gold|human|true|ground|reference)?[ _-]?(?:labels?|truth|annotations?)", re.IGNORECASE
)


def holds_labels(column: str) -> bool:
    """Whether a header speaks of labels by people, without a word for who gave them.

    Examples
    --------
    >>> holds_labels("label"), holds_labels("ground_truth"), holds_labels("label_source")
    (True, True, False)
    """
    return bool(_LABELS.fullmatch(column))


#: Words of people. A family of models beside one of them decides: `deepseek-coder` is none.
_HUMAN = pattern(
    r"human|annotator|expert|clinician|therapist|psycholog|psychiatr|crowd|coder|worker|gold|person"
    r"|student|doctor|nurse|physician|counsel|teacher|patient|layperson|layman|participant"
    r"|volunteer|lawyer|linguist|turker|specialist|professor|tutor|mensch|kodierer"
    r"|(?:^|[ _-])(?:ann|annot|author)[ _-]?\d",
    re.IGNORECASE,
)
#: Families of models: whose name holds one is no person, whatever else it holds.
_MODEL = pattern(
    r"llm|gpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|grok|sonnet|haiku|opus"
    r"|prometheus|vicuna|nemotron|olmo|starcoder|\bo[134]\b|\bo[134]-",
    re.IGNORECASE,
)
#: Short words as whole ones: *ai* stands in *main*, *bot* in *both*, *model* in *remodelled*.
_JUDGE = pattern(r"judge|classifier|(?:^|[_ -])(?:ai|bot|model)(?:$|[_ -])", re.IGNORECASE)
#: Words of raters that may be people as well as judges: `rater_a`, `reviewer 2`.
_EITHER = pattern(
    r"rater|reviewer|evaluator|assessor|grader|scorer|marker|bewerter|beurteiler", re.IGNORECASE
)


def kind_of(name: str, column: str | None = None) -> str | None:
    """``human`` or ``judge`` by a rater's name and the header of its column, or None: not known.

    Examples
    --------
    >>> kind_of("nurse 2"), kind_of("qwen-coder"), kind_of("rater_a"), kind_of("ada", "expert")
    ('human', 'judge', None, 'human')
    """
    # Before words of people: `gpt-4-expert` is a model that was told to be one.
    if _MODEL.search(name):
        return "judge"
    if _HUMAN.search(name) or holds_labels(name):
        return "human"
    if _JUDGE.search(name):
        return "judge"
    # Under the header `expert` Ada is a person; `rater 2` there says no more than anywhere.
    either = _EITHER.search(name)
    return "human" if column is not None and not either and _HUMAN.search(column) else None


def is_model(name: str) -> bool:
    """Whether a name holds a family of models: ``gpt-4o``, ``llama-3-70b``."""
    return _MODEL.search(name) is not None


def names_rater(name: str) -> bool:
    """Whether a header speaks of a person or a judge."""
    return any(words.search(name) for words in (_HUMAN, _MODEL, _JUDGE, _EITHER))


def may_be_either(name: str) -> bool:
    """Whether a name is a word for a rater that fits people as well as judges."""
    return _EITHER.search(name) is not None


def is_human(name: str, column: str | None = None) -> bool:
    """Whether a rater's name, or the header of the column it stands in, speaks of people."""
    return kind_of(name, column) == "human"


#: Words of a header over sums, means and what several raters agreed on, and words beside them.
_SUMS = frozenset(
    (
        "total",
        "totals",
        "sum",
        "mean",
        "means",
        "average",
        "avg",
        "median",
        "consensus",
        "majority",
        "adjudicated",
        "agreed",
        "aggregate",
        "aggregated",
    )
)
#: Words that say nothing beside one for a sum: *mean score*, *total rating*.
_OF_SCORES = frozenset(("score", "scores", "rating", "ratings", "value", "vote", "label"))


def sums_up(column: str) -> bool:
    """Whether a header speaks of a sum or a mean of other columns, and of no rater of its own.

    Examples
    --------
    >>> sums_up("Mean score"), sums_up("total"), sums_up("human_mean"), sums_up("score")
    (True, True, False, False)
    """
    # Nothing but such words: `human_mean` is what the people of a file agreed on, and a rater.
    words = re.findall(r"[a-z]+", column.lower())
    return not _SUMS.isdisjoint(words) and _SUMS.union(_OF_SCORES).issuperset(words)


def named_by_guess(table: str, roles: Mapping[str, str | None]) -> tuple[Finding, ...]:
    """A note on the columns that were recognised by a word that is not the standard one."""
    taken = [
        f"{part} from {column!r}"
        for part, column in roles.items()
        if column is not None and column != part
    ]
    if not taken:
        return ()
    note = finding(
        "columns_inferred",
        "note",
        table,
        taken,
        f"Columns were recognised by their names: {', '.join(taken)}.",
        "Declare them in the study if that is wrong.",
    )
    return (note,)


@lru_cache(maxsize=4096)  # readers of other tools ask it of the same few names in every record
def plain_word(name: str) -> str:
    """A header in lower case, letters and digits only."""
    return "".join(part for part in name.lower() if part.isalnum())


# What a header says of the scale below it: *quality (1 = worst, 5 = best)*, *Rating [1-7]*.
_END = r"[+-]?\d{1,3}(?:\.\d)?"
# A remark in brackets behind a name: "score (1-5)". Where its comma parted the header, none closes.
_REMARK = pattern(
    r"(?P<name>[^()\[\]]*\S)\s*[(\[](?P<said>[^()\[\]]{1,80})(?:[)\]]\s*)?", re.DOTALL
)
# "rating 1-10": without brackets only a usual scale is one.
_BARE = pattern(r"(?P<name>.*\S)\s+(?P<said>[01]\s?[-–]\s?(?:[1-57]|10|100))\s*")
# "1-5", "0 to 100", "1..7 ★"; years and dates are no scale.
_RANGE = pattern(
    rf"(?<![\w.=-])(?P<low>{_END})\s*(?:-|–|—|\bto\b|\.\.+|…|\bbis\b|à)\s*(?P<high>{_END})(?![\w.=])"
)
# "out of 10", "max. 5", "x/7": the high end alone.
_OUT_OF = pattern(rf"(?:\bout\s+of|\bmax(?:imum|\.)?|/)\s*(?P<high>{_END})(?![\w.])")
# "1 = worst", "5: very good", "7 means strongly agree".
_ANCHOR = pattern(
    rf"(?<![\w.])(?P<number>{_END})\s*(?:=|:|\bis\b|\bmeans\b)\s*(?P<word>[^\W\d][^,;/\d]*)"
)
# What stands at the good and at the bad end of a scale.
_GOOD = pattern(
    r"\b(?:best|good|excellent|great|perfect|ideal|top|sehr\s+gut|gut|bestens|meilleur|mejor)\b",
    re.IGNORECASE,
)
_BAD = pattern(
    r"\b(?:worst|bad|poor|terrible|awful|unacceptable|useless|mangelhaft|ungenügend|schlecht\w*|pire|peor)\b",
    re.IGNORECASE,
)
_BETTER = pattern(
    r"\b(?:(?P<low>low(?:er)?|small(?:er)?|less|fewer)|high(?:er)?|large[r]?|more)\s*(?:is|=|are)\s*(?:better|best|good)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Head:
    """The ends that a header states, and at which of them the best score stands."""

    low: float | None = None
    high: float | None = None
    best: Literal["low", "high"] | None = None


def bare_head(column: str) -> str:
    """A header without what it says of its scale.

    >>> bare_head("score (1=best)"), bare_head("Rating [1-7]"), bare_head("length (words)")
    ('score', 'Rating', 'length (words)')
    """
    match = _REMARK.fullmatch(column) or _BARE.fullmatch(column)
    return match["name"] if match and _read(match["said"]) != Head() else column


def head_of(column: str) -> Head:
    """What a header says of the scores below it.

    >>> head_of("score (1 = worst, 5 = best)")
    Head(low=1.0, high=5.0, best='high')
    >>> head_of("rank (1=best)"), head_of("human (2023)")
    (Head(low=None, high=None, best='low'), Head(low=None, high=None, best=None))
    """
    match = _REMARK.fullmatch(column) or _BARE.fullmatch(column)
    return _read(match["said"]) if match else Head()


def _read(remark: str) -> Head:
    best = _best(remark)
    if match := _RANGE.search(remark):
        low, high = float(match["low"]), float(match["high"])
        return Head(low, high, best) if low < high else Head(best=best)
    # Anchors are mostly those of both ends: "1 = worst, 5 = best".
    numbers = sorted(float(each["number"]) for each in _ANCHOR.finditer(remark))
    if len(numbers) > 1 and numbers[0] < numbers[-1]:
        return Head(numbers[0], numbers[-1], best)
    if match := _OUT_OF.search(remark):
        return Head(None, float(match["high"]), best)
    return Head(best=best)


def _best(remark: str) -> Literal["low", "high"] | None:
    """Where the best score stands: by two anchors, by one, or by *lower is better*."""
    if match := _BETTER.search(remark):
        return "low" if match["low"] else "high"
    anchors = [(float(each["number"]), each["word"]) for each in _ANCHOR.finditer(remark)]
    # "not good" and "bad or good" hold both kinds of words: they say nothing of the end.
    good = [number for number, word in anchors if _GOOD.search(word) and not _BAD.search(word)]
    bad = [number for number, word in anchors if _BAD.search(word)]
    if good and bad:
        return "low" if good[0] < bad[0] else "high"
    # Alone a number of at most 1 is the low end of any scale.
    if good:
        return "low" if good[0] <= 1 else "high"
    if bad:
        return "high" if bad[0] <= 1 else "low"
    return None
