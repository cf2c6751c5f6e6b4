"""What differs between two sides besides the model: it may be the reason for a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from warehouse.analysis.decisions.series import run_parameters
from warehouse.engine.query import rows_by_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from warehouse.analysis.decisions.series import Series

# Values of these are hashes or documents, which mean nothing to a reader.
_UNREADABLE = {"prompt template", "task set", "data files", "versions of programs"} | {
    "the agent's configuration"
}
_QUERY = """
WITH series AS (
    SELECT unnest($place) AS place, unnest($suite) AS suite, unnest($run_id) AS run_id,
        unnest($task_set) AS task_set, unnest($provider) AS provider, unnest($model) AS model,
        unnest($settings) AS settings
),

calls AS (
    SELECT
        series.place,
        list(DISTINCT coalesce(results.template_hash, '')) AS templates,
        list(DISTINCT coalesce(results.scorer, '')) AS scorers
    FROM series
    JOIN results
        ON results.suite = series.suite
        AND results.run_id = series.run_id
        AND results.task_set = series.task_set
        AND results.provider IS NOT DISTINCT FROM series.provider
        AND results.model = series.model
        AND results.settings = series.settings
    GROUP BY series.place
),

headers AS (
    SELECT
        series.place,
        list(DISTINCT coalesce(runs.label, '')) AS labels,
        list(DISTINCT coalesce(CAST(runs.seed AS VARCHAR), '')) AS seeds,
        list(DISTINCT coalesce(CAST(runs.temperature AS VARCHAR), '')) AS temperatures,
        list(DISTINCT coalesce(runs.task_set_hash, '')) AS task_sets,
        list(DISTINCT coalesce(CAST(runs.dataset_hashes AS VARCHAR), '')) AS files,
        list(DISTINCT coalesce(CAST(runs.versions AS VARCHAR), '')) AS versions
    FROM series
    JOIN lake.runs AS runs USING (suite, run_id)
    GROUP BY series.place
),

judges AS (
    SELECT series.place, list(DISTINCT judgements.judge) AS judges
    FROM series
    JOIN lake.judgements AS judgements USING (suite, run_id, model)
    WHERE judgements.judge IS NOT NULL
    GROUP BY series.place
),

systems AS (
    SELECT
        series.place,
        list(DISTINCT coalesce(systems.agent, '')) AS agents,
        list(DISTINCT coalesce(systems.agent_version, '')) AS agent_versions,
        list(DISTINCT concat_ws(' ', systems.harness, systems.harness_version)) AS harnesses,
        list(DISTINCT coalesce(systems.models, '')) AS models,
        list(DISTINCT coalesce(systems.configuration, '')) AS configurations
    FROM series
    JOIN lake.systems AS systems
        ON systems.suite = series.suite
        AND systems.run_id = series.run_id
        AND systems.system = series.model
    GROUP BY series.place
)

SELECT
    place,
    systems.agents AS agent,
    systems.agent_versions AS "version of the agent",
    systems.harnesses AS harness,
    systems.models AS models,
    systems.configurations AS "the agent's configuration",
    calls.templates AS "prompt template",
    calls.scorers AS scorer,
    judges.judges AS judge,
    headers.labels AS "ground truth",
    headers.temperatures AS temperature,
    headers.seeds AS seed,
    headers.task_sets AS "task set",
    headers.files AS "data files",
    headers.versions AS "versions of programs"
FROM headers
LEFT JOIN calls USING (place)
LEFT JOIN judges USING (place)
LEFT JOIN systems USING (place)
ORDER BY place
"""


class Difference(NamedTuple):
    """Something that differs between two sides besides the model.

    Attributes:
        name: what differs, in words.
        a: its values on the first side; None where they mean nothing to a reader.
        b: its values on the second side.
    """

    name: str
    a: str | None
    b: str | None

    def __str__(self) -> str:
        """Return the name, with both values if they can be read."""
        return self.name if self.a is None else f"{self.name} ({self.a}; {self.b})"


class Circumstances:
    """What is known about the runs behind series, besides the model."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, series: Sequence[Series]) -> None:
        parameters = run_parameters(
            (place, one.key, run_id) for place, one in enumerate(series) for run_id in one.runs
        )
        rows = rows_by_name(connection.execute(_QUERY, parameters))
        self._facts = {row["place"]: row for row in rows}
        self._series = list(series)

    def between(self, a: int, b: int) -> list[Difference]:
        """Return what differs between two series, by their positions."""
        first, second = self._series[a].key, self._series[b].key
        pairs = [
            ("provider", first.provider or "", second.provider or ""),
            ("settings", first.settings, second.settings),
        ]
        of_a, of_b = self._facts.get(a, {}), self._facts.get(b, {})
        facts = [name for name in of_a if name != "place"]
        pairs += [(name, _text(of_a[name]), _text(of_b.get(name))) for name in facts]
        return [
            Difference(name, None, None)
            if name in _UNREADABLE
            else Difference(name, one or "not recorded", other or "not recorded")
            for name, one, other in pairs
            if one != other
        ]


def _text(values: list[str] | None) -> str:
    return ", ".join(sorted(value for value in values or () if value))
