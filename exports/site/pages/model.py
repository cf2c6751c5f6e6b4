"""The pages of models: how each did over time, what it cost, and which models are better."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from exports.site.addresses import MODELS, model_page, run_page
from exports.site.boards import boards
from exports.site.grouping import by
from exports.site.lists import list_addresses, lists
from exports.site.page import Contents
from exports.site.series import series
from exports.site.site import PageType
from exports.site.tables import table
from warehouse.app.commands.history_chart import drift_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from exports.site.boards import Board, Place
    from exports.site.page import Addresses
    from exports.site.site import Site
    from warehouse.core.types import Row

_MODELS = """
SELECT
    model,
    list(DISTINCT provider ORDER BY provider) AS providers,
    coalesce(list(DISTINCT settings ORDER BY settings) FILTER (settings <> ''), []) AS settings,
    bool_or(settings = '') AS has_no_settings,
    list(DISTINCT suite ORDER BY suite) AS suites,
    count(DISTINCT (suite, run_id)) AS n_runs,
    sum(n_results)::BIGINT AS n_results,
    coalesce(sum(n_results) FILTER (is_replay), 0)::BIGINT AS n_replayed,
    sum(n_cost_known)::BIGINT AS n_cost_known,
    exact_total(sum(cost_whole), sum(cost_fraction)) AS total_cost_usd,
    min(run_date) AS first_date,
    max(run_date) AS last_date
FROM scores.entry_calls
JOIN scores.entries USING (entry, suite, run_id, is_replay)
LEFT JOIN scores.run_times USING (suite, run_id)
GROUP BY model
ORDER BY model NULLS LAST
"""
# The models of a block; NULL is one of them.
_OF_BLOCK = "SEMI JOIN (SELECT unnest($models) AS name) AS block ON model IS NOT DISTINCT FROM name"
_OWN = f"FROM site_models {_OF_BLOCK} ORDER BY site_models.rowid"
_HISTORY = f"FROM model_history {_OF_BLOCK} ORDER BY model_history.rowid"
_DRIFT = f"""
FROM drift {_OF_BLOCK}
WHERE is_drift
ORDER BY suite, task_set, metric, provider, settings
"""
_COSTS = f"""
SELECT
    costs.suite, costs.run_id, costs.run_date, costs.provider, costs.model, costs.settings,
    costs.n_results, costs.n_cost_known, costs.total_cost_usd, costs.mean_cost_usd,
    costs.cost_per_passed_usd, costs.cost_per_passed_usd_low, costs.cost_per_passed_usd_high,
    costs.input_tokens, costs.output_tokens, costs.remark,
    latency.p50_ms, latency.p95_ms, latency.p95_ms_low, latency.p95_ms_high, latency.ttft_p50_ms
FROM costs {_OF_BLOCK}
LEFT JOIN latency
    ON costs.suite = latency.suite
    AND costs.run_id = latency.run_id
    AND costs.provider IS NOT DISTINCT FROM latency.provider
    AND costs.model IS NOT DISTINCT FROM latency.model
    AND costs.settings = latency.settings
ORDER BY costs.run_date DESC NULLS LAST, costs.suite, costs.run_id, costs.provider, costs.settings
"""  # noqa: S608 - a constant
# The task sets of so many models that sync tests no pairs of them.
_UNTESTED = f"""
SELECT model, count(DISTINCT (suite, task_set)) AS n
FROM scores.board_runs {_OF_BLOCK}
SEMI JOIN scores.wide_models USING (suite, task_set)
GROUP BY model
"""  # noqa: S608 - a constant
# Each pair from both sides.
_PAIRED = """
WITH pairs AS (
    SELECT *, mean_difference AS difference, n_better_a + n_better_b AS n_differing
    FROM scores.tested_pairs
),

sides AS (
    SELECT
        suite, task_set, metric, scorer, provider_a AS provider, model_a AS model,
        settings_a AS settings, provider_b AS other_provider, model_b AS other,
        settings_b AS other_settings, n_tasks, difference, difference_low, difference_high, p_holm,
        n_differing
    FROM pairs
    UNION ALL
    SELECT
        suite, task_set, metric, scorer, provider_b AS provider, model_b AS model,
        settings_b AS settings, provider_a AS other_provider, model_a AS other,
        settings_a AS other_settings, n_tasks, -difference AS difference,
        -difference_high AS difference_low, -difference_low AS difference_high, p_holm, n_differing
    FROM pairs
)

