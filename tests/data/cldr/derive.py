"""Makes `core/voirdire/parsing/languages/cldr.json` from the npm packages of Unicode's CLDR.

    npm pack cldr-misc-full@48.2.0 cldr-rbnf@48.2.0 && tar xzf ... (each into a folder of its name)
    python derive.py FOLDER_OF_CLDR_MISC_FULL FOLDER_OF_CLDR_RBNF

Takes yes and no of each language (without their initials, which are words of other languages) and
the spelled whole numbers up to 20 and the tens up to 90, in all genders. What means yes in one language and no in another
is left out, and so is a number's word that stands for two numbers.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from pathlib import Path

LANGUAGES = (
    *("ar", "bn", "cs", "da", "de", "el", "en", "es", "fa", "fi", "fr", "he", "hi", "hu", "id"),
    *("it", "ja", "ko", "nb", "nl", "pl", "pt", "ro", "ru", "sv", "th", "tr", "uk", "vi", "zh"),
)
TENS = range(30, 100, 10)
NUMBERS = (*range(21), *TENS)
# "siebzig" of "[→→und]siebzig": what brackets hold stands between the tens only.
OPTIONAL = re.compile(r"\[[^\]]*\]")


def folded(word: str) -> str:
    """As texts are compared: composed, without case and soft hyphens."""
    plain = unicodedata.normalize("NFC", word.replace("\xad", "").replace("İ", "i"))
    return plain.casefold().strip(" .")


def answers(folder: Path, language: str, name: str) -> list[str]:
    """The words for yes or no; the forms behind a colon are initials."""
    file = folder / "main" / language / "posix.json"
    if not file.is_file():
        return []
    words = json.loads(file.read_text("utf-8"))["main"][language]["posix"]["messages"][name]
    # A letter alone is an initial; a sign of East Asia is a word.
    return [w for w in map(folded, words.split(":")) if len(w) > 1 or w > "\u2e80"]


def numbers(folder: Path, language: str) -> dict[str, int]:
    """Spelled whole numbers, from every set of rules for cardinals."""
    file = folder / "rbnf" / f"{'no' if language == 'nb' else language}.json"
    if not file.is_file():
        return {}
    rules = json.loads(file.read_text("utf-8"))["rbnf"]["rbnf"]["SpelloutRules"]
    words: dict[str, set[int]] = {}
    for name, rows in rules.items():
        if not name.startswith(("%spellout-cardinal", "%spellout-numbering")) or "year" in name:
            continue
        for key, text in rows:
            tens = key.isdigit() and int(key) >= 20
            word = folded((OPTIONAL.sub("", text) if tens else text).rstrip(";"))
            # Arrows and signs of equality lead to other rules.
            if key.isdigit() and int(key) in NUMBERS and not set(word) & set("←→=[]<>$%"):
                words.setdefault(word, set()).add(int(key))
    return {word: n.pop() for word, n in words.items() if len(n) == 1 and word}


def main(misc: Path, rbnf: Path) -> None:
    yes = {language: answers(misc, language, "yesstr") for language in LANGUAGES}
    no = {language: answers(misc, language, "nostr") for language in LANGUAGES}
    spelled = {language: numbers(rbnf, language) for language in LANGUAGES}
    said = [{w for words in each.values() for w in words} for each in (yes, no)]
    both = said[0] & said[1]
    by_word: dict[str, set[int]] = {}
    for words in spelled.values():
        for word, number in words.items():
            by_word.setdefault(word, set()).add(number)
    # Danish "tres" is 60, and Spanish 3: of two the smaller is said more.
    doubtful = {(word, n) for word, meant in by_word.items() for n in meant if n > min(meant)}
    doubtful |= {
        (w, n) for w, meant in by_word.items() if len(meant - set(TENS)) > 1 for n in meant
    }
    content = {
        "source": "Unicode CLDR 48.2.0 (cldr-misc-full, cldr-rbnf), Unicode License V3, see LICENSE",
        "languages": {
            language: {
                "yes": [w for w in yes[language] if w not in both],
                "no": [w for w in no[language] if w not in both],
                "numbers": {w: n for w, n in spelled[language].items() if (w, n) not in doubtful},
            }
            for language in LANGUAGES
        },
    }
    sys.stdout.write(json.dumps(content, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
