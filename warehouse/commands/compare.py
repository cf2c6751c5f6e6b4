"""`evalstore compare`: two models on the tasks that both attempted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warehouse.cli import format_option, open_store, print_rows
from warehouse.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

_IS_PAIR = "(model_a, model_b) IN (($a, $b), ($b, $a)) AND ($suite IS NULL OR suite = $suite)"
_PAIRS = f"SELECT * FROM paired_comparisons WHERE {_IS_PAIR}"  # noqa: S608 - a constant
_TASKS = """
SELECT
    a.suite, a.task_set, a.task_id,
    a.provider AS provider_a, a.model AS model_a, a.settings AS settings_a, a.passed AS passed_a,
    b.provider AS provider_b, b.model AS model_b, b.settings AS settings_b, b.passed AS passed_b
FROM latest_verdicts AS a
JOIN latest_verdicts AS b USING (suite, task_set, task_id)
WHERE a.model = $a AND b.model = $b AND a.passed <> b.passed
    AND (
        a.model <> b.model
        OR (coalesce(a.provider, chr(30)), a.settings) < (coalesce(b.provider, chr(30)), b.settings)
    )
    AND ($suite IS NULL OR suite = $suite)
ORDER BY ALL
"""


@click.command()
@click.argument("model_a")
@click.argument("model_b")
@click.option("--suite", help="Compare only on tasks of this suite.")
@click.option("--tasks", is_flag=True, help="List the tasks that only one of the two passed.")
@format_option
@click.pass_obj
def compare(
    path: Path, model_a: str, model_b: str, suite: str | None, *, tasks: bool, fmt: str
) -> None:
    """Compare MODEL_A and MODEL_B on the tasks that both attempted.

    McNemar's exact test on the latest verdicts per task, with Holm's adjustment over all pairs
    of the suite. Give the same name twice to compare a model's settings.

    \b
      evalstore compare example/aurora-2 example/kaamos-mini
      evalstore compare example/aurora-2 example/kaamos-mini --tasks
    """
    parameters = {"a": model_a, "b": model_b, "suite": suite}
    if not open_store(path).sql(_PAIRS, parameters).fetchall():
        raise BadInput(
            f"{model_a!r} and {model_b!r} have no scored task in common; "
            "`evalstore show leaderboard` lists the models"
        )
    print_rows(path, _TASKS if tasks else _PAIRS, fmt, parameters)
