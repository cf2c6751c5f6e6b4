"""The trajectories of one trial: the main one, those that continue it, those of sub-agents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.formats.atif.recognition import is_document
from ingest.formats.atif.steps import FIGURES, StepRows, Totals, Trajectory
from ingest.formats.common.fields import (
    amount,
    finite_number,
    inner,
    known_sum,
    list_of,
    object_of,
    text_of,
)
from ingest.formats.common.large_objects import large_object
from ingest.formats.common.trials import figure_row, score_row
from ingest.reading import Candidate, Reject
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ingest.formats.common.collector import RowCollector
    from ingest.formats.common.large_objects import LargeObject
    from ingest.reading import Block
    from warehouse.core.types import Json, JsonObject

STEPS = "steps"
EMBEDDED = "subagent_trajectories"
CONTINUED = "continued_trajectory_ref"


def main_file(path: Path) -> Path | None:
    """Return the trajectory that a file belongs to: that of `a.cont-1.json` is `a.json`."""
    parts = path.name.removesuffix(".json").split(".")
    for n_parts in range(1, len(parts)):
        main = path.with_name(".".join(parts[:n_parts]) + ".json")
        if is_document(Candidate(main)):
            return main
    return None


def read_document(
    path: Path, *, is_masked: bool, start: int = 0, end: int | None = None
) -> LargeObject:
    """Return the document in a file, or in a part of it.

    Raises:
        OSError: the file cannot be read.
    """
    return large_object(path, {STEPS}, is_masked=is_masked, start=start, end=end)


def trial_files(main: Path) -> list[Path]:
    """Return a trajectory and those next to it that belong to it."""
    found = sorted(main.parent.glob("*.json"))
    begin = f"{main.stem}."
    return [main] + [
        path
        for path in found
        if path != main and path.name.startswith(begin) and is_document(Candidate(path))
    ]


@dataclass(slots=True)
class Trajectories:
    """Adds the rows of a trial's trajectories.

    Attributes:
        rows: collects them.
        result_id: the trial.
    """

    rows: RowCollector
    result_id: str
    _seq: int = 0
    _steps: StepRows = field(init=False)

    def __post_init__(self) -> None:
        """Begin with the first step."""
        self._steps = StepRows(self.rows, self.result_id)

    def add_documents(
        self, documents: Sequence[LargeObject], place: str, name: str = ""
    ) -> Iterator[Block]:
        """Yield blocks of the steps of a main trajectory and its others.

        Args:
            documents: the main trajectory, then the others.
            place: how the names of their figures begin; unique in the run.
            name: name of the main trajectory, where the trial has several.

        Raises:
            OSError: a file cannot be read.
        """
        chain = continuation(documents)
        for document in documents:
            is_main = document is documents[0]
            own = name if is_main else f"{name}/{document.path.stem}".lstrip("/")
            trajectory = _trajectory(
                document.root, utf8(own) or None, is_part=document.path.name in chain
            )
            yield from self.add(document, trajectory, utf8(f"{place}{document.path.name}"))

    def add(self, document: LargeObject, trajectory: Trajectory, place: str) -> Iterator[Block]:
        """Yield blocks of the steps of a document and of the sub-agents inside it."""
        totals = Totals()
        yield from self.rows.rest()
        self.rows.path = document.path
        self.rows.rejects += document.rejects
        self.rows.secrets += document.secrets
        if STEPS not in document.spans.lists:
            self.rows.rejects.append(Reject("an ATIF document without a list of steps"))
        for _, step in document.objects(STEPS, self.rows, "step"):
            self._steps.add(step, trajectory, totals)
            yield from self.rows.full()
        tree = [totals, *self._add_embedded(document.root, trajectory, place)]
        self._add_document(document.root, place)
        self._add_figures(document.root, tree, place)

    def _add_embedded(self, root: JsonObject, parent: Trajectory, place: str) -> list[Totals]:
        found = []
        for index, value in enumerate(list_of(root.get(EMBEDDED))):
            nested = object_of(value)
            own = text_of(nested.get("trajectory_id")) or f"{EMBEDDED}[{index}]"
            name = own if parent.name is None else f"{parent.name}/{own}"
            trajectory, totals = _trajectory(nested, name, is_part=False), Totals()
            for step in list_of(nested.get(STEPS)):
                if isinstance(step, dict):
                    self._steps.add(step, trajectory, totals)
                else:
                    self.rows.rejects.append(Reject(f"{EMBEDDED}[{index}]: a step is no object"))
            place_inside = f"{place}#{EMBEDDED}[{index}]"
            tree = [totals, *self._add_embedded(nested, trajectory, place_inside)]
            self._add_figures(nested, tree, place_inside)
            found += tree
        return found

    def _add_document(self, root: JsonObject, place: str) -> None:
        """Keep what a document says outside its steps."""
        self._seq += 1
        self.rows.add(
            "events",
            {
                "content_id": self.rows.id_of("trajectory", self.result_id, place, root),
                "seq": self._seq,
                "event": "trajectory",
                "tag": place,
                "document": json_text(_without_steps(root)),
            },
        )

    def _add_figures(self, root: JsonObject, tree: list[Totals], place: str) -> None:
        """Add the figures of a trajectory, and what its steps come to as their scores."""
        for name, figure in object_of(root.get("final_metrics")).items():
            metric = f"{place}: {utf8(name)}"
            total, reason = _recomputed(name, figure, tree)
            row = figure_row(metric, figure, reason=reason)
            if name == "extra" or row is None:
                continue
            self._seq += 1
            if reason is None:
                score = score_row(
                    metric, total, scorer="steps", check_class="harness", counts=False
                )
                score["content_id"] = self.rows.id_of("total", self.result_id, metric, total)
                self.rows.add("result_scores", {**score, "result_id": self.result_id})
            row["content_id"] = self.rows.id_of(
                "figure", self.result_id, metric, row["value"], row["text"]
            )
            self.rows.add("reported_metrics", {**row, "seq": self._seq})


def continuation(documents: Sequence[LargeObject]) -> set[str]:
    """Return the names of the files of the main trajectory: the first, and what continues it."""
    by_name = {document.path.name: document for document in documents}
    chain: set[str] = set()
    name = documents[0].path.name if documents else None
    while name in by_name and name not in chain:
        chain.add(name)
        following = text_of(by_name[name].root.get(CONTINUED))
        name = None if following is None else following.rpartition("/")[2]
    return chain


def _trajectory(root: JsonObject, name: str | None, *, is_part: bool) -> Trajectory:
    agent, model = (text_of(inner(root, "agent", key)) for key in ("name", "model_name"))
    return Trajectory(name, None if is_part else agent, model, is_part)


def _recomputed(name: str, figure: Json, tree: list[Totals]) -> tuple[float | None, str | None]:
    """Return what a figure should be by the steps, sub-agents too if it covers them, or why not."""
    value = amount(figure)[0]
    if name not in FIGURES or value is None:
        return None, "how it is computed is not known"
    sums = [finite_number(totals.total(name)) for totals in tree]
    own, total = sums[0], known_sum(sums)
    if total is None:
        return None, "no step says it"
    for each in (own, total):
        if each is not None and abs(each - value) <= 1e-9 * max(1, abs(value)):
            return each, None
    if value > total:
        return None, "it covers calls that are no steps of the file: of other trajectories, or lost"
    return own, None


def _without_steps(root: JsonObject) -> Json:
    nested = [
        _without_steps({key: value for key, value in each.items() if key != STEPS})
        for each in map(object_of, list_of(root.get(EMBEDDED)))
    ]
    return {**root, EMBEDDED: nested} if nested else root
