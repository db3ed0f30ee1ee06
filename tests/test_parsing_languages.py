"""Verdicts in other languages than English: two sentences of each language for what is by hand.

Yes, no and spelled numbers are CLDR's (`tests/data/cldr`). What hedges, denies or leaves open is
missing in every language.
"""

from __future__ import annotations

import json
import time
import tomllib
from pathlib import Path

import pytest

from voirdire.parsing import LabelSet, _hearing, parse_labels
from voirdire.parsing.preferences import parse_preferences
from voirdire.parsing.scores import parse_scores
from voirdire.parsing.yesno import parse_yes_no, said_yes
from voirdire.schema import Scale

DATA = Path(_hearing.__file__).with_name("languages")
CLDR = json.loads((DATA / "cldr.json").read_text("utf-8"))["languages"]
BY_HAND = tomllib.loads((DATA / "words.toml").read_text("utf-8"))

#: Language -> a score that a final word settles, one that a plain sentence gives, two preferences.
SENTENCES = {
    "de": ("Zunächst 2, am Ende aber 4.", "Das bewerte ich mit 3 Punkten.",
           "Antwort B gefällt mir besser.", "Die erste Antwort gewinnt."),
    "fr": ("D'abord 2, mais en fin de compte 4.", "Je lui attribue 3 sur 5.",
           "La deuxième réponse est meilleure.", "Je préfère la première."),
    "es": ("Al principio 2, pero finalmente 4.", "Le pongo 3 puntos.",
           "La respuesta B gana.", "Me quedo con la primera respuesta."),
    "pt": ("Inicialmente 2, mas por fim 4.", "Atribuo 3 pontos.",
           "A segunda resposta vence.", "Prefiro a primeira resposta."),
    "it": ("Inizialmente 2, ma in definitiva 4.", "Assegno 3 punti.",
           "La seconda risposta vince.", "Preferisco la prima risposta."),
    "nl": ("Aanvankelijk 2, maar uiteindelijk 4.", "Ik geef 3 punten.",
           "Het tweede antwoord wint.", "Het eerste antwoord is beter."),
    "pl": ("Początkowo 2, ale w końcu 4.", "Przyznaję 3 punkty.",
           "Druga odpowiedź wygrywa.", "Wolę pierwszą odpowiedź."),
    "ru": ("Вначале 2, но окончательно 4.", "Оцениваю на 3 балла.",
           "Предпочитаю второй ответ.", "Первый ответ лучше."),
    "uk": ("Спочатку 2, але зрештою 4.", "Ставлю 3 бали.",
           "Друга відповідь краща.", "Обираю: перша відповідь краща."),
    "tr": ("Başta 2, ama sonuçta 4 veriyorum.", "3 puan veriyorum.",
           "İkinci yanıt daha iyi.", "İlk yanıtı tercih ediyorum."),
    "zh": ("起初是2分，最后给4分。", "我打3分。", "第二个回答更好。", "我更喜欢前者。"),
    "ja": ("当初は2点でしたが、結局4点とします。", "評価は3点です。",
           "後者の方が優れています。", "一つ目の回答の方が良いです。"),
    "ko": ("처음에는 2점이었지만 결국 4점을 줍니다.", "3점을 줍니다.",
           "후자가 더 좋습니다.", "첫 번째 답변이 더 낫습니다."),
    "ar": ("في البداية 2، لكن في النهاية 4.", "أعطي 3 نقاط.",
           "الرد الثاني أفضل.", "أفضل الرد الأول."),
    "hi": ("शुरू में 2, लेकिन अंत में 4 देता हूँ।", "मैं 3 अंक देता हूँ।",
           "दूसरा उत्तर बेहतर है।", "पहला उत्तर बेहतर है।"),
    "sv": ("Inledningsvis 2, men slutligen 4.", "Jag ger 3 poäng.",
           "Det andra svaret vinner.", "Jag föredrar det första svaret."),
    "da": ("I starten 2, men til sidst 4.", "Jeg giver 3 stjerner.",
           "Det andet svar er bedre.", "Jeg foretrækker det første svar."),
    "nb": ("I begynnelsen 2, men til slutt 4.", "Jeg gir 3 poeng.",
           "Det andre svaret vinner.", "Jeg foretrekker det første svaret."),
    "cs": ("Zpočátku 2, ale nakonec 4.", "Dávám 3 body.",
           "Druhá odpověď je lepší.", "Preferuji první odpověď."),
    "ro": ("Inițial 2, dar în final 4.", "Acord 3 puncte.",
           "A doua variantă este mai bună.", "Prefer primul răspuns."),
}  # fmt: skip
#: What decides nothing: between two values, of both sides, refused, denied.
OPEN = (
    "Vielleicht 4, vielleicht auch 3 Punkte.", "Ich gebe nicht 4 Punkte.",
    "Je donnerais peut-être 4.", "Je ne donne pas 4.", "Quizás le doy un 4.", "No le doy un 4.",
    "Talvez dou 4.", "Forse do 4 punti.", "Misschien geef ik 4 punten.", "Może daję 4 punkty.",
    "Возможно, ставлю 4.", "Belki 4 puan veririm.", "也许给4分。", "たぶん4点です。",
    "아마 4점을 줍니다.", "ربما أعطي 4 نقاط.", "शायद मैं 4 अंक देता हूँ।", "Kanske ger jag 4 poäng.",
    "Die Antwort nennt 4 Gründe.", "La réponse cite 4 raisons.", "Antwort 4 personer.",
)  # fmt: skip


