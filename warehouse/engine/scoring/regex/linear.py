"""Matches a regular expression in time linear in the text, where that is possible.

All ways to read a text are followed at once (Thompson's construction), so that none is tried
twice. It is slower than backtracking for most patterns, but none makes it take forever. The pattern
is parsed, and each character and position judged, by Python's own modules: it has the same meaning.

It is run by `worker` by file name and imports only the standard library.
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

# Private, but the only way to read a pattern exactly as Python does.
_compiler = import_module("re._compiler")
_constants = import_module("re._constants")
_parser = import_module("re._parser")

_MAX_STATES = 20_000
_MAX_STEPS = 10_000_000
_MAX_CACHED = 20_000
_CHARACTERS = (_constants.LITERAL, _constants.NOT_LITERAL, _constants.ANY, _constants.IN)
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT)

_States = frozenset[int]


class NotLinearError(Exception):
    """A pattern that cannot be matched in linear time, such as one with a back-reference."""


class LinearMatcher:
    """A pattern as an automaton, whose states are numbers from 0, the start.

    Raises:
        NotLinearError: it has a back-reference, lookaround or atomic group, or too many states.
    """

    def __init__(self, pattern: str) -> None:
        self._free: list[list[int]] = [[]]
        self._guarded: list[list[tuple[int, int]]] = [[]]
        self._reading: list[list[tuple[Any, int]]] = [[]]
        self._singles: dict[object, Any] = {}
        self._positions: list[Any] = []
        self._cache: dict[tuple[_States, str, tuple[bool, ...]], _States] = {}
        parsed = _parser.parse(pattern)
        self._end = self._sequence(parsed, 0, parsed.state.flags)

    def fullmatch(self, text: str) -> bool | None:
        """Return whether the whole text matches; None if that would take too long."""
        if len(text) * len(self._free) > _MAX_STEPS:
            return None
        states = self._closure([0], self._holding(text, 0))
        for place, character in enumerate(text, 1):
            holding = self._holding(text, place)
            key = states, character, holding
            following = self._cache.get(key)
            if following is None:
                read = (
                    target
                    for state in states
                    for single, target in self._reading[state]
                    if single.fullmatch(character)
                )
                following = self._closure(read, holding)
                if len(self._cache) >= _MAX_CACHED:
                    self._cache.clear()
                self._cache[key] = following
            states = following
        return self._end in states

    def _holding(self, text: str, place: int) -> tuple[bool, ...]:
        """Return which of the pattern's positions, such as `^`, hold at a place in the text."""
        return tuple(each.match(text, place) is not None for each in self._positions)

    def _closure(self, states: Iterable[int], holding: tuple[bool, ...]) -> _States:
        """Return the states that can be reached without reading a character."""
        reached = set(states)
        waiting = list(reached)
        while waiting:
            state = waiting.pop()
            guarded = (target for at, target in self._guarded[state] if holding[at])
            for target in (*self._free[state], *guarded):
                if target not in reached:
                    reached.add(target)
                    waiting.append(target)
        return frozenset(reached)

    def _sequence(self, items: Any, state: int, flags: int) -> int:  # noqa: ANN401 - re's own type
        """Add the items of a parsed pattern after a state, and return the state after them."""
        for operation, argument in items:
            state = self._item(operation, argument, state, flags)
        return state

    def _item(self, operation: Any, argument: Any, state: int, flags: int) -> int:  # noqa: ANN401
        if operation in _CHARACTERS:
            end = self._new()
            self._reading[state].append((self._single(operation, argument, flags), end))
            return end
        if operation is _constants.AT:
            end = self._new()
            position = self._single(operation, argument, flags)
            if position not in self._positions:
                self._positions.append(position)
            self._guarded[state].append((self._positions.index(position), end))
            return end
        if operation is _constants.BRANCH:
            end = self._new()
            for branch in argument[1]:
                self._free[self._sequence(branch, state, flags)].append(end)
            return end
        if operation is _constants.SUBPATTERN:
            _, added, removed, inner = argument
            kept = flags & ~_parser.TYPE_FLAGS if added & _parser.TYPE_FLAGS else flags
            return self._sequence(inner, state, (kept | added) & ~removed)
        if operation in _REPEATS:
            low, high, inner = argument
            return self._repeat(inner, state, flags, low=low, high=high)
        raise NotLinearError

    def _repeat(self, inner: Any, state: int, flags: int, *, low: int, high: int) -> int:  # noqa: ANN401
        for _ in range(low):
            state = self._sequence(inner, state, flags)
        end = self._new()
        if high is _constants.MAXREPEAT:
            self._free[state].append(end)
            self._free[self._sequence(inner, end, flags)].append(end)
            return end
        for _ in range(high - low):
            self._free[state].append(end)
            state = self._sequence(inner, state, flags)
        self._free[state].append(end)
        return end

    def _new(self) -> int:
        if len(self._free) >= _MAX_STATES:
            raise NotLinearError
        for edges in (self._free, self._guarded, self._reading):
            edges.append([])
        return len(self._free) - 1

    def _single(self, operation: Any, argument: Any, flags: int) -> Any:  # noqa: ANN401
        """Return the compiled pattern of a single character or position."""
        key = operation, repr(argument), flags
        if key not in self._singles:
            state = _parser.State()
            state.flags = flags
            item = _parser.SubPattern(state, [(operation, argument)])
            self._singles[key] = _compiler.compile(item, flags)
        return self._singles[key]


def matcher(pattern: str) -> Callable[[str], bool | None]:
    """Return the function that matches a whole text; for a pattern that cannot, it returns None."""
    try:
        return LinearMatcher(pattern).fullmatch
    except (NotLinearError, RecursionError):
        return lambda _text: None
