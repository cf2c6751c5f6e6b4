"""Resource snapshots of OpenClaw runs: `resources_<tag>_before.txt` and `_after.txt`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warehouse.core.formats.json_text import json_text
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from warehouse.core.types import Row

_NAME = re.compile(r"resources_(?P<tag>.*)_(?P<phase>before|after)\.txt", re.DOTALL)
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_MEMORY = ("total", "used", "free", "shared", "buff_cache", "available")
_DISK = ("fs", "size", "used", "avail", "use_pct")
_PROCESS_LINES = 6


def snapshot_tag(provider: str, model: str, thinking_level: str | None) -> str:
    """Return the tag of a group of calls, which is part of the names of its snapshots."""
    return _UNSAFE.sub("_", f"{provider}__{model}__{thinking_level or 'none'}")


def is_snapshot_name(name: str) -> bool:
    """Return whether a file is a snapshot, by its name."""
    return _NAME.fullmatch(name) is not None


def snapshot_row(name: str, content: bytes) -> Row:
    """Return the columns of table `resources` that a snapshot determines."""
    parts = _NAME.fullmatch(name)
    return {
        "content_id": content_hash("resource", name, content.hex()),
        "name": name,
        "tag": parts["tag"] if parts else None,
        "phase": parts["phase"] if parts else None,
        "content": content,
        "parsed": json_text(parse_snapshot(name, content)),
    }


def parse_snapshot(name: str, content: bytes) -> dict[str, object]:
    """Return the figures of a snapshot: memory, disk, size of the model store, running models.

    Figures are kept as the programs printed them (`7.6Gi`); those of missing sections are left out.
    """
    sections = _sections(content.decode("utf-8", "replace"))
    parsed: dict[str, object] = {"path": name}
    if "free -h" in sections:
        parsed |= _memory(sections["free -h"])
    if "df -h /" in sections:
        parsed["disk_root"] = _disk(sections["df -h /"])
    if "du -sh ~/.ollama" in sections:
        parsed["ollama_store_du"] = (sections["du -sh ~/.ollama"] or [""])[0]
    if "ollama ps" in sections:
        parsed["ollama_ps"] = "\n".join(sections["ollama ps"][:_PROCESS_LINES]).strip()
    return parsed


def _sections(text: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        if line.startswith("# "):
            current = sections.setdefault(line[2:].strip(), [])
        elif current is not None:
            current.append(line)
    return sections


def _memory(lines: list[str]) -> dict[str, object]:
    for line in lines:
        words = line.split()
        if line.startswith("Mem:") and len(words) > len(_MEMORY):
            names = (f"mem_{name}" for name in _MEMORY)
            return dict(zip(names, words[1:], strict=False))
    return {}


def _disk(lines: list[str]) -> dict[str, str]:
    for line in lines:
        words = line.split()
        if len(words) > len(_DISK) and words[-1] == "/":
            return dict(zip(_DISK, words, strict=False))
    return {}
