"""Settings of other tools, which lie next to their logs: YAML that holds no results.

They are declined with a message that says what they are. Without it, they would be in quarantine as
YAML of no known format.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ingest.reading import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.reading import ImportContext, Reading

_SUFFIXES = {".yaml", ".yml"}
# Logs, task files and suites have these, and may quote settings in their texts.
_NOT_SETTINGS = {"prompt_template", "tasks"}
_KEY = re.compile(rb"^[\"']?([A-Za-z_-]+)[\"']?[ \t]*:", re.MULTILINE)


class _Kind(NamedTuple):
    """A kind of file.

    Attributes:
        what: what it is, for the message.
        all_of: keys at the top that it has.
        one_of: keys at the top of which it has at least one; any if empty.
        words: an expression that is in its first 64 KiB; any if empty.
    """

    what: str
    all_of: str = ""
    one_of: str = ""
    words: str = ""

    def matches(self, keys: set[str], head: bytes) -> bool:
        """Return whether a file with these keys at the top is of the kind."""
        return (
            keys.issuperset(self.all_of.split())
            and (not self.one_of or not keys.isdisjoint(self.one_of.split()))
            and re.search(self.words.encode(), head, re.MULTILINE) is not None
        )


_RESULTS_AS_YAML = "results of promptfoo as YAML; export them as JSON (`promptfoo eval -o x.json`)"
_PROMPTFOO = "settings of promptfoo, without results"
_LM_EVAL = "a task or group of lm-evaluation-harness, without results"
_HELM = "settings of HELM, without results"
# The first kind that matches names the file.
_KINDS = (
    _Kind(_RESULTS_AS_YAML, "evalId results"),
    _Kind(_RESULTS_AS_YAML, "results", words=r"^results:\s+version: [23]$"),
    _Kind(_PROMPTFOO, "prompts", "providers targets"),
    _Kind(_PROMPTFOO, "tests", "providers targets"),
    _Kind(_PROMPTFOO, "redteam", "providers targets purpose"),
    _Kind(_PROMPTFOO, words=r"\A[^\n]*promptfoo\.dev/config-schema\.json"),
    # Of the user, in the folder of the database.
    _Kind(_PROMPTFOO, "id", "account cloud", words=r"^(account|cloud):"),
    _Kind(_PROMPTFOO, words=r"\Aid: [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n(hasRun: \w+\n)?\Z"),
    _Kind("an empty document", words=r"\A\{\}\s*\Z"),
    _Kind(_LM_EVAL, "task", "dataset_path doc_to_text output_type metric_list include"),
    _Kind(_LM_EVAL, "group task"),
    _Kind(_LM_EVAL, "include", "task dataset_name fewshot_config"),
    _Kind("a registry of openai/evals, without results", words=r"^\s+class:\s*[\"']?evals\."),
    _Kind(_HELM, one_of="model_deployments tokenizer_configs run_groups metric_groups"),
    _Kind(_HELM, "models", words=r"^\s*-?\s*creator_organization(_name)?:"),
    _Kind(
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
    keys = {key.decode() for key in _KEY.findall(head.removeprefix(b"\xef\xbb\xbf"))}
    if keys & _NOT_SETTINGS:
        return None
    return next((kind.what for kind in _KINDS if kind.matches(keys, head)), None)
