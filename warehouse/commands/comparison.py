"""The comparison of two models in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from warehouse.types import Row

_LEVEL = 0.05


def sentence(pair: Row, *, first: str) -> str:
    """Return what a row of `paired_comparisons` says, for readers who do not know the test.

    Args:
        pair: the row.
        first: the model to name first.
    """
    one, other = ("a", "b") if pair["model_a"] == first else ("b", "a")
    n_tasks = pair["n_tasks"]
    rates = {side: f"{100 * pair[f'pass_rate_{side}']:.1f} %" for side in "ab"}
    tasks = "the one task" if n_tasks == 1 else f"the {n_tasks:,} tasks"
    interval = _interval(pair, "pass_rate_difference", one, lambda value: f"{100 * value:+.1f}")
    return (
        f"{pair['suite']}: of {tasks} that both were asked, {_name(pair, one)} passed {rates[one]} "
        f"and {_name(pair, other)} {rates[other]}, by their latest runs"
        f"{f': {interval}' if interval else ''}. {_conclusion(pair)}"
    )


def score_sentence(pair: Row, *, first: str) -> str:
    """Return what a row of `score_comparisons` says.

    Args:
        pair: the row.
        first: the model to name first.
    """
    one, other = ("a", "b") if pair["model_a"] == first else ("b", "a")
    n_tasks = pair["n_tasks"]
    tasks = "the one task" if n_tasks == 1 else f"the {n_tasks:,} tasks"
    interval = _interval(pair, "difference", one, lambda value: f"{value:+.4g}")
    return (
        f"{pair['suite']}: on {tasks} that both attempted, {_name(pair, one)} scored "
        f"{pair[f'mean_{one}']:.4g} on average and {_name(pair, other)} "
        f"{pair[f'mean_{other}']:.4g} ({_metric(pair)}){f': {interval}' if interval else ''}. "
        f"{_score_conclusion(pair)}"
    )


def _interval(pair: Row, name: str, first: str, write: Callable[[float], str]) -> str:
    """Return the difference of the first model named with its interval; empty if it has none."""
    low, high = pair[f"{name}_low"], pair[f"{name}_high"]
    if low is None:
        return ""
    middle = pair[name if name in pair else f"mean_{name}"]
    if first == "b":
        middle, low, high = -middle, -high, -low
    unit = " points" if name.startswith("pass_rate") else ""
    return f"a difference of {write(middle)}{unit} (95 % interval {write(low)} to {write(high)})"


def _metric(pair: Row) -> str:
    """Return a metric's name, with scorer and filter if they are known."""
    parts = [pair["metric"]]
    parts += [f"scorer {pair['scorer']}"] if pair["scorer"] not in {None, pair["metric"]} else []
    parts += [f"filter {pair['filter']}"] if pair["filter"] else []
    return ", ".join(parts)


def _score_conclusion(pair: Row) -> str:
    if pair["p_value"] is None:
        return "Too few tasks, or too alike, to say whether the difference is chance."
    test = "McNemar's exact test" if pair["test"] == "mcnemar" else "paired t test"
    return _verdict(pair, f"p {_p(pair['p_value'])}, {test}")


def _name(pair: Row, side: str) -> str:
    """Return a model's name, with what tells it apart from the other."""
    apart = ["settings"] if pair["settings_a"] != pair["settings_b"] else []
    if pair["model_a"] == pair["model_b"] and pair["provider_a"] != pair["provider_b"]:
        apart.insert(0, "provider")
    texts = [pair[f"{column}_{side}"] or f"no {column}" for column in apart]
    return f"{pair[f'model_{side}']}" + (f" ({', '.join(texts)})" if texts else "")


def _conclusion(pair: Row) -> str:
    n_differing = pair["n_only_a"] + pair["n_only_b"]
    if n_differing == 0:
        return "They passed the same tasks."
    if pair["test"] != "mcnemar":
        return _score_conclusion(pair)
    tasks = "task" if n_differing == 1 else "tasks"
    value = f"p {_p(pair['p_value'])}, McNemar's exact test on the {n_differing} {tasks} that "
    return _verdict(pair, value + "only one of them passed")


def _verdict(pair: Row, value: str) -> str:
    if pair["p_value"] >= _LEVEL:
        return f"The difference may be chance ({value})."
    adjusted = f"Holm-adjusted p {_p(pair['p_holm'])}"
    return _significant(value, adjusted, among_all=pair["p_holm"] < _LEVEL)


def _significant(value: str, adjusted: str, *, among_all: bool) -> str:
    if among_all:
        return f"The difference is significant at 5 % ({value}; among all pairs, {adjusted})."
    return (
        "The difference is significant at 5 % if this pair is the only one of interest "
        f"({value}), but not among all pairs ({adjusted})."
    )


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"= {value:.2g}"  # noqa: PLR2004 - four decimals
