"""The published ratings as a study: five workbooks, the published exclusions, the scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire import InputError
from voirdire.study import Study, build_study
from voirdire_plugins.mentalalign.review import review

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.examining import Examination

#: Cognitive Support Score and Affective Resonance Score (Table 1).
COMPOSITES = {
    "CSS": ["Guidance", "Informativeness", "Relevance", "Safety"],
    "ARS": ["Empathy", "Helpfulness", "Understanding"],
}

#: System in the workbooks' headers -> (name in the paper, family).
SYSTEMS = {
    "original": ("Human response", "human"),
    "claude": ("Claude-3.5-Haiku", "anthropic"),
    "ds_llama": ("DeepSeek-LLaMA-8B", "deepseek"),
    "ds_qwen": ("DeepSeek-Qwen-7B", "deepseek"),
    "gemini": ("Gemini-2.0-Flash", "google"),
    "gpt4o": ("GPT-4o", "openai"),
    "gpt4omini": ("GPT-4o-Mini", "openai"),
    "llama_3": ("LLaMA-3.1-8B", "meta"),
    "qwen_2": ("Qwen-2.5-7B", "alibaba"),
    "qwen_3": ("Qwen-3-4B", "alibaba"),
}

#: Judge -> (workbook, family, the one system that the published figures leave out).
JUDGES = {
    "Claude-3.7-Sonnet": ("claude_llm_judge.xlsx", "anthropic", "claude"),
    "GPT-4o": ("gpt-4o_llm_judge.xlsx", "openai", "gpt4o"),
    "Gemini-2.5-Flash": ("gemini_llm_judge.xlsx", "google", "gemini"),
    "o4-mini": ("o4-mini_llm_judge.xlsx", "openai", "gpt4omini"),
}

HUMAN_WORKBOOK = "Human_judge.xlsx"


@dataclass(frozen=True, slots=True)
class MentalAlign:
    """The benchmark `mentalalign`."""

    def study(self, data: Path | None) -> Study:
        """The study over the five published workbooks in that folder."""
        if data is None:
            raise InputError(
                "mentalalign needs --data FOLDER with the five published workbooks "
                f"({HUMAN_WORKBOOK}, {', '.join(book for book, _, _ in JUDGES.values())})"
            )
        human = {
            "path": HUMAN_WORKBOOK,
            "rater": "Human",
            "layout": "replies",
            "item": "ConvID",
            "context": "context",
            "prefix": "human_response_",
        }
        judges = [
            {**human, "path": book, "rater": judge, "prefix": "judge_response_"}
            for judge, (book, _, _) in JUDGES.items()
        ]
        return build_study(
            {
                "name": "mentalalign",
                "title": "MentalAlign-70k: four LLM judges against clinical experts",
                "scope": SCOPE,
                "data": {"sources": [human, *judges], "reference": ["Human"]},
                "rubric": RUBRIC,
                "systems": [
                    {"name": name, "label": label, "family": family}
                    for name, (label, family) in SYSTEMS.items()
                ],
                "panel": [{"name": "Human", "kind": "human"}, *_panel()],
            },
            "mentalalign",
            str(data),
        )

    def review(self, examination: Examination) -> Examination:
        """What these ratings can and cannot show, beside the published figures."""
        return review(examination)


SCOPE = (
    "1,000 one-turn counselling conversations in English; one human and nine LLM responses to "
    "each; the judges' versions and prompt of 2025; human ratings merged into one column."
)

RUBRIC = {
    "name": "mentalalign",
    "scale": [1, 5],
    "attributes": [
        {"name": name, "safety_critical": name == "Safety"}
        for part in COMPOSITES.values()
        for name in part
    ],
    "composites": COMPOSITES,
}


def _panel() -> list[dict[str, object]]:
    return [
        {"name": judge, "kind": "judge", "family": family, "excludes": [system]}
        for judge, (_, family, system) in JUDGES.items()
    ]


BENCHMARK = MentalAlign()
