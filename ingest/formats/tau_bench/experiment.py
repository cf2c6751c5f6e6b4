"""What a file of tau-bench says of all its trials: the run, the tested system, the tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ingest.formats.common.fields import (
    Fields,
    inner,
    object_of,
    objects_of,
    task_position,
    text_of,
)
from ingest.formats.common.trials import system_row
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from warehouse.core.types import Json, JsonObject, RunRow, SystemRow, TaskRow

SUITE = "tau-bench"
# In the run's configuration or its header; long texts would make each system a page.
_NOT_OF_SYSTEM = {"git_commit", "seed", "num_trials", "environment_info"}
_GUIDELINES = "global_simulation_guidelines"


@dataclass(frozen=True)
class Experiment:
    """The trials of one file or folder.

    Attributes:
        run_id: id of the run.
        source_name: name of the file.
        task_set: the domain.
        harness: the program that ran it: `tau-bench` or `tau2`.
        document: members of the file but for the simulations; empty for the first tau-bench.
    """

    run_id: str
    source_name: str
    task_set: str
    harness: str
    document: JsonObject = field(default_factory=dict)

    @cached_property
    def info(self) -> JsonObject:
        """What tau2 records about the experiment."""
        return object_of(self.document.get("info"))

    @cached_property
    def models(self) -> dict[str, str]:
        """The recorded models, by role: `agent` and `user`."""
        named = {role: text_of(inner(self.info, f"{role}_info", "llm")) for role in _ROLES}
        return {role: name for role, name in named.items() if name}

    @cached_property
    def settings(self) -> str | None:
        """Parameters of the agent's calls, with keys sorted."""
        arguments = object_of(inner(self.info, "agent_info", "llm_args"))
        return canonical_json(arguments) if arguments else None

    @property
    def policy(self) -> str | None:
        """The policy of the domain; simulations of newer versions repeat it."""
        return text_of(inner(self.info, "environment_info", "policy"))

    @cached_property
    def system(self) -> SystemRow:
        """The tested system; where no model is recorded, no other run has the same."""
        user = object_of(self.info.get("user_info"))
        settings: JsonObject = {k: v for k, v in self.info.items() if k not in _NOT_OF_SYSTEM}
        settings["user_info"] = {k: v for k, v in user.items() if k != _GUIDELINES}
        row = system_row(
            agent=text_of(inner(self.info, "agent_info", "implementation")),
            harness=self.harness,
            models=self.models,
            configuration={k: v for k, v in settings.items() if v} or None,
            run_id=self.run_id,
        )
        row["content_id"] = content_hash("system", self.run_id, row["content_id"])
        return row

    def header(self) -> RunRow:
        """Return the header of the run."""
        fields, info = Fields(self.document), Fields(self.info)
        fields.drop("tasks", "info")
        return {
            "suite": SUITE,
            "run_id": self.run_id,
            "started_at": fields.moment("timestamp"),
            "model": self.models.get("agent"),
            "task_set": self.task_set,
            "seed": info.integer("seed"),
            "git_commit": info.text("git_commit"),
            "config": json_text(self.info) if self.info else None,
            "source_name": utf8(self.source_name),
            "extra": fields.extra(),
        }

    @cached_property
    def tasks(self) -> dict[str, TaskRow]:
        """The tasks in the file, by id."""
        tasks = objects_of(self.document.get("tasks"))
        rows = [task_row(each, self.task_set) for each in tasks]
        return {row["task_id"]: row for row in rows if row["task_id"]}


_ROLES = ("agent", "user")


def task_row(task: JsonObject, task_set: str) -> TaskRow:
    """Return the row of a task: what the simulated user wants, and what is checked.

    Args:
        task: as in `tasks` of tau2.
        task_set: the domain.
    """
    # Versions of tau2 write members that are null, or do not: the task is the same.
    fields = Fields(_without_nulls(task))
    task_hash = content_hash("task", canonical_json(fields.left()))
    task_id = id_text(fields.value("id")) or ""
    scenario = fields.inside("user_scenario")
    set_hash = content_hash(SUITE, task_set)
    return {
        "content_id": content_hash("task", set_hash, task_hash),
        "suite": SUITE,
        "task_set": task_set,
        "task_set_hash": set_hash,
        "seq": task_position(task_id),
        "task_id": task_id,
        "task_hash": task_hash,
        "prompt": scenario.plain("instructions"),
        "validator": fields.json("evaluation_criteria"),
        "extra": fields.extra(),
    }


def id_text(value: Json) -> str | None:
    """Return the id of a task, which the first tau-bench numbers; None for any other value."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text_of(value) or None


def _without_nulls(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value