SELECT
    sides.* EXCLUDE (other_provider),
    CASE
        WHEN
            count(*) OVER same_name > 1
            OR (other IS NOT DISTINCT FROM model AND other_provider IS DISTINCT FROM provider)
            THEN 'from ' || coalesce(other_provider, 'an unknown provider')
    END AS other_provider,
    coalesce(p_holm < 0.05 AND n_differing >= 6, false) AS is_supported
FROM sides
WINDOW
    same_name AS (
        PARTITION BY
            suite, task_set, metric, scorer, provider, model, settings, other, other_settings
    )
ORDER BY
    is_supported DESC, metric <> 'passed', suite, task_set, metric, scorer, p_holm NULLS LAST,
    other, other_settings, sides.other_provider, provider, settings, n_tasks, difference,
    difference_low
"""
_OTHERS = f"FROM site_pairs {_OF_BLOCK} ORDER BY site_pairs.rowid"
_LISTED = (
    "model", "suites", "n_runs", "n_results", "n_cost_known", "total_cost_usd", "last_date",
)  # fmt: skip
_COST_COLUMNS = (
    "suite", "run_id", "run_date", "settings", "n_results", "n_cost_known", "total_cost_usd",
    "mean_cost_usd", "cost_per_passed_usd", "cost_per_passed_usd_low", "cost_per_passed_usd_high",
    "input_tokens", "output_tokens", "p50_ms", "p95_ms", "p95_ms_low", "p95_ms_high", "ttft_p50_ms",
)  # fmt: skip
_RUNS = 100
_SERIES = 40
_SETS = 100
_PAIRS = 60


def _addresses(site: Site) -> Addresses:
    site.keep(site_models=_MODELS)
    models = site.rows("SELECT model FROM site_models ORDER BY rowid")
    own = {model_page(row["model"]): (row["model"],) for row in models}
    return {**list_addresses(site, "site_models", MODELS), **own}


def _load(site: Site, addresses: Addresses) -> Iterator[Contents]:
    yield from lists(
        site,
        addresses,
        "Models",
        relation="site_models",
        first=MODELS,
        listed=lambda rows: table(
            rows, _LISTED, links={"model": lambda row: model_page(row["model"])}
        ),
    )
    models = [name for key in addresses.values() for name in key]
    if not models:
        return
    site.keep("drift", "costs", "latency", "model_history", site_pairs=_PAIRED)
    rows, untested, *queried = (
        site.rows(query, {"models": models})
        for query in (_OWN, _UNTESTED, _HISTORY, _DRIFT, _COSTS, _OTHERS)
    )
    n_untested = {each["model"]: each["n"] for each in untested}
    history, drifts, costs, others = (by(each, "model") for each in queried)
    places = site.once(_places)
    for row in rows:
        key = (row["model"],)
        own = _own(row)
        values = {
            "row": row,
            "ranked": places[row["model"]][:_SETS],
            "n_other_sets": max(len(places[row["model"]]) - _SETS, 0),
            "series": series(history[key], n_series=_SERIES, n_runs=_RUNS),
            "drifts": [(each, drift_pieces(each)) for each in drifts[key]],
            "others": [{**each, "own": own(each)} for each in others[key][:_PAIRS]],
            "n_other_pairs": max(len(others[key]) - _PAIRS, 0),
            "n_untested_sets": n_untested.get(row["model"], 0),
            "costs": table(
                site.timed(costs[key]),
                _COST_COLUMNS,
                links={"run_id": lambda each: run_page(each["suite"], each["run_id"])},
                limit=_RUNS,
            ),
        }
        title = row["model"] or "unknown model"
        path = model_page(row["model"])
        yield Contents(path=path, template="model.html", title=title, values=values)


def _own(row: Row) -> Callable[[Row], str]:
    """Return what distinguishes the calls of a model: provider and settings, if several."""
    names = []
    if len(row["providers"]) > 1:
        names.append("provider")
    if len(row["settings"]) + row["has_no_settings"] > 1:
        names.append("settings")

    def own(pair: Row) -> str:
        provider = f"from {pair['provider'] or 'an unknown provider'}"
        found = {"provider": provider, "settings": pair["settings"] or "none"}
        return ", ".join(found[name] for name in names)

    return own


def _places(site: Site) -> defaultdict[str | None, list[tuple[Board, Place]]]:
    """Return the places of each model in the leaderboards of task sets, by their main metrics."""
    places: defaultdict[str | None, list[tuple[Board, Place]]] = defaultdict(list)
    for board in boards(site):
        for place in board.places if board.is_main else ():
            places[place.row["model"]].append((board, place))
    return places


PAGE_TYPE = PageType(
    name="model",
    addresses=_addresses,
    load=_load,
    folder="models",
    title="Models",
    entry=MODELS,
    is_main=True,
)
