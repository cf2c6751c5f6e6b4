"""The formats that can be imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.late import Late

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from ingest.reading import Candidate, ImportContext, Reading, SourceFile

    Read = Callable[[Path, ImportContext], Iterable[Reading]]
    Parse = Callable[[SourceFile, ImportContext], Reading]


@dataclass(frozen=True, slots=True)
class Reader:
    """A format: a small file, a folder, or a log of any size.

    Attributes:
        format: human-readable name.
        claims: whether a file or folder is of the format, decided by a quick look at its
            content. The files of a claimed folder belong to it; no other reader sees them.
        read: yields the readings of a file or folder that was claimed.
    """

    format: str
    claims: Callable[[Candidate], bool]
    read: Read


def small_file(parse: Parse) -> Read:
    """Return a `Reader.read` for files that fit into memory.

    Args:
        parse: makes a reading of a file. It is called only for new files.
    """

    def read(path: Path, context: ImportContext) -> Iterator[Reading]:
        file = context.read(path)
        if file is not None and not context.skips(file):
            reading = parse(file, context)
            reading.files = [file]
            yield reading

    return read


# Also reads the files that were given by name and that no reader claims; it says what is wrong.
FALLBACK = Reader(
    "log, task file or model file",
    Late("palindrome.yaml_files").is_yaml,
    small_file(Late("palindrome.yaml_files").read),
)
# The first reader that claims a file or folder reads it.
READERS: tuple[Reader, ...] = (
    Reader("openclaw run", Late("openclaw.layout").is_run, Late("openclaw.runs").read_run),
    Reader("openclaw log", Late("openclaw.layout").is_log, Late("openclaw.runs").read_log),
    # By the keys of the whole object: samples of Inspect hold texts of any kind.
    Reader("Inspect log", Late("inspect.logs").is_log, Late("inspect.logs").read_log),
    Reader("HELM run", Late("helm.layout").is_run, Late("helm.runs").read_run),
    Reader("HELM table", Late("helm.tables").is_table, Late("helm.tables").read_table),
    Reader("HELM summary", Late("helm.layout").is_derived, Late("helm.tables").decline_derived),
    Reader(
        "lm-evaluation-harness results",
        Late("lm_eval.layout").is_results,
        Late("lm_eval.runs").read_run,
    ),
    Reader(
        "lm-evaluation-harness samples",
        Late("lm_eval.layout").is_samples,
        Late("lm_eval.runs").read_run,
    ),
    Reader(
        "openclaw prompts",
        Late("openclaw.layout").is_prompts,
        small_file(Late("openclaw.prompts").read),
    ),
    Reader("BFCL results", Late("bfcl.files").is_results, Late("bfcl.files").read_results),
    Reader("BFCL scores", Late("bfcl.files").is_scores, Late("bfcl.files").read_scores),
    Reader(
        "BFCL results without ids",
        Late("bfcl.files").is_without_ids,
        Late("bfcl.files").decline_without_ids,
    ),
    Reader("BFCL leaderboard", Late("bfcl.files").is_table, Late("bfcl.files").read_table),
    Reader(
        "every_eval_ever aggregate",
        Late("eee.files").is_aggregate,
        Late("eee.files").read_aggregate,
    ),
    Reader("every_eval_ever samples", Late("eee.files").is_samples, Late("eee.files").read_samples),
    Reader("every_eval_ever index", Late("eee.files").is_index, Late("eee.files").decline_index),
    Reader("openai/evals log", Late("openai_evals.log").is_log, Late("openai_evals.log").read_log),
    Reader(
        "promptfoo evaluation",
        Late("promptfoo.files").is_export,
        Late("promptfoo.files").read_export,
    ),
    Reader(
        "promptfoo results", Late("promptfoo.files").is_lines, Late("promptfoo.files").read_lines
    ),
    Reader(
        "promptfoo database",
        Late("promptfoo.database").is_database,
        Late("promptfoo.database").read_database,
    ),
    Reader(
        "log of a promptfoo database",
        Late("promptfoo.database").is_companion,
        Late("promptfoo.database").decline_companion,
    ),
    Reader(
        "promptfoo table", Late("promptfoo.files").is_table, Late("promptfoo.files").decline_table
    ),
    Reader(
        "poster workspace",
        Late("posters.layout").is_workspace,
        Late("posters.workspace").read_workspace,
    ),
    Reader(
        "published poster report",
        Late("posters.layout").is_published,
        Late("posters.workspace").read_published_folder,
    ),
    Reader(
        "poster ledger",
        Late("posters.layout").is_ledger,
        small_file(Late("posters.workspace").read_ledger_file),
    ),
    Reader(
        "list of Inspect logs", Late("inspect.logs").is_index, Late("inspect.logs").decline_index
    ),
    Reader("settings", Late("settings_files").is_settings, Late("settings_files").decline_settings),
    FALLBACK,
)
# Reads tables that were given by name and that no reader claims.
TABLES = Reader("table", Late("tables.tables").is_table, Late("tables.tables").read_table)


def reader_of_named(candidate: Candidate) -> Reader:
    """Return the reader of a file that was given by name."""
    found = reader_of(candidate)
    return found or (TABLES if TABLES.claims(candidate) else FALLBACK)


def reader_of(candidate: Candidate) -> Reader | None:
    """Return the reader that claims a file or folder; None if no reader does."""
    try:
        return next((reader for reader in READERS if reader.claims(candidate)), None)
    except OSError:
        return None
