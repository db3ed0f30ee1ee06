"""What this package brings, by name; nothing is imported before it is used."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from voirdire.hookspecs import hookimpl

_MODELS = "voirdire_judges.models"


@hookimpl
def voirdire_register_models(register: Any) -> None:
    """Chat models by their prefix (`openai` in `openai:gpt-4o`)."""
    register("openai", f"{_MODELS}.openai:make")
    register("openai-responses", f"{_MODELS}.openai:make_responses")
    register("anthropic", f"{_MODELS}.anthropic:make")
    register("google", f"{_MODELS}.google:make")
    register("compatible", f"{_MODELS}.compatible:make")
    register("systemone", f"{_MODELS}.systemone:make")
    register("langchain", f"{_MODELS}.langchain:make")
    register("hf", f"{_MODELS}.hf:make")
    register("simulated", f"{_MODELS}.simulated:make")


@hookimpl
def voirdire_register_judges(register: Any) -> None:
    """Judges of single responses and of pairs."""
    register("rubric", "voirdire_judges.rubric:make")
    register("first-failure", "voirdire_judges.first_failure:make")
    register("pairwise", "voirdire_judges.pairwise:make")
    register("questionnaire", "voirdire_judges.questionnaire:make")
    register("agent", "voirdire_judges.agent:make")
    register("debate", "voirdire_judges.debates:make")
    register("probed", "voirdire_judges.probes:make")
    register("program", "voirdire_judges.program:make")


@hookimpl
def voirdire_register_probes(register: Any) -> None:
    """Probes of responses, requests and pairs by `templates.toml`; two that read stored data."""
    for name in (
        "identity",
        "length",
        "truncation",
        "format",
        "emphasis",
        "authority",
        "sycophancy",
        "confidence",
        "hedging",
        "brand",
        "injection",
        "typos",
        "order",
        "wrong_step",
        "language",
        "emoji",
        "paraphrase",
        "paraphrase_2",
        "paraphrase_3",
        "swap",
        "early_truth",
        "no_past",
    ):
        register(name, f"voirdire_judges.probes:{name}")
    register("position", "voirdire.examining.probing.stored:POSITION")
    register("self_preference", "voirdire.examining.probing.stored:SELF_PREFERENCE")


@hookimpl
def voirdire_register_tools(register: Any) -> None:
    """Tools of the agent judge."""
    register("calculate", "voirdire_judges.tools.calculate:make")
    register("lookup", "voirdire_judges.tools.lookup:make")
    register("ask", "voirdire_judges.tools.ask:make")
    register("langchain", "voirdire_judges.tools.langchain:make")
    register("mcp", "voirdire_judges.tools.mcp:make")
    register("python", "voirdire_judges.tools.python:make")


@hookimpl
def voirdire_register_annotators(register: Any) -> None:
    """Annotators of items."""
    register("choice", "voirdire_judges.choice:make")
    register("probed", "voirdire_judges.probes:make_annotator")
    register("labels", "voirdire_judges.labels:make")
    register("questionnaire", "voirdire_judges.questionnaire:make")
    register("yes-no", "voirdire_judges.yes_no:make")


@hookimpl
def voirdire_register_generators(register: Any) -> None:
    """Generators of responses."""
    register("chat", "voirdire_judges.chat:make")
    register("dialogue", "voirdire_judges.dialogue:make")


@hookimpl
def voirdire_register_classifiers(register: Any) -> None:
    """Classifiers: a fast baseline, fine-tuned encoders, annotators used as classifiers."""
    register("tfidf", "voirdire_judges.classifiers.tfidf:make")
    register("hf", "voirdire_judges.classifiers.hf:make")
    register("llm", "voirdire_judges.classifiers.llm:make")


@hookimpl
def voirdire_register_commands(app: Any) -> None:
    """`voirdire classify` and `voirdire tools`."""
    from voirdire.cli.declared import add_commands

    for room in ("classifiers", "tools"):
        declared = files(f"voirdire_judges.{room}") / "commands.toml"
        add_commands(app, tomllib.loads(declared.read_text(encoding="utf-8")))
