"""Lines without blank ones, by kind and area: `make size`."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
KINDS = {
    ".py": "Python", ".sql": "SQL", ".js": "JS", ".html": "templates", ".css": "templates"
}  # fmt: skip


def sizes() -> Counter[tuple[str, str]]:
    """Return the lines of each kind and area; the area is the top-level folder, or two of them."""
    words = ["git", "ls-files", "-z"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, check=True, text=True)  # noqa: S603
    found: Counter[tuple[str, str]] = Counter()
    for name in filter(None, listed.stdout.split("\0")):
        path = Path(name)
        if path.suffix in KINDS and (ROOT / path).is_file():
            lines = (ROOT / path).read_text("utf-8").splitlines()
            kind = "tests" if path.parts[0] == "tests" else KINDS[path.suffix]
            depth = 2 if path.parts[0] == "warehouse" else 1
            area = "/".join(path.parent.parts[:depth]) or "."
            found[kind, area] += sum(bool(line.strip()) for line in lines)
    return found


def main() -> None:
    """Print the sizes, the largest first, and the total of each kind."""
    found = sizes()
    for kind in dict.fromkeys([*KINDS.values(), "tests"]):
        areas = {area: n for (name, area), n in found.items() if name == kind}
        sys.stdout.write(f"{sum(areas.values()):7,}  {kind}\n")
        for area, n in sorted(areas.items(), key=lambda item: -item[1]) if len(areas) > 1 else ():
            sys.stdout.write(f"{n:7,}      {area}\n")


if __name__ == "__main__":
    main()
