"""How much faster logs are read than by PyYAML's own SafeLoader.

Run from the project's root: `python -m bench.yaml_reading FOLDER`, where the folder holds logs.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from warehouse.yaml_documents import load, parse

if TYPE_CHECKING:
    from collections.abc import Callable


def safe_loader(data: bytes) -> object:
    """Read as most programs do."""
    return yaml.load(data, yaml.SafeLoader)


def c_safe_loader(data: bytes) -> object:
    """Read with PyYAML's loader on libyaml."""
    return yaml.load(data, yaml.CSafeLoader)


def seconds(read: Callable[[bytes], object], logs: list[bytes], rounds: int = 5) -> float:
    """Return the shortest time of several to read all logs."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for log in logs:
            read(log)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print the time of each reader and its ratio to the first."""
    logs = [path.read_bytes() for path in Path(sys.argv[1]).rglob("*.yaml")]
    base = seconds(safe_loader, logs)
    print(f"{len(logs)} files, {sum(map(len, logs)):,} bytes")
    for read in (safe_loader, c_safe_loader, parse, load):
        spent = seconds(read, logs)
        print(f"{read.__name__:14} {spent * 1000:8.1f} ms  {base / spent:5.1f} x")


if __name__ == "__main__":
    main()
