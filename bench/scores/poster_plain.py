"""Scoring and bootstrap in plain Python: the rules as specified, without optimisation."""

import json
import random
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from warehouse.engine.scoring.posters.matching import CORE_EVENT_WEIGHTS, EVENT_WEIGHTS


def plain_scores(golds: Sequence[str], predictions: Sequence[str]) -> list[tuple[object, ...]]:
    """Score each row from its JSON."""
    return [
        plain_score(json.loads(g), json.loads(p)) for g, p in zip(golds, predictions, strict=True)
    ]


def plain_view(row: dict[str, Any]) -> tuple[object, ...]:
    """Return the part of our row that the plain scorer computes."""
    pairs = [(m["gold"], m["prediction"], m["similarity"]) for m in row["matches"]]
    return (
        row["event_match"], row["venue"], row["location"], pairs, row["core_event_match"],
        row["top_level"], row["missing_field_rate"], row["date_f1"],
    )  # fmt: skip


def plain_score(gold: dict[str, Any], prediction: dict[str, Any] | None) -> tuple[object, ...]:
    """Score one prediction."""
    prediction = prediction or {}
    ours, theirs = gold["events"], prediction.get("events", [])
    match, venue, location, pairs = plain_events(ours, theirs, EVENT_WEIGHTS)
    core = plain_events(ours, theirs, CORE_EVENT_WEIGHTS)[0]
    required = ("date", "venue", "city", "province")
    blank = sum(not plain_text(event[name]) for event in theirs for name in required)
    missing = blank / (4 * len(theirs)) if theirs else 1.0
    dates = plain_dates([e["date"] for e in ours], [e["date"] for e in theirs])
    return match, venue, location, pairs, core, plain_top(gold, prediction), missing, dates


def plain_top(gold: dict[str, Any], prediction: dict[str, Any]) -> float:
    """Score the top-level fields."""
    if not prediction:
        return 0.0

    def handle(record: dict[str, Any]) -> str:
        return plain_text(record["instagram_handle"]).removeprefix("@")

    return (
        0.35 * plain_string(gold["artist_name"], prediction["artist_name"])
        + 0.15 * (handle(gold) == handle(prediction))
        + 0.2 * plain_string(gold["tour_name"], prediction["tour_name"])
        + 0.1 * plain_string(gold["contact_info"], prediction["contact_info"])
        + 0.2 * (plain_text(gold["source_month"]) == plain_text(prediction["source_month"]))
    ) / 1.0


def plain_dates(gold: list[str], prediction: list[str]) -> float:
    """Return the F1 score of two multisets of dates."""
    left, shared = list(gold), 0
    for date in prediction:
        if date in left:
            left.remove(date)
            shared += 1
    if not shared:
        return 0.0
    precision, recall = shared / len(prediction), shared / len(gold)
    return 2 * precision * recall / (precision + recall)


def plain_text(value: object) -> str:
    """Normalise a text."""
    return "" if value is None else str(value).strip().lower()


def plain_string(gold: object, prediction: object) -> float:
    """Compare two texts letter by letter."""
    a, b = plain_text(gold), plain_text(prediction)
    if not a and not b:
        return 1.0
    if not a or not b:
        return 0.0
    return SequenceMatcher(None, a, b).ratio()


def plain_similarity(
    gold: dict[str, Any], event: dict[str, Any], weights: dict[str, float]
) -> float:
    """Compare two events."""
    total = 0.0
    for name, weight in weights.items():
        if name in ("date", "time", "country", "status"):
            total += weight * (plain_text(gold[name]) == plain_text(event[name]))
        else:
            total += weight * plain_string(gold[name], event[name])
    return total


def plain_events(
    gold: list[dict[str, Any]], prediction: list[dict[str, Any]], weights: dict[str, float]
) -> tuple[float, float, float, list[tuple[int, int | None, float]]]:
    """Match events, and return event match, venue, location and the pairs."""
    if not prediction:
        return 0.0, 0.0, 0.0, [(row, None, 0.0) for row in range(len(gold))]
    similar = [[plain_similarity(g, p, weights) for p in prediction] for g in gold]
    size = max(len(gold), len(prediction))
    costs = [[1.0] * size for _ in range(size)]
    for row, line in enumerate(similar):
        costs[row][: len(line)] = [1.0 - value for value in line]
    columns = plain_assignment(costs)
    match = venue = location = 0.0
    pairs: list[tuple[int, int | None, float]] = []
    for row, column in enumerate(columns[: len(gold)]):
        if column >= len(prediction):
            pairs.append((row, None, 0.0))
            continue
        a, b = gold[row], prediction[column]
        match += similar[row][column]
        venue += plain_string(a["venue"], b["venue"])
        country = float(plain_text(a["country"]) == plain_text(b["country"]))
        cities = plain_string(a["city"], b["city"]) + plain_string(a["province"], b["province"])
        location += (cities + country) / 3
        pairs.append((row, column, similar[row][column]))
    return match / len(gold), venue / len(gold), location / len(gold), pairs


def plain_assignment(costs: list[list[float]]) -> list[int]:  # noqa: C901 - as in textbooks
    """Return the column of each row by the Hungarian method with potentials, on a square matrix."""
    n = len(costs)
    u, v, owner, way = [0.0] * (n + 1), [0.0] * (n + 1), [0] * (n + 1), [0] * (n + 1)
    for i in range(1, n + 1):
        owner[0], j0 = i, 0
        minimum, used = [float("inf")] * (n + 1), [False] * (n + 1)
        while True:
            used[j0] = True
            i0, delta, j1 = owner[j0], float("inf"), 0
            for j in range(1, n + 1):
                if not used[j]:
                    reduced = costs[i0 - 1][j - 1] - u[i0] - v[j]
                    if reduced < minimum[j]:
                        minimum[j], way[j] = reduced, j0
                    if minimum[j] < delta:
                        delta, j1 = minimum[j], j
            for j in range(n + 1):
                if used[j]:
                    u[owner[j]] += delta
                    v[j] -= delta
                else:
                    minimum[j] -= delta
            j0 = j1
            if owner[j0] == 0:
                break
        while j0:
            owner[j0], j0 = owner[way[j0]], way[j0]
    columns = [0] * n
    for column in range(1, n + 1):
        columns[owner[column] - 1] = column - 1
    return columns


def plain_comparisons(scores: dict[str, list[float]]) -> list[tuple[float, float, float, float]]:
    """Bootstrap the difference of each pair of models."""
    names = list(scores)
    return [
        plain_difference(scores[a], scores[b])
        for at, a in enumerate(names)
        for b in names[at + 1 :]
    ]


def plain_difference(a: list[float], b: list[float]) -> tuple[float, float, float, float]:
    """Return mean difference, both bounds and the p-value of 1,000 resamples."""
    rng, differences = random.Random(23), []
    for _ in range(1000):
        mean_a = plain_sum([a[rng.randrange(len(a))] for _ in a]) / len(a)
        mean_b = plain_sum([b[rng.randrange(len(b))] for _ in b]) / len(b)
        differences.append(mean_a - mean_b)
    below = sum(d <= 0 for d in differences) / 1000
    above = sum(d > 0 for d in differences) / 1000
    differences.sort()
    mean = plain_sum(a) / len(a) - plain_sum(b) / len(b)
    return mean, differences[25], differences[974], 2 * min(below, above)


def plain_sum(values: list[float]) -> float:
    """Add from left to right, unlike `sum` in some versions of Python."""
    total = 0.0
    for value in values:
        total += value
    return total
