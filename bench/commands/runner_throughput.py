"""2,000 calls at concurrency 200: our runner compared with bare `litellm.acompletion`.

Both call a server on loopback, in alternate rounds, so that other load on the machine affects both
alike. The best round of each counts. The server has its own process.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.ratios import Ratio
from runners.engine.engine import Engine, EngineSettings, Job
from runners.journal_writer import JournalWriter, result_row
from runners.models.model import Model
from runners.plan import Cell, Plan, Task
from runners.providers.base import Request
from runners.providers.registry import make_provider
from warehouse.lake.batch import Generation
from warehouse.lake.journal.journal import Entry, Journal

if TYPE_CHECKING:
    from collections.abc import Iterator

# Calls per second, and per CPU second of this process, which a busy machine hardly affects.
Rates = tuple[float, float]
_REPLY = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}
    ],
    "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
}


async def serve() -> None:
    """Answer every request after 50 ms, on connections that stay open."""
    body = json.dumps(_REPLY).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.partition(b":")[2])
                    for line in request.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                )
                await reader.readexactly(length)
                await asyncio.sleep(0.05)
                writer.write(head % len(body) + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def bare(base: str, calls: int, concurrency: int) -> Rates:
    """Make the calls directly, and return the rates."""
    import litellm

    left = iter(range(calls))

    async def work() -> None:
        for _ in left:
            await litellm.acompletion(
                model="openai/m",
                messages=[{"role": "user", "content": "question"}],
                api_base=base,
                drop_params=True,
                num_retries=0,
                max_retries=0,
            )

    began = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(concurrency)))
    return _rates(calls, began)


async def ours(base: str, calls: int, concurrency: int, store: Path, provider: object) -> Rates:
    """Make the calls through the engine, which writes each to disk before it counts."""
    model = Model("openai/m", "litellm", base_url=base)
    plan = Plan(
        suite="bench",
        family="own",
        run_date="2026-01-01",
        task_set="bench",
        models=(model,),
        tasks=(),
    )
    with Journal(store, Generation("bench", "r"), reserve_bytes=1 << 20) as journal:
        writer = JournalWriter(journal)

        async def record(cell: Cell, outcome: object) -> None:
            await writer.add([Entry("results", result_row(plan, "r", journal.name, cell, outcome))])

        engine = Engine(EngineSettings(concurrency=concurrency), record)
        cells = (Cell(model, Task(f"t{n}", "question"), 1, n) for n in range(1, calls + 1))
        jobs = [Job(c, provider, Request(model.name, "question", base_url=base)) for c in cells]
        began = time.perf_counter(), time.process_time()
        await engine.run(jobs)
        rates = _rates(calls, began)
        await writer.finish()
    return rates


def measure(*, quick: bool) -> list[Ratio]:
    """Measure calls per second, and per CPU second of this process."""
    calls, concurrency, rounds = (100, 20, 1) if quick else (2000, 200, 4)
    os.environ["OPENAI_API_KEY"] = "none"
    with served() as base:
        rates, peaks = asyncio.run(_rounds(base, calls, concurrency, rounds))
    best = {side: [max(column) for column in zip(*rates[side], strict=True)] for side in rates}
    memory = f"peak memory {peaks[0]:.0f} MiB after the first round, {peaks[-1]:.0f} after the last"
    units = ("calls per second", "calls per CPU second")
    return [
        Ratio(
            f"{calls:,} calls at concurrency {concurrency}, each written to disk: {unit}",
            "bare `litellm.acompletion` (relative rate)",
            best["ours"][at] / best["bare"][at],
            f"{best['ours'][at]:.0f} and {best['bare'][at]:.0f} {unit}; {memory}",
            at_least=0.9,
        )
        for at, unit in enumerate(units)
    ]


async def _rounds(
    base: str, calls: int, concurrency: int, rounds: int
) -> tuple[dict[str, list[Rates]], list[float]]:
    """Return the rates of both sides in alternate rounds, and the peak memory after each round."""
    provider = make_provider("litellm")
    provider.unavailable_reason("openai/m", base)
    store = Path(tempfile.mkdtemp())
    rates: dict[str, list[Rates]] = {"bare": [], "ours": []}
    peaks = []
    try:
        # Set-up that happens once, such as connections and caches, is not measured.
        await bare(base, concurrency, concurrency)
        await _settled()
        await ours(base, concurrency, concurrency, store, provider)
        for _ in range(rounds):
            rates["bare"].append(await bare(base, calls, concurrency))
            await _settled()
            rates["ours"].append(await ours(base, calls, concurrency, store, provider))
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    finally:
        await provider.close()
        shutil.rmtree(store)
    return rates, peaks


async def _settled() -> None:
    """Wait until litellm has finished its deferred logging of calls."""
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER

    await GLOBAL_LOGGING_WORKER.flush()


@contextmanager
def served() -> Iterator[str]:
    """Run a server in its own process, and yield its address."""
    command = [
        sys.executable,
        "-c",
        "import asyncio, bench.commands.runner_throughput as b; asyncio.run(b.serve())",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            port = server.stdout.readline().strip() if server.stdout else ""
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _rates(calls: int, began: tuple[float, float]) -> Rates:
    return calls / (time.perf_counter() - began[0]), calls / (time.process_time() - began[1])
