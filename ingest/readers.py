"""The formats that can be imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.late_modules import LateModule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from ingest.formats import settings_files
    from ingest.formats.bfcl import files as bfcl
    from ingest.formats.eee import files as eee
    from ingest.formats.helm import layout as helm_layout
    from ingest.formats.helm import runs as helm_runs
    from ingest.formats.helm import tables as helm_tables
    from ingest.formats.inspect import logs as inspect_logs
    from ingest.formats.lm_eval import layout as lm_eval_layout
    from ingest.formats.lm_eval import runs as lm_eval_runs
    from ingest.formats.openai_evals import log as openai_evals
    from ingest.formats.openclaw import layout as openclaw_layout
    from ingest.formats.openclaw import prompts as openclaw_prompts
    from ingest.formats.openclaw import runs as openclaw_runs
    from ingest.formats.palindrome import yaml_files
    from ingest.formats.posters import layout as poster_layout
    from ingest.formats.posters import workspace as posters
    from ingest.formats.promptfoo import database as promptfoo_database
    from ingest.formats.promptfoo import files as promptfoo
    from ingest.formats.tables import tables
    from ingest.reading import Candidate, ImportContext, Reading, SourceFile

    Read = Callable[[Path, ImportContext], Iterable[Reading]]
    Parse = Callable[[SourceFile, ImportContext], Reading]
else:
    # An import needs few of the readers, and to load all takes as long as to read a small log.
    settings_files = LateModule("ingest.formats.settings_files")
    bfcl = LateModule("ingest.formats.bfcl.files")
    eee = LateModule("ingest.formats.eee.files")
    helm_layout = LateModule("ingest.formats.helm.layout")
    helm_runs = LateModule("ingest.formats.helm.runs")
    helm_tables = LateModule("ingest.formats.helm.tables")
    inspect_logs = LateModule("ingest.formats.inspect.logs")
    lm_eval_layout = LateModule("ingest.formats.lm_eval.layout")
    lm_eval_runs = LateModule("ingest.formats.lm_eval.runs")
    openai_evals = LateModule("ingest.formats.openai_evals.log")
    openclaw_layout = LateModule("ingest.formats.openclaw.layout")
    openclaw_prompts = LateModule("ingest.formats.openclaw.prompts")
    openclaw_runs = LateModule("ingest.formats.openclaw.runs")
    yaml_files = LateModule("ingest.formats.palindrome.yaml_files")
    poster_layout = LateModule("ingest.formats.posters.layout")
    posters = LateModule("ingest.formats.posters.workspace")
    promptfoo_database = LateModule("ingest.formats.promptfoo.database")
    promptfoo = LateModule("ingest.formats.promptfoo.files")
    tables = LateModule("ingest.formats.tables.tables")


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


# The first reader that claims a file or folder reads it.
READERS: tuple[Reader, ...] = (
    Reader("openclaw run", openclaw_layout.is_run, openclaw_runs.read_run),
    Reader("openclaw log", openclaw_layout.is_log, openclaw_runs.read_log),
    # By the keys of the whole object: samples of Inspect hold texts of any kind.
    Reader("Inspect log", inspect_logs.is_log, inspect_logs.read_log),
    Reader("HELM run", helm_layout.is_run, helm_runs.read_run),
    Reader("HELM table", helm_tables.is_table, helm_tables.read_table),
    Reader("HELM summary", helm_layout.is_derived, helm_tables.decline_derived),
    Reader("lm-evaluation-harness results", lm_eval_layout.is_results, lm_eval_runs.read_run),
    Reader("lm-evaluation-harness samples", lm_eval_layout.is_samples, lm_eval_runs.read_run),
    Reader("openclaw prompts", openclaw_layout.is_prompts, small_file(openclaw_prompts.read)),
    Reader("BFCL results", bfcl.is_results, bfcl.read_results),
    Reader("BFCL scores", bfcl.is_scores, bfcl.read_scores),
    Reader("BFCL results without ids", bfcl.is_without_ids, bfcl.decline_without_ids),
    Reader("BFCL leaderboard", bfcl.is_table, bfcl.read_table),
    Reader("every_eval_ever aggregate", eee.is_aggregate, eee.read_aggregate),
    Reader("every_eval_ever samples", eee.is_samples, eee.read_samples),
    Reader("every_eval_ever index", eee.is_index, eee.decline_index),
    Reader("openai/evals log", openai_evals.is_log, openai_evals.read_log),
    Reader("promptfoo evaluation", promptfoo.is_export, promptfoo.read_export),
    Reader("promptfoo results", promptfoo.is_lines, promptfoo.read_lines),
    Reader("promptfoo database", promptfoo_database.is_database, promptfoo_database.read_database),
    Reader(
        "log of a promptfoo database",
        promptfoo_database.is_companion,
        promptfoo_database.decline_companion,
    ),
    Reader("promptfoo table", promptfoo.is_table, promptfoo.decline_table),
    Reader("poster workspace", poster_layout.is_workspace, posters.read_workspace),
    Reader("published poster report", poster_layout.is_published, posters.read_published_folder),
    Reader("poster ledger", poster_layout.is_ledger, small_file(posters.read_ledger_file)),
    Reader("list of Inspect logs", inspect_logs.is_index, inspect_logs.decline_index),
    Reader("settings", settings_files.is_settings, settings_files.decline_settings),
    Reader("log, task file or model file", yaml_files.is_yaml, small_file(yaml_files.read)),
)
# Reads the files that were given by name and that no reader claims; it says what is wrong.
FALLBACK = READERS[-1]
# Reads tables that were given by name and that no reader claims.
TABLES = Reader("table", tables.is_table, tables.read_table)


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
