"""Shell completion of names in the store: views, models, runs and suites.

A completion must be fast and silent: it reads the warehouse as it is, without an update, and
offers nothing if the warehouse cannot be read at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Callable

    import click

    Completer = Callable[[click.Context, click.Parameter, str], list[str]]

_MODELS = "SELECT DISTINCT model FROM results WHERE model IS NOT NULL ORDER BY model"
_RUN_SIDE = "run:"
_SUITES = "SELECT DISTINCT suite FROM lake.runs ORDER BY suite"
_RUNS = """
SELECT run_id
FROM lake.runs
WHERE $suite IS NULL OR suite = $suite
GROUP BY suite, run_id
ORDER BY max(batch) DESC, run_id DESC
"""


def complete_view(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the views whose names begin as typed, each with its purpose."""
    from warehouse.engine.views.sql_files import shown_views

    views = shown_views().items()
    return [CompletionItem(n, help=v.purpose) for n, v in views if n.startswith(incomplete)]


def complete_model(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the models with results whose names begin as typed."""
    return _names(ctx, _MODELS, incomplete)


def complete_side(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the sides of a comparison that begin as typed: models, runs after `run:`."""
    if incomplete.startswith(_RUN_SIDE):
        runs = complete_run(ctx, param, incomplete.removeprefix(_RUN_SIDE))
        return [f"{_RUN_SIDE}{run}" for run in runs]
    return complete_model(ctx, param, incomplete)


def complete_suite(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the suites with runs whose names begin as typed."""
    return _names(ctx, _SUITES, incomplete)


def complete_run(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the runs whose ids begin as typed, the last added first, of `--suite` if given."""
    return _names(ctx, _RUNS, incomplete, suite=ctx.params.get("suite"))


def run_completer(suite: str) -> Completer:
    """Return a function like `complete_run` for the runs of one suite."""

    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
        return _names(ctx, _RUNS, incomplete, suite=suite)

    return complete


def _names(ctx: click.Context, query: str, incomplete: str, **parameters: str | None) -> list[str]:
    import duckdb

    from warehouse.core.errors import EvalstoreError
    from warehouse.engine.connection import open_for_reading
    from warehouse.lake.remote.address import store_folder

    try:
        path = store_folder(ctx.find_root().params.get("store") or "store") / "warehouse.duckdb"
        if not path.exists():
            return []
        with open_for_reading(path, wait_seconds=0) as connection:
            rows = connection.execute(query, parameters).fetchall()
    except (duckdb.Error, EvalstoreError, OSError):
        return []
    names = (name for (name,) in rows if name.isprintable())
    return [name for name in names if name.startswith(incomplete)]
