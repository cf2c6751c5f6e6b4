"""The pages of posters: the events of gold and prediction, matched, with their similarities."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from exports.site.addresses import POSTERS, model_page, poster_page, run_page
from exports.site.page import Contents
from exports.site.site import PageType
from exports.site.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.site.page import Addresses
    from exports.site.site import Site
    from warehouse.core.types import Row

_OF_ALL = 300
_LONG = 500  # characters of a field
# The fields that are compared, as their similarities are named.
_FIELDS = (
    "date", "time", "event_name", "venue", "city", "province", "country", "ticket_info", "status",
)  # fmt: skip
_REPORT = """
SELECT poster_report.*
FROM poster_report
LEFT JOIN runs USING (suite, run_id)
ORDER BY runs.run_date DESC NULLS LAST, run_id DESC, app_quality_score DESC NULLS LAST, model
"""
_REPORT_COLUMNS = (
    "model", "label", "posters", "app_quality_score", "app_quality_low", "app_quality_high",
    "app_core_score", "app_core_low", "app_core_high", "prediction_cost_usd", "run_id",
)  # fmt: skip
_REPORT_HEADINGS = {
    "label": "ground truth",
    "app_quality_score": "app quality, 0 to 100",
    "app_core_score": "app core, 0 to 100",
    "prediction_cost_usd": "cost of the predictions, US$",
    "run_id": "run",
}
_SILVER = "FROM poster_silver_check ORDER BY run_id DESC, metric DESC, model"
_SILVER_COLUMNS = (
    "model", "metric", "n_posters", "silver_mean", "gold_mean", "difference", "difference_low",
    "difference_high", "reported", "n_scored", "run_id",
)  # fmt: skip
_SILVER_HEADINGS = {
    "n_posters": "posters with both",
    "silver_mean": "by silver",
    "gold_mean": "by gold",
    "difference": "gold less silver",
    "reported": "as reported, of all posters",
    "n_scored": "all posters",
    "run_id": "run",
}
_SCORES = f"""
WITH posters AS (
    SELECT DISTINCT scores.suite, scores.run_id, scores.seq, scores.task_id, runs.run_date
    FROM poster_scores AS scores
    LEFT JOIN runs USING (suite, run_id)
    ORDER BY runs.run_date DESC NULLS LAST, scores.run_id DESC, scores.seq, scores.task_id
    LIMIT {_OF_ALL}
)
SELECT scores.*
FROM poster_scores AS scores
JOIN posters USING (suite, run_id, seq, task_id)
ORDER BY
    posters.run_date DESC NULLS LAST, scores.run_id DESC, scores.seq, scores.task_id,
    scores.app_quality DESC, scores.model
"""  # noqa: S608 - our own number
_MATCHES = """
FROM poster_matches
WHERE assignment = 'full' AND list_contains($task_ids, task_id)
ORDER BY
    suite, run_id, task_id, model, gold_index NULLS LAST, predicted_index NULLS LAST
"""
_PICTURES = """
SELECT
    task_id,
    arg_max(image_url, (seq, image_url)) AS image_url,
    arg_max(image_sha256, (seq, image_sha256)) AS image_sha256
