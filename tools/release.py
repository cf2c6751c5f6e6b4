"""Check that the tree is a release, and print its notes: `python -m tools.release v0.1.0`.

The tag, the version in `pyproject.toml`, a dated section of `CHANGELOG.md` and nothing under
`Unreleased` have to go together.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
_SECTION = re.compile(r"^## \[(?P<name>[^\]]+)\](?: - (?P<date>\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)


def release_notes(tag: str, *, pyproject: str, changelog: str) -> str:
    """Return the text of the changelog's section of a tag.

    Args:
        tag: `v` and the version.
        pyproject: the text of `pyproject.toml`.
        changelog: the text of `CHANGELOG.md`.

    Raises:
        ValueError: the tag, the version and the changelog do not go together; says how.
    """
    version = tomllib.loads(pyproject)["project"]["version"]
    if tag != f"v{version}":
        raise ValueError(f"the tag is {tag}, but pyproject.toml has version {version}")
    parts = _SECTION.split(changelog)
    # Before the first section, and then the name, the date and the text of each.
    sections = dict(zip(parts[1::3], zip(parts[2::3], parts[3::3], strict=True), strict=True))
    if sections.get("Unreleased", ("", ""))[1].strip():
        raise ValueError(f"CHANGELOG.md has lines under [Unreleased]: move them to [{version}]")
    date, text = sections.get(version, (None, ""))
    if date is None or not text.strip():
        raise ValueError(f"CHANGELOG.md has no section `## [{version}] - YYYY-MM-DD` with a text")
    return text.strip() + "\n"


def main() -> None:
    """Print the notes of the tag that the command line names."""
    match sys.argv[1:]:
        case [tag]:
            pass
        case _:
            sys.exit("usage: python -m tools.release vX.Y.Z")
    try:
        notes = release_notes(
            tag,
            pyproject=(ROOT / "pyproject.toml").read_text("utf-8"),
            changelog=(ROOT / "CHANGELOG.md").read_text("utf-8"),
        )
    except ValueError as error:
        sys.exit(f"error: {error}")
    sys.stdout.write(notes)


if __name__ == "__main__":
    main()
