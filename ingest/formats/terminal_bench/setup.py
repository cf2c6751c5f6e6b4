"""What a Terminal-Bench run tested: its metadata and its lock file, which lie next to its results.

Every file of a run gives the same description of it: it reads both, if they are there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ingest.formats.common.collector import id_in, part_id
from ingest.formats.common.documents import object_beside
from ingest.formats.common.fields import Fields, inner, text_of
from ingest.formats.common.trials import system_row
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.core.types import JsonObject, RunRow, SystemRow

SUITE = "terminal-bench"
METADATA = "run_metadata.json"
LOCK = "tb.lock"


@dataclass(frozen=True)
class RunSetup:
    """The setup of a run.

    Attributes:
        run_id: id of the run.
        folder: name of its folder.
        metadata: content of `run_metadata.json`; empty if it is not there.
        lock: content of `tb.lock`; likewise.
    """

    run_id: str
    folder: str
    metadata: JsonObject = field(default_factory=dict)
    lock: JsonObject = field(default_factory=dict)

    @property
    def task_set(self) -> str:
        """The dataset and its version; the name of the benchmark if none is recorded."""
        name = self._text("dataset_name", "dataset", "name")
        version = self._text("dataset_version", "dataset", "version")
        return "==".join(filter(None, (name, version))) if name else SUITE

    @cached_property
    def system(self) -> SystemRow:
        """The tested system; where no model is recorded, no other run has the same."""
        settings = {
            "agent_kwargs": self.metadata.get("agent_kwargs")
            or inner(self.lock, "agent", "extra_kwargs"),
            "import_path": inner(self.lock, "agent", "import_path"),
        }
        row = system_row(
            agent=self._text("agent_name", "agent", "name"),
            harness=text_of(inner(self.lock, "harness", "package")) or SUITE,
            harness_version=self._version,
            model=self.model,
            configuration={key: value for key, value in settings.items() if value is not None},
            run_id=self.run_id,
        )
        row["content_id"] = id_in(part_id("system"), self.run_id, row["content_id"])
        return row

    @property
    def model(self) -> str | None:
        """The model; None if it is not recorded."""
        return self._text("model_name", "agent", "model_name")

    @property
    def _version(self) -> str | None:
        return text_of(inner(self.lock, "harness", "version"))

    def _text(self, name: str, *in_lock: str) -> str | None:
        return text_of(self.metadata.get(name)) or text_of(inner(self.lock, *in_lock))

    def header(self) -> RunRow:
        """Return the header of the run."""
        fields = Fields(self.metadata)
        commit = fields.text("commit_hash")
        fields.drop("run_id", "model_name")
        return {
            "suite": SUITE,
            "run_id": self.run_id,
            "started_at": fields.moment("start_time"),
            "ended_at": fields.moment("end_time"),
            "model": self.model,
            "task_set": self.task_set,
            "git_commit": None if commit == "unknown" else commit,
            "config": json_text(self.lock) if self.lock else None,
            "versions": json_text({SUITE: self._version}) if self._version else None,
            "source_name": self.folder,
            "extra": fields.extra(),
        }


def setup_of(folder: Path, guess: str | None, *, prefix: str = "", redact: bool) -> RunSetup:
    """Return the setup of the run in a folder.

    Args:
        folder: folder of the run.
        guess: id of the run if its metadata and lock file name none; None: the folder's name.
        prefix: how the names of its files begin.
        redact: whether possible secrets are masked.
    """
    metadata = object_beside(folder / f"{prefix}{METADATA}", redact=redact)
    lock = object_beside(folder / f"{prefix}{LOCK}", redact=redact)
    configured = inner(lock, "local_config", "run_id")
    names = (metadata.get("run_id"), configured, guess, folder.absolute().name)
    run_id = next(utf8(name) for name in (*names, SUITE) if isinstance(name, str) and name)
    return RunSetup(run_id, utf8(folder.absolute().name), metadata, lock)
