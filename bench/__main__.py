"""Run benchmarks and write their ratios into `bench/RESULTS.md`.

    python -m bench [--full] [--quick] [NAME ...]

Each benchmark is a module with `measure(*, quick)`, and runs in its own process.
`--full` runs those that take minutes, too; the table keeps the ratios of those that did not run.
`--quick` uses small sizes to show that the benchmarks work, and writes nothing.

A ratio that is worse than in the last table by more than a tenth is measured again; one that stays
worse in each of three rounds is named at the end.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict
from importlib import import_module

from bench.page import committed_values, write_ratios
from bench.ratios import Ratio

# In the order of the table. The name of a benchmark is the last part.
_MODULES: tuple[str, ...] = (
    "imports.openclaw_import",
    "imports.tables",
    "imports.palindrome_import",
    "imports.small_files",
    "imports.inspect_samples",
    "imports.lm_eval_samples",
    "imports.trace_sizes",
    "stores.history",
    "stores.dataframe",
    "commands.start",
    "commands.first_use",
    "scores.posters",
    "scores.validators",
    "stores.checking",
    "stores.compaction",
    "stores.exports",
    "stores.publishing",
    "commands.runner_throughput",
    "commands.recording",
    "scores.pairs",
    "scores.agreement",
    "scores.abilities",
    "scores.items",
    "commands.site",
    "commands.view",
    "stores.planner",
)
BENCHMARKS = {module.rpartition(".")[2]: f"bench.{module}" for module in _MODULES}
# They take minutes, and run with `--full` only.
LONG = {"openclaw_import", "inspect_samples", "lm_eval_samples"} | {
    *("abilities", "validators", "runner_throughput", "compaction", "small_files", "planner"),
    *("trace_sizes", "view"),
}
_MARK = "ratios: "
_ROUNDS = 3


def main() -> None:
    """Run the given benchmarks and print their ratios; without names, write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--full", action="store_true", help="also those that take minutes")
    parser.add_argument("--quick", action="store_true", help="small sizes; writes nothing")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        measured = import_module(BENCHMARKS[asked.names[0]]).measure(quick=asked.quick)
        print(_MARK + json.dumps([asdict(ratio) for ratio in measured]), flush=True)
        return
    is_all = asked.full or asked.quick
    names = asked.names or [name for name in BENCHMARKS if is_all or name not in LONG]
    rounds = {name: [_in_its_process(name, asked.quick)] for name in names}
    if asked.quick:
        return
    before = committed_values()
    for name, measured in rounds.items():
        while len(measured) < _ROUNDS and worse_ratios(measured, before):
            measured.append(_in_its_process(name, quick=False))
    if not asked.names:
        write_ratios(ratio for name in names for ratio in medians(rounds[name]))
        print("written to bench/RESULTS.md")
    for measured in rounds.values():
        for ratio in worse_ratios(measured, before):
            last = before[ratio.work, ratio.against]
            text = f"{ratio.work} / {ratio.against}: {ratio.value:.2f} ×, was {last:.2f} ×"
            print(f"WORSE than the last table: {text}", file=sys.stderr)


def worse_ratios(rounds: list[list[Ratio]], before: dict[tuple[str, str], float]) -> list[Ratio]:
    """Return the median of each ratio that was worse by more than a tenth in every round."""
    return [
        ratio
        for ratio, values in zip(medians(rounds), zip(*rounds, strict=True), strict=True)
        if (last := before.get((ratio.work, ratio.against))) is not None
        and all(one.is_worse_than(last) for one in values)
    ]


def medians(rounds: list[list[Ratio]]) -> list[Ratio]:
    """Return the median of each ratio over some rounds of its benchmark."""
    return [
        sorted(values, key=lambda ratio: ratio.value)[len(values) // 2]
        for values in zip(*rounds, strict=True)
    ]


def _in_its_process(name: str, quick: bool) -> list[Ratio]:  # noqa: FBT001
    """Measure in a new process, so that imports and memory of other benchmarks do not count."""
    command = [sys.executable, "-m", "bench", "--one", name, *(["--quick"] if quick else [])]
    before = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    print(f"{name}: {time.perf_counter() - before:.0f} s")
    line = next(line for line in done.stdout.splitlines() if line.startswith(_MARK))
    ratios = [Ratio(**row) for row in json.loads(line.removeprefix(_MARK))]
    for ratio in ratios:
        verdict = "" if ratio.is_met else "  TARGET MISSED"
        print(f"{ratio.work} / {ratio.against}: {ratio.value:.2f} × ({ratio.target}){verdict}")
        print(f"    {ratio.figures}", flush=True)
    return ratios


if __name__ == "__main__":
    main()
