"""A user's Python function as a scorer: `module:function`, called in the runner's process.

It gets the answer, the list of references and the dictionary of options, and returns whether the
answer passes: `True`, `False`, or one of them with a reason.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from warehouse.core.errors import BadInput
from warehouse.engine.scoring.openclaw.verdicts import Verdict, undecided

if TYPE_CHECKING:
    from warehouse.engine.scoring.custom.scorers import Rule

UserFunction: TypeAlias = Callable[[str, object, object], object]

_LONGEST_REASON = 500
# One call at a time: a user's function need not be safe for threads.
_LOCK = Lock()


@cache
def load_function(name: str, folder: Path) -> UserFunction:
    """Import a function; its module may be next to the suite's file or installed.

    Args:
        name: `module:function`.
        folder: folder of the suite's file.

    Raises:
        BadInput: there is no such function, or its module cannot be imported.
    """
    module_name, _, attribute = name.partition(":")
    place = str(folder.resolve())
    if place not in sys.path:
        sys.path.append(place)
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # the user's own code runs here
        raise BadInput(f"{name}: {_described(error)}") from error
    function = getattr(module, attribute, None)
    if not callable(function):
        raise BadInput(f"{name}: the module {module_name} has no function {attribute!r}")
    loaded: UserFunction = function
    return loaded


def source_hash(function: UserFunction) -> str | None:
    """Return the SHA-256 of the file that defines a function; None if it has none."""
    try:
        path = inspect.getsourcefile(inspect.unwrap(function))
        return hashlib.sha256(Path(path).read_bytes()).hexdigest() if path is not None else None
    except (TypeError, ValueError, OSError):
        return None


def judge_by_function(function: UserFunction, answer: str, rule: Rule) -> Verdict:
    """Call a function; an error, or a value that is not a verdict, becomes the reason for none."""
    try:
        with _LOCK:
            value = function(answer, rule.get("references"), rule.get("options", {}))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the user's code raises
        return undecided(_described(error))
    match value:
        case (passes, reason):
            pass
        case passes:
            reason = None
    if not isinstance(passes, bool) or not isinstance(reason, str | None):
        return undecided(f"returned {repr(value)[:_LONGEST_REASON]}, not True or False")
    if passes:
        return Verdict(objective_pass=True)
    return Verdict(objective_pass=False, violation=(reason or "returned False")[:_LONGEST_REASON])


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
