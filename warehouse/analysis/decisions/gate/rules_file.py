"""Reads the rules of a gate from YAML.

candidate: example/aurora-3
baseline: example/aurora-2
rules:
  - {metric: passed, max_drop: 0.02}
  - {max_p95_ms: 5000, on_inconclusive: warn}
  - {must_pass: [refund, greeting]}
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Final, NoReturn

from warehouse.analysis.decisions.gate.rules import (
    DROPS,
    FALLBACKS,
    JUDGED,
    LIMITS,
    OF_METRIC,
    OF_PASS_HAT,
    Rule,
)
from warehouse.analysis.decisions.series import CALL_METRICS, VERDICT
from warehouse.core.errors import BadInput
from warehouse.core.formats.yaml.documents import (
    MappingNode,
    ScalarNode,
    SequenceNode,
    YamlError,
    parse,
)
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from warehouse.analysis.decisions.gate.rules import Fallback
    from warehouse.core.formats.yaml.documents import Node

MAX_BYTES: Final = 2**20
MISSING: Final = ("exclude", "fail")
_TEXTS = ("candidate", "baseline", "anchor", "suite", "task_set", "scorer", "cluster")
# The second is the name before version 0.2.
_ON_INCONCLUSIVE = ("on_inconclusive", "cannot_tell")
# The least and the most of each.
MAX_K: Final = 1000
_COUNTS = {"min_tasks": (1, 1e9), "baseline_runs": (1, 1000), "confirm": (0, 1000)}
_AMOUNTS_OF_JUDGE = {"min_judge_kappa": (0, 1), "max_judge_age_days": (0, 1e9)}
_AMOUNTS_OF_RULE = {"max_missed": (0, 1e15), **_AMOUNTS_OF_JUDGE}
_AMOUNTS = {"max_anchor_days": (0, 1e9), "min_coverage": (0, 1), **_AMOUNTS_OF_RULE}
_OF_RULE = (*LIMITS, "metric", "k", "suite", "task_set", *_AMOUNTS_OF_RULE, *_ON_INCONCLUSIVE)
_FLAGS = {"prove": "proves", "require_calibrated": "require_calibrated"}
_KEYS = (*_TEXTS, "alpha", *_COUNTS, *_AMOUNTS, "missing", *_FLAGS, *_ON_INCONCLUSIVE, "rules")


def read_rules_file(data: bytes, file: str) -> dict[str, object]:
    """Return what a file of rules says: the attributes of `Rules` that it names.

    Args:
        data: YAML, UTF-8.
        file: the file's name, for messages.

    Raises:
        BadInput: the file does not have this form; the message names file, line and key.
    """
    try:
        root = parse(data, max_bytes=MAX_BYTES)
    except YamlError as error:
        raise BadInput(f"{file}: {error}") from None
    keys = _Keys(root, file, "a gate", _KEYS)
    found: dict[str, object] = {name: keys.text(name) for name in _TEXTS}
    found["alpha"] = keys.number("alpha", 0, 1, is_open=True)
    for name, ends in _COUNTS.items():
        number = keys.number(name, *ends)
        found[name] = None if number is None else int(number)
    found |= {name: keys.number(name, *ends) for name, ends in _AMOUNTS.items()}
    found["missing"] = keys.choice("missing", MISSING)
    found |= {name: keys.flag(key) for key, name in _FLAGS.items()}
    found["on_inconclusive"] = _fallback(keys)
    rules = keys.items("rules")
    if not rules:
        keys.fail("rules: missing; a gate needs at least one rule")
    found["rules"] = tuple(
        rule for item in rules for rule in _rules(_Keys(item, file, "a rule", _OF_RULE))
    )
    return {name: value for name, value in found.items() if value is not None}


def _rules(keys: _Keys) -> list[Rule]:
    """Return the rules of one entry: one for each limit."""
    metric = keys.text("metric")
    suite, task_set, on_inconclusive = keys.text("suite"), keys.text("task_set"), _fallback(keys)
    limits = {kind: keys.number(kind, -1e15, 1e15) for kind in LIMITS if kind != "must_pass"}
    tasks, max_missed = keys.texts("must_pass"), keys.number("max_missed", 0, 1e15)
    of_judge = {name: keys.number(name, *ends) for name, ends in _AMOUNTS_OF_JUDGE.items()}
    given = {kind: limit for kind, limit in limits.items() if limit is not None}
    if tasks:
        given["must_pass"] = 0.0
    if not given:
        keys.fail(f"the rule has no limit; the limits are: {', '.join(LIMITS)}")
    if metric is not None and not given.keys() & OF_METRIC:
        keys.fail(f"metric: only with {' or '.join(sorted(OF_METRIC))}")
    if max_missed is not None and not given.keys() & DROPS:
        keys.fail(f"max_missed: only with {' or '.join(sorted(DROPS))}")
    for name, value in of_judge.items():
        if value is not None and not given.keys() & JUDGED:
            keys.fail(f"{name}: only with one of {', '.join(sorted(JUDGED))}")
    k = keys.number("k", 1, MAX_K)
    if problem := k_problem(given, k):
        keys.fail(problem)
    for kind, limit in given.items():
        if problem := limit_problem(kind, limit, metric or VERDICT):
            keys.fail(problem, kind)
    return [
        Rule(
            kind=kind,
            limit=limit,
            metric=metric or VERDICT,
            k=int(k) if k is not None and kind in OF_PASS_HAT else None,
            suite=suite,
            task_set=task_set,
            tasks=tasks if kind == "must_pass" else (),
            max_missed=max_missed if kind in DROPS else None,
            **(of_judge if kind in JUDGED else {}),
            on_inconclusive=on_inconclusive,
        )
        for kind, limit in given.items()
    ]


def limit_problem(kind: str, limit: float, metric: str) -> str | None:
    """Return why a limit cannot be used; None if it can."""
    if not isfinite(limit):
        return f"{kind}: must be a finite number"
    if limit < 0 and kind != "min_value":
        return f"{kind}: must not be negative"
    if kind == "min_pass_hat_k" and limit > 1:
        return f"{kind}: must be at most 1: pass^k is 0 to 1"
    is_rate = kind in OF_PASS_HAT or metric == VERDICT
    if kind in DROPS and is_rate and limit >= 1:
        return f"{kind}: must be below 1: pass rates are 0 to 1, so that 2 points are 0.02"
    if kind in OF_METRIC and metric in CALL_METRICS:
        return (
            f"{kind}: {metric} is better if it is lower; use max_cost_per_passed_usd or max_p95_ms"
        )
    return None


def k_problem(kinds: Iterable[str], k: float | None) -> str | None:
    """Return why rules of some kinds do not go with k, or with none; None if they do."""
    of_pass_hat = sorted(OF_PASS_HAT.intersection(kinds))
    if of_pass_hat and k is None:
        return f"{of_pass_hat[0]}: needs k, how many attempts must all pass"
    if k is not None and not of_pass_hat:
        return f"k: only with {' or '.join(sorted(OF_PASS_HAT))}"
    return None if k is None or float(k).is_integer() else "k: must be a whole number"


def _fallback(keys: _Keys) -> Fallback | None:
    given = [keys.choice(name, FALLBACKS) for name in _ON_INCONCLUSIVE]
    return next((each for each in FALLBACKS if each in given), None)


class _Keys:
    """The keys of a mapping; unknown ones are rejected with their line and the similar names."""

    def __init__(self, node: Node, file: str, what: str, known: Collection[str]) -> None:
        self._file, self._line = file, node.line
        if not isinstance(node, MappingNode):
            self.fail(f"{what} must be a mapping of keys to values")
        for key, line in node.duplicates:
            raise BadInput(f"{file}:{line}: {key}: duplicate key")
        self._nodes = dict(node.items)
        for key in self._nodes:
            if key not in known:
                hint = did_you_mean(key, known, f"the keys are: {', '.join(known)}")
                self.fail(f"{key}: unknown key of {what}; {hint}", key)

    def fail(self, message: str, key: str | None = None) -> NoReturn:
        """Raise an error for a key, or for the mapping.

        Raises:
            BadInput: always.
        """
        line = self._line if key is None else self._nodes[key].line
        raise BadInput(f"{self._file}:{line}: {message}")

    def text(self, key: str) -> str | None:
        """Return a text; None if the key is missing."""
        value = self._scalar(key, "text", lambda value: isinstance(value, str) and value != "")
        return None if value is None else str(value)

    def choice(self, key: str, choices: Collection[str]) -> str | None:
        """Return one of some texts; None if the key is missing."""
        value = self._scalar(key, f"one of {', '.join(choices)}", lambda value: value in choices)
        return None if value is None else str(value)

    def flag(self, key: str) -> bool | None:
        """Return true or false; None if the key is missing."""
        value = self._scalar(key, "true or false", lambda value: isinstance(value, bool))
        return None if value is None else bool(value)

    def number(self, key: str, low: float, high: float, *, is_open: bool = False) -> float | None:
        """Return a number between two, the ends excluded if `is_open`; None if it is missing."""
        what = f"a number {'between' if is_open else 'from'} {low:g} {'and' if is_open else 'to'} "

        def is_between(value: object) -> bool:
            if isinstance(value, bool) or not isinstance(value, int | float):
                return False
            return low < value < high if is_open else low <= value <= high

        value = self._scalar(key, f"{what}{high:g}", is_between)
        return float(value) if isinstance(value, int | float) else None

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of text; empty if the key is missing."""
        found = []
        for item in self.items(key):
            if not isinstance(item, ScalarNode) or item.value is None:
                self.fail(f"{key}: must be a list of text", key)
            found.append(item.value if isinstance(item.value, str) else item.text)
        return tuple(found)

    def items(self, key: str) -> list[Node]:
        """Return the items of a list that is not empty; none if the key is missing."""
        node = self._nodes.get(key)
        if node is None:
            return []
        if not isinstance(node, SequenceNode) or not node.items:
            self.fail(f"{key}: must be a list with at least one item", key)
        return node.items

    def _scalar(self, key: str, what: str, is_valid: Callable[[object], bool]) -> object:
        node = self._nodes.get(key)
        if node is None:
            return None
        if not isinstance(node, ScalarNode) or not is_valid(node.value):
            self.fail(f"{key}: must be {what}", key)
        return node.value
