"""How a figure in a log's header follows from the scores of the samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ingest.formats.common.fields import object_of
from ingest.formats.inspect.documents import as_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_STATISTICS = {"accuracy": "mean", "mean": "mean", "std": "std", "var": "var", "stderr": "stderr"}
_INTERVALS = {"ci", "ci_wilson", "lower", "upper"}
_OF_GROUPS = {"metric", "group_key", "all", "all_label", "name_template"}
_NAME = "{group_name}"
_GROUPED = "grouped"
_PACKAGE = "inspect_ai/"


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a figure follows from scores.

    Attributes:
        statistic: as in `reported_metrics`; None if it does not follow from them.
        parameters: of the statistic: `by` or `cluster`, the field of a result that names its group
            or cluster (a JSON pointer into `extra`), and `of`, the statistic of each group.
        group: the only group that it covers.
        reason: why it does not follow from scores.
    """

    statistic: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    group: str | None = None
    reason: str | None = None


def derivation(name: str, metric: Mapping[str, Any], declared: Collection[str] = ()) -> Derivation:
    """Return how a figure follows from the scores in the store.

    Args:
        name: name of the metric, without that of Inspect's package.
        metric: the figure, as in the header.
        declared: names of the metrics of its scorer, with their packages; none if not recorded.
    """
    parameters = object_of(metric.get("params")) or object_of(metric.get("options"))
    group = as_text(metric.get("group"))
    if name.startswith("bootstrap"):
        return Derivation(reason="random bootstrap")
    if name in _INTERVALS or group in _INTERVALS:
        return Derivation(reason="an end of an interval")
    if "group_key" in parameters:
        return _grouped(name, parameters)
    # `group` is the name of any metric that returns several values, not only of `grouped`.
    if group and group.removeprefix(_PACKAGE) == _GROUPED:
        return Derivation(reason="how the groups were made is not recorded")
    if group or _is_own(name, declared):
        return Derivation(reason="metric of the task's own code")
    return _of_all(name, parameters)


def _is_own(name: str, declared: Collection[str]) -> bool:
    """Return whether a figure is of a project's metric, though it is named like one of Inspect's.

    It has the same name, or is one of several values of a metric, in a log without `group`.
    """
    return f"{_PACKAGE}{name}" not in declared and any(
        not each.startswith(_PACKAGE) for each in declared
    )


def _of_all(name: str, parameters: Mapping[str, Any]) -> Derivation:
    if name not in _STATISTICS:
        return Derivation(reason="metric of the task's own code")
    cluster = as_text(parameters.get("cluster"))
    if name == "stderr" and cluster is not None and len(parameters) == 1:
        return Derivation("stderr", {"cluster": _field(cluster)})
    if parameters:
        return Derivation(reason="metric with parameters of its own")
    return Derivation(_STATISTICS[name])


def _grouped(label: str, parameters: Mapping[str, Any]) -> Derivation:
    """Return how a figure of `grouped(metric, key)` follows: one of a group, or that of all."""
    inner = object_of(parameters.get("metric"))
    statistic = _STATISTICS.get((as_text(inner.get("name")) or "").removeprefix(_PACKAGE))
    key = as_text(parameters.get("group_key"))
    if statistic is None or key is None:
        return Derivation(reason="metric of the task's own code")
    if object_of(inner.get("params")) or parameters.keys() - _OF_GROUPS:
        return Derivation(reason="metric with parameters of its own")
    over = parameters.get("all", "samples")
    if over and label == (as_text(parameters.get("all_label")) or "all"):
        if over == "groups":
            return Derivation("macro_mean", {"by": _field(key), "of": statistic})
        return Derivation(statistic, {"by": _field(key)})
    before, name, after = (as_text(parameters.get("name_template")) or _NAME).partition(_NAME)
    is_plain = name and not {"{", "}"} & {*before, *after}
    if not is_plain or not (label.startswith(before) and label.endswith(after)):
        return Derivation(reason="how the groups were named is not recorded")
    group = label[len(before) : len(label) - len(after)]
    return Derivation(statistic, {"by": _field(key)}, group=utf8(group))


def _field(key: str) -> str:
    """Return where a result has a value of its sample's metadata, as a JSON pointer (RFC 6901)."""
    return "/metadata/" + utf8(key).replace("~", "~0").replace("/", "~1")
