"""The size of a batch of agents' traces, compared with one archive of the same files.

The logs are those of `tests/trace_logs.py`.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from bench.processes import evalstore
from bench.ratios import Ratio
from tests.trace_logs import WRITERS

# Trials, and steps of each: about 1 kB, 100 kB and 10 MB, compressed.
_SIZES = ((1, 1), (5, 30), (60, 250))
_QUICK_SIZES = _SIZES[:2]
# Of smaller logs, the names of columns in each file weigh more.
_TARGET_BYTES = 1_000_000


def measure(*, quick: bool) -> list[Ratio]:
    """Compare the sizes of small and large logs of each tool."""
    sizes = _QUICK_SIZES if quick else _SIZES
    return [_ratio(tool, *size) for tool in WRITERS for size in sizes]


def _ratio(tool: str, trials: int, steps: int) -> Ratio:
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        log, store = Path(name) / tool, Path(name) / "store"
        WRITERS[tool](log, trials, steps)
        evalstore("--store", str(store), "import", str(log), "--keep-secrets")
        source = _compressed(log)
        lake = sum(path.stat().st_size for path in store.glob("lake/*/*"))
    return Ratio(
        f"a batch of trials ({tool}: {trials} of {steps} steps)",
        "a zstd archive of the log (size)",
        lake / source,
        f"{lake / 1e3:,.1f} kB / {source / 1e3:,.1f} kB",
        at_most=1.3 if source >= _TARGET_BYTES else None,
        is_lower_better=True,
    )


def _compressed(log: Path) -> int:
    files = sorted(path for path in log.rglob("*") if path.is_file())
    together = b"".join(path.read_bytes() for path in files)
    return len(pa.Codec("zstd", compression_level=3).compress(together))
