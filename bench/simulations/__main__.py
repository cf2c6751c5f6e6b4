"""Run simulations and write their tables into the docs.

    python -m bench.simulations [--quick] [NAME ...]

Each runs in its own process; without names, all. `--quick` takes few simulations, prints the tables
and writes nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from tools.simulation_tables import marked_tables, printed_tables, with_tables

DOCS = Path(__file__).parents[2] / "docs"


def main() -> None:
    """Run the given simulations; write their tables."""
    pages = {path: path.read_text("utf-8") for path in sorted(DOCS.rglob("*.md"))}
    names = sorted({name for page in pages.values() for name, _ in marked_tables(page)})
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="few simulations; writes nothing")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(names):
        parser.error(f"no page has a table of {', '.join(sorted(unknown))}")
    for name in asked.names or names:
        words = [sys.executable, "-m", f"bench.simulations.{name}", *["--quick"] * asked.quick]
        output = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
        print(f"{name}\n\n{output}", flush=True)
        if asked.quick:
            continue
        tables = {name: printed_tables(output)}
        for path in pages:
            before = path.read_text("utf-8")
            if (after := with_tables(before, tables)) != before:
                path.write_text(after, "utf-8")


if __name__ == "__main__":
    main()
