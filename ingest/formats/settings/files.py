"""Settings of other tools, which lie next to their logs: YAML that holds no results.

They are declined with a message that says what they are. Without it, they would be in quarantine as
YAML of no known format.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.reading import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.reading import ImportContext, Reading

_SUFFIXES = {".yaml", ".yml"}
# Logs, task files and suites have these, and may quote settings in their texts.
_NOT_SETTINGS = {b"prompt_template", b"tasks"}
_KEY = re.compile(rb"^[\"']?([A-Za-z_-]+)[\"']?[ \t]*:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of file.

    Attributes:
        what: what it is, for the message.
        all_of: keys at the top that it has.
        one_of: keys at the top of which it has at least one; any if empty.
        words: an expression that is in its first 64 KiB; None for any.
    """

    what: str
    all_of: frozenset[bytes] = frozenset()
    one_of: frozenset[bytes] = frozenset()
    words: re.Pattern[bytes] | None = None

    def matches(self, keys: set[bytes], head: bytes) -> bool:
        """Return whether a file with these keys at the top is of the kind."""
        return (
            self.all_of <= keys
            and (not self.one_of or bool(self.one_of & keys))
            and (self.words is None or self.words.search(head) is not None)
        )


def _kind(what: str, all_of: str = "", one_of: str = "", words: str = "") -> _Kind:
    return _Kind(
        what,
        frozenset(all_of.encode().split()),
        frozenset(one_of.encode().split()),
        re.compile(words.encode(), re.MULTILINE) if words else None,
    )


_RESULTS_AS_YAML = "results of promptfoo as YAML; export them as JSON (`promptfoo eval -o x.json`)"
_PROMPTFOO = "settings of promptfoo, without results"
_LM_EVAL = "a task or group of lm-evaluation-harness, without results"
_HELM = "settings of HELM, without results"
# The first kind that matches names the file.
_KINDS = (
    _kind(_RESULTS_AS_YAML, "evalId results"),
    _kind(_RESULTS_AS_YAML, "results", words=r"^results:\s+version: [23]$"),
    _kind(_PROMPTFOO, "prompts", "providers targets"),
    _kind(_PROMPTFOO, "tests", "providers targets"),
    _kind(_PROMPTFOO, "redteam", "providers targets purpose"),
    _kind(_PROMPTFOO, words=r"\A[^\n]*promptfoo\.dev/config-schema\.json"),
    # Of the user, in the folder of the database.
    _kind(_PROMPTFOO, "id", "account cloud", words=r"^(account|cloud):"),
    _kind(_PROMPTFOO, words=r"\Aid: [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n(hasRun: \w+\n)?\Z"),
    _kind("an empty document", words=r"\A\{\}\s*\Z"),
    _kind(_LM_EVAL, "task", "dataset_path doc_to_text output_type metric_list include"),
    _kind(_LM_EVAL, "group task"),
    _kind(_LM_EVAL, "include", "task dataset_name fewshot_config"),
    _kind("a registry of openai/evals, without results", words=r"^\s+class:\s*[\"']?evals\."),
    _kind(_HELM, one_of="model_deployments tokenizer_configs run_groups metric_groups"),
    _kind(_HELM, "models", words=r"^\s*-?\s*creator_organization(_name)?:"),
    _kind(
        "a Docker Compose file, without results", "services", words=r"^\s+(image|build|command):"
    ),
)


def is_settings(candidate: Candidate) -> bool:
    """Return whether a file holds settings of another tool."""
    return candidate.path.suffix in _SUFFIXES and _what(candidate.head) is not None


def decline_settings(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Report what a file is."""
    context.decline(path, _what(Candidate(path).head) or "settings")
    yield from ()


def _what(head: bytes) -> str | None:
    keys = set(_KEY.findall(head.removeprefix(b"\xef\xbb\xbf")))
    if keys & _NOT_SETTINGS:
        return None
    return next((kind.what for kind in _KINDS if kind.matches(keys, head)), None)
