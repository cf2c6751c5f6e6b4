"""The page of palindromes: how often each model is right, and how hard each task is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.site.addresses import PALINDROME, model_page
from exports.site.page import Contents
from exports.site.site import PageType, only
from exports.site.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.site.page import Addresses
    from exports.site.site import Site
    from warehouse.core.types import Row

_MODELS = "FROM palindrome_accuracy ORDER BY accuracy DESC NULLS LAST, model, settings"
_TASKS = "FROM palindrome_tasks ORDER BY accuracy NULLS LAST, prompt, reference"
_MODEL_COLUMNS = (
    "model", "settings", "accuracy", "accuracy_low", "accuracy_high", "n_correct", "n",
    "cost_per_correct_usd", "mean_cost_usd", "time_per_task_seconds", "first_date", "last_date",
)  # fmt: skip
_TASK_COLUMNS = (
    "prompt", "reference", "accuracy", "accuracy_low", "accuracy_high", "n_correct", "n",
    "n_models", "solved_by",
)  # fmt: skip
_MODEL_HEADINGS = {
    "accuracy": "accuracy",
    "n_correct": "right answers",
    "n": "judged answers",
    "cost_per_correct_usd": "cost of a right answer, US$",
    "mean_cost_usd": "mean cost of an answer, US$",
    "time_per_task_seconds": "mean time of an answer, s",
    "first_date": "first run",
    "last_date": "latest run",
}
_TASK_HEADINGS = {
    "accuracy": "accuracy",
    "n_correct": "right answers",
    "n": "judged answers",
    "n_models": "models asked",
    "solved_by": "solved by",
}
_NAMED = 3  # of the models that solved a task: there may be dozens


def _load(site: Site, _: Addresses) -> Iterator[Contents]:
    def model(row: Row) -> str | None:
        return model_page(row["model"]) if site.has("model") else None

    yield Contents(
        path=PALINDROME,
        template="palindrome.html",
        title="Palindromes",
        values={
            "models": table(
                site.rows(_MODELS), _MODEL_COLUMNS, headings=_MODEL_HEADINGS, links={"model": model}
            ),
            "tasks": table(
                [{**row, "solved_by": _first(row["solved_by"])} for row in site.rows(_TASKS)],
                _TASK_COLUMNS,
                headings=_TASK_HEADINGS,
            ),
        },
    )


def _first(names: list[str]) -> str:
    """Return the first names, and how many more there are."""
    shown = ", ".join(names[:_NAMED])
    n_others = len(names) - _NAMED
    return f"{shown} and {n_others} more" if n_others > 0 else shown


def _is_shown(site: Site) -> bool:
    return bool(site.rows("SELECT 1 AS n FROM palindrome_accuracy LIMIT 1"))


PAGE_TYPE = PageType(
    name="palindrome",
    addresses=only(PALINDROME),
    load=_load,
    title="Palindromes",
    entry=PALINDROME,
    is_shown=_is_shown,
)