FROM tasks
WHERE starts_with(suite, 'posters') AND list_contains($task_ids, task_id)
GROUP BY task_id
ORDER BY task_id
"""
_N_POSTERS = "SELECT count(DISTINCT (run_id, task_id)) AS n FROM poster_scores"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    """Two events that were matched, or one without a partner.

    Attributes:
        title: what was matched with what.
        similarity: similarity by the weights of all fields, 0 to 1; None without a partner.
        lines: for each field its name, the gold value, the predicted one and their similarity.
    """

    title: str
    similarity: float | None
    lines: list[tuple[str, str | None, str | None, float | None]]


def _posters(site: Site) -> list[tuple[tuple[str, str, str], list[Row]]]:
    return [(key, list(rows)) for key, rows in groupby(site.rows(_SCORES), key=_key)]


def _addresses(site: Site) -> Addresses:
    own = {poster_page(key[1], key[2]): key for key, _ in site.once(_posters)}
    return {**own, POSTERS: ()}


def _load(site: Site, addresses: Addresses) -> Iterator[Contents]:
    if POSTERS in addresses:
        yield _list(site, site.once(_posters))
    of_block = set(addresses.values()) - {()}
    task_ids = sorted({key[-1] or "" for key in of_block})
    rows = site.rows(_MATCHES, {"task_ids": task_ids})
    matches = {
        key: [_match(row) for row in of_model]
        for key, of_model in groupby(rows, key=lambda row: (*_key(row), row["model"]))
    }
    pictures = {row["task_id"]: row for row in site.rows(_PICTURES, {"task_ids": task_ids})}
    for key, scores in site.once(_posters):
        if key not in of_block:
            continue
        suite, run_id, task_id = key
        values = {
            "run_id": run_id,
            "run_path": run_page(suite, run_id),
            "picture": pictures.get(task_id),
            "models": [(score, matches.get((*key, score["model"]), [])) for score in scores],
            "long": _LONG,
        }
        path, title = poster_page(run_id, task_id), f"Poster {task_id}"
        yield Contents(path=path, template="poster.html", title=title, values=values)


def _list(site: Site, posters: list[tuple[tuple[str, str, str], list[Row]]]) -> Contents:
    [row] = site.rows(_N_POSTERS)
    runs = [
        (
            run_id,
            run_page(suite, run_id),
            [(task_id, poster_page(run_id, task_id), scores) for (_, _, task_id), scores in group],
        )
        for (suite, run_id), group in groupby(posters, key=lambda poster: poster[0][:2])
    ]
    report = table(
        site.rows(_REPORT),
        _REPORT_COLUMNS,
        headings=_REPORT_HEADINGS,
        links={"model": _model, "run_id": _run},
        unknown=dict.fromkeys(("label", "app_quality_score", "app_core_score"), "none scored"),
    )
    silver = table(
        site.rows(_SILVER), _SILVER_COLUMNS, headings=_SILVER_HEADINGS, links={"run_id": _run}
    )
    values = {
        "report": report,
        "silver": silver,
        "runs": runs,
        "n_left_out": row["n"] - len(posters),
    }
    return Contents(path=POSTERS, template="posters.html", title="Posters", values=values)


def _model(row: Row) -> str:
    return model_page(row["model"])


def _run(row: Row) -> str:
    return run_page(row["suite"], row["run_id"])


def _key(row: Row) -> tuple[str, str, str]:
    return row["suite"], row["run_id"], row["task_id"]


def _match(row: Row) -> _Match:
    gold, predicted = _event(row["gold_event"]), _event(row["predicted_event"])
    lines = [
        (field, gold.get(field), predicted.get(field), row[field])
        for field in _FIELDS
        if gold.get(field) is not None or predicted.get(field) is not None
    ]
    if row["gold_event"] is None:
        return _Match(title="predicted, but not in the ground truth", similarity=None, lines=lines)
    if row["predicted_event"] is None:
        return _Match(title="in the ground truth, but not predicted", similarity=None, lines=lines)
    return _Match(title="matched", similarity=row["similarity"], lines=lines)


def _event(text: str | None) -> dict[str, str | None]:
    """Return the fields of an event as text; of one that is not an object, none."""
    event = None if text is None else json.loads(text)
    if not isinstance(event, dict):
        return {}
    return {
        name: value if value is None or isinstance(value, str) else json.dumps(value)
        for name, value in event.items()
    }


def _is_shown(site: Site) -> bool:
    return bool(site.rows("SELECT 1 AS n FROM poster_scores LIMIT 1"))


PAGE_TYPE = PageType(
    name="posters",
    addresses=_addresses,
    load=_load,
    folder="posters",
    title="Posters",
    entry=POSTERS,
    is_shown=_is_shown,
)