def _score(text: str) -> float | None:
    return parse_scores(text, ["Empathy"], Scale()).scores["Empathy"]


def _level(text: str) -> float | None:
    return parse_preferences(text, ["overall"]).scores["overall"]


def test_every_language_by_hand_has_its_sentences() -> None:
    assert set(SENTENCES) == set(BY_HAND) - {"en"}
    assert len(SENTENCES) >= 15


@pytest.mark.parametrize("language", SENTENCES)
def test_two_sentences_of_each_language(language: str) -> None:
    settled, given, second, first = SENTENCES[language]
    assert _score(settled) == 4.0
    assert _score(given) == 3.0
    assert _level(second) == -1.0
    assert _level(first) == 1.0


@pytest.mark.parametrize("text", OPEN)
def test_what_is_hedged_or_denied_is_missing(text: str) -> None:
    assert _score(text) is None


@pytest.mark.parametrize("language", CLDR)
def test_yes_and_no_of_cldr(language: str) -> None:
    labels = LabelSet(("Anger", "Fear"))
    for yes in CLDR[language]["yes"]:
        for no in CLDR[language]["no"]:
            if said_yes(yes) is None or said_yes(no) is None:
                continue  # a word of one language that says the opposite in another
            assert (said_yes(yes), said_yes(no)) == (True, False)
            scores = parse_labels(f"Anger: {yes}\nFear: {no}", labels).scores
            assert scores == {"Anger": 1.0, "Fear": 0.0}
            assert parse_yes_no(f"{no.capitalize()}.", ["calm"]).scores == {"calm": 0.0}


def test_most_words_of_cldr_are_known() -> None:
    words = [(w, s) for x in CLDR.values() for n, s in (("yes", True), ("no", False)) for w in x[n]]
    assert sum(said_yes(word) is says for word, says in words) >= len(words) - 6


@pytest.mark.parametrize("language", [code for code in CLDR if CLDR[code]["numbers"]])
def test_spelled_numbers_of_cldr(language: str) -> None:
    known = 0
    for word, number in CLDR[language]["numbers"].items():
        score = _score(f"Empathy: {word}")
        assert score in (None, float(number)), word
        known += score == float(number) and 1 <= number <= 5
    # nb has a few in CLDR; th is spelled as it is, and Hebrew and Korean have two of each.
    assert known >= (1 if language == "nb" else 3)


@pytest.mark.parametrize("digit", ["٣", "३", "３", "௩", "๓", "۳"])
def test_digits_of_any_script(digit: str) -> None:
    assert _score(f"Empathy: {digit}") == 3.0


def test_english_is_not_heard_as_another_language() -> None:
    for text in (
        "The score of this reply is for 4 people on the list.",
        "A better option is to ask.",
        "Score: at least 3",
        "In most cases the first response is longer.",
    ):
        assert _hearing.hear(text) == []


def test_a_short_reply_is_heard_in_little_time() -> None:
    _hearing.hear("Ja.")  # the data is read once
    text = "Die erste Antwort geht auf das Gefühl ein, und deshalb ist sie besser. " * 8
    start = time.process_time()
    for number in range(50):
        _hearing.hear(f"{text}{number}")
    assert time.process_time() - start < 0.5
