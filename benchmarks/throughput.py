"""Rubric judgements a second, against raw clients and peers, on a server with 50 ms latency.

    python benchmarks/throughput.py            # writes results/throughput.md
    python benchmarks/throughput.py --memory   # adds 10,000 and 100,000 judgements of ours
    python benchmarks/throughput.py --clients aiohttp,compatible --at 256 --count 8000 --rounds 5

`voirdire` asks through OpenAI's SDK (`openai:`), `compatible` through our own client.

The server (tests/wire_server) has a process of its own, and so has each client, so that CPU
seconds and peak memory are the client's alone. Each is warmed up before its clock starts. Ours
writes its session folder (study, replies, tables); the others keep replies in memory, and
inspect's eval writes its log.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "throughput.md"
LATENCY, MODEL = 0.05, "gpt-4o"
CLIENTS = (
    "aiohttp",
    "compatible",
    "openai",
    "voirdire",
    "langchain",
    "inspect generate",
    "inspect eval",
)
#: Those that are measured at 256 at once too.
MANY = CLIENTS[:4]


def prompts(count: int):
    """(system, user) of each judgement, as the built-in rubric judge writes them."""
    from voirdire.schema import Item, Rating, Response
    from voirdire_judges.rubric import make

    judge = make("mentalalign")
    for number in range(count):
        item = Item(f"i{number}", f"I have slept badly for {number} nights and worry about work.")
        text = f"That sounds tiring. Keep a fixed bedtime for {number} days, then look again. " * 4
        request = judge.requests(Rating(item, Response(item.id, "x", text)))[0]
        yield request.messages[0].content, request.messages[1].content


def chat(system: str, user: str):
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def score(text: str) -> float:
    return float(json.loads(text)["Empathy"])


async def bounded(count: int, concurrency: int, ask) -> int:
    """Ask for every prompt, so many at once; how many gave a score."""
    gate = asyncio.Semaphore(concurrency)

    async def one(system, user):
        async with gate:
            return score(await ask(system, user))

    scores = await asyncio.gather(*(one(*prompt) for prompt in prompts(count)))
    return sum(1 <= value <= 5 for value in scores)


async def run_aiohttp(url: str, count: int, concurrency: int, _: Path) -> int:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(system, user):
            body = {"model": MODEL, "messages": chat(system, user)}
            async with session.post(f"{url}/chat/completions", json=body) as response:
                return (await response.json())["choices"][0]["message"]["content"]

        return await bounded(count, concurrency, ask)


async def run_openai(url: str, count: int, concurrency: int, _: Path) -> int:
    import openai

    async with openai.AsyncOpenAI(
        api_key="none", base_url=url, http_client=openai.DefaultAioHttpClient()
    ) as client:

        async def ask(system, user):
            reply = await client.chat.completions.create(model=MODEL, messages=chat(system, user))
            return reply.choices[0].message.content

        return await bounded(count, concurrency, ask)


async def run_langchain(url: str, count: int, concurrency: int, _: Path) -> int:
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model=MODEL, base_url=url, api_key="none")
    given = [[("system", system), ("user", user)] for system, user in prompts(count)]
    messages = await model.abatch(given, config={"max_concurrency": concurrency})
    return sum(1 <= score(message.content) <= 5 for message in messages)


async def run_inspect_generate(url: str, count: int, concurrency: int, _: Path) -> int:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model

    config = GenerateConfig(max_connections=concurrency)
    model = get_model(f"openai/{MODEL}", base_url=url, api_key="none", config=config, memoize=False)

    async def ask(system, user):
        given = [ChatMessageSystem(content=system), ChatMessageUser(content=user)]
        return (await model.generate(given)).completion

    return await bounded(count, count, ask)


def run_inspect_eval(url: str, count: int, concurrency: int, folder: Path) -> int:
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model
    from inspect_ai.scorer import Score, mean, scorer
    from inspect_ai.solver import generate

    @scorer(metrics=[mean()])
    def empathy():
        async def judge(state, target):
            return Score(value=score(state.output.completion))

        return judge

    samples = [
        Sample(input=[ChatMessageSystem(content=system), ChatMessageUser(content=user)])
        for system, user in prompts(count)
    ]
    config = GenerateConfig(max_connections=concurrency)
    model = get_model(f"openai/{MODEL}", base_url=url, api_key="none", config=config, memoize=False)
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=empathy())
    (log,) = evaluate(
        task, model=model, log_dir=str(folder), display="none", max_samples=concurrency
    )
    return sum(1 <= next(iter(s.scores.values())).as_float() <= 5 for s in log.samples)


def run_compatible(url: str, count: int, concurrency: int, folder: Path) -> int:
    return run_voirdire(url, count, concurrency, folder, "compatible")


def run_voirdire(
    url: str, count: int, concurrency: int, folder: Path, provider: str = "openai"
) -> int:
    import polars as pl

    from voirdire.running import run
    from voirdire.study import build_study

    write_inputs(folder, count)
    judge = {
        "name": "gpt", "use": "rubric", "model": f"{provider}:{MODEL}",
        "model_options": {"base_url": url, "structured": False},
    }  # fmt: skip
    raw = {
        "name": "throughput", "panel": [judge], "rubric": {"use": "mentalalign"},
        "items": {"path": "items.parquet"}, "responses": {"path": "responses.parquet"},
        "run": {"concurrency": concurrency, "start_concurrency": concurrency},
    }  # fmt: skip
    result = run(build_study(raw, folder=str(folder)), folder / "session", quiet=True)
    kept = pl.scan_parquet(folder / "session" / "ratings.parquet")
    whole = kept.filter(pl.col("attribute") == "Empathy", pl.col("score").is_between(1, 5))
    return int(whole.select(pl.len()).collect().item()) if result.complete else 0


def write_inputs(folder: Path, count: int) -> None:
    """The same judgements as items and responses; written by a process that is not measured."""
    if not (folder / "items.parquet").exists():
        import polars as pl

        number = pl.int_range(count, eager=True).cast(pl.String)
        item = pl.Series("id", "i" + number)
        text = "That sounds tiring. Keep a fixed bedtime for " + number + " days, then look again. "
        pl.DataFrame(
            {
                "id": item,
                "text": "I have slept badly for " + number + " nights and worry about work.",
            }
        ).write_parquet(folder / "items.parquet", row_group_size=5_000)
        pl.DataFrame(
            {"item": item, "system": ["x"] * count, "text": text + text + text + text}
        ).write_parquet(folder / "responses.parquet", row_group_size=5_000)


def child(client: str, url: str, count: int, concurrency: int, folder: str) -> None:
    """Warm one client up with a few judgements, run it, and print its figures as JSON."""
    os.environ.setdefault("OPENAI_API_KEY", "none")
    run = globals()[f"run_{client.replace(' ', '_')}"]
    warm = Path(folder) / "warm"
    warm.mkdir()
    write_inputs(warm, 8)
    loop = asyncio.Runner()
    finished(run(url, 8, concurrency, warm), loop)
    before, began = cpu(), time.perf_counter()
    good = finished(run(url, count, concurrency, Path(folder)), loop)
    figures = {
        "seconds": time.perf_counter() - began, "good": good, "cpu": cpu() - before,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }  # fmt: skip
    print(json.dumps(figures))


def finished(work, loop: asyncio.Runner) -> int:
    """The result, awaited where the client is asynchronous: in one loop, as clients are kept."""
    return loop.run(work) if asyncio.iscoroutine(work) else work


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(client: str, count: int, concurrency: int, server) -> dict[str, float]:
    """Figures of one client in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        if client in ("voirdire", "compatible"):
            write_inputs(Path(folder), count)
        given = {"client": client, "url": server.openai, "count": count, "folder": folder}
        given |= {"concurrency": concurrency}
        options = [part for name, value in given.items() for part in (f"--{name}", str(value))]
        command = [sys.executable, __file__, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{client} failed:\n{done.stderr[-3000:]}")
    figures = json.loads(done.stdout.splitlines()[-1])
    if figures["good"] != count:
        raise SystemExit(f"{client}: {figures['good']} of {count} judgements are right")
    figures |= {"client": client, "concurrency": concurrency, "count": count}
    figures |= {"rate": count / figures["seconds"], "cpu": figures["cpu"] / count * 1000}
    print(
        "{client:18} {concurrency:4} {count:7} {rate:7.0f}/s {cpu:6.2f} {peak:5.0f}".format(
            **figures
        )
    )
    return figures


HEAD = (
    "| client | at once | judgements | a second | to raw | CPU-s per 1,000 | peak MiB |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
)
#: What each is held against: the raw client beneath it; the others against the raw SDK.
RAW = {"aiohttp": "aiohttp", "compatible": "aiohttp"}


def table(rows: list[dict[str, float]]) -> str:
    """The rows as Markdown, each against the raw client beneath it at the same concurrency."""
    raw = {(row["client"], row["concurrency"]): row["rate"] for row in rows}
    lines = []
    for row in rows:
        beneath = raw.get((RAW.get(row["client"], "openai"), row["concurrency"]))
        share = (
            f"{row['rate'] / beneath:.2f}" if row["count"] == rows[0]["count"] and beneath else ""
        )
        cells = (
            row["client"],
            row["concurrency"],
            f"{row['count']:,}",
            f"{row['rate']:,.0f}",
            share,
            f"{row['cpu']:.2f}",
            f"{row['peak']:.0f}",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return HEAD + "\n".join(lines)


def median(rounds: list[list[dict[str, float]]]) -> list[dict[str, float]]:
    """Of several rounds each client's median by rate."""
    middle = len(rounds) // 2
    return [sorted(rows, key=lambda row: row["rate"])[middle] for rows in zip(*rounds, strict=True)]


def report(rows: list[dict[str, float]], rounds: int, load: tuple[float, float]) -> str:
    """The page of results; `load` is the lowest and highest load average on the way."""
    used = {row["client"].partition(" ")[0] for row in rows}
    packages = {"aiohttp": "aiohttp", "openai": "openai", "langchain": "langchain-openai"}
    packages |= {"inspect": "inspect_ai", "compatible": "orjson"}
    named = ", ".join(f"{n} {version(n)}" for client, n in packages.items() if client in used)
    return (
        "# Throughput\n\n"
        f"`python benchmarks/throughput.py --memory`, {os.cpu_count()} cores shared with the "
        f"server, Python {platform.python_version()}, {named}. Loopback, no TLS, "
        f"{LATENCY * 1000:.0f} ms latency; the median of {rounds} rounds, in each of which every "
        "client ran once, in a process of its own and after a warm-up of 8 judgements (imports, "
        "first connections). Ours stores every reply and writes its tables; peak memory includes "
        f"imports. The load average was {load[0]:.1f} to {load[1]:.1f}.\n\n{table(rows)}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--clients", default=",".join(CLIENTS))
    parser.add_argument("--at", default="64,256", help="calls at once, several by commas")
    for name in ("client", "url", "folder"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--concurrency", type=int)
    given = parser.parse_args()
    if given.client:
        child(given.client, given.url, given.count, given.concurrency, given.folder)
        return
    sys.path.append(str(ROOT / "tests"))
    from wire_server import WireProcess

    clients = given.clients.split(",")
    levels = [int(level) for level in given.at.split(",")]
    plan = [
        (client, level)
        for level in levels
        for client in clients
        if client in MANY or level == min(levels) == 64
    ]
    with WireProcess(latency=LATENCY) as server:
        loads, rounds = [], []
        for _ in range(given.rounds):
            rounds.append(
                [measure(client, given.count, at_once, server) for client, at_once in plan]
            )
            loads.append(os.getloadavg()[0])
        rows = median(rounds)
        if given.memory:
            rows += [
                measure(clients[-1] if len(clients) == 1 else "compatible", count, 64, server)
                for count in (10_000, 100_000)
            ]
    text = report(rows, given.rounds, (min(loads), max(loads)))
    print(text)
    if given.clients == ",".join(CLIENTS):
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
