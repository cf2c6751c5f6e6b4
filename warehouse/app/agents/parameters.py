"""Parameters of tools: their JSON Schema for the client, and the check of what a client sends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_MAX_TEXT = 1_000_000  # characters


@dataclass(frozen=True, slots=True)
class Text:
    """A text.

    Attributes:
        name: its name.
        meaning: what it means, for the agent.
        is_required: whether a call without it is an error; else it is None by default.
    """

    name: str
    meaning: str
    is_required: bool = False

    @property
    def schema(self) -> dict[str, object]:
        """Its JSON Schema."""
        return {"type": "string", "description": self.meaning, "maxLength": _MAX_TEXT}

    @property
    def default(self) -> None:
        """Its value in a call without it."""
        return

    def checked(self, value: object) -> str:
        """Return the value of a call.

        Raises:
            BadInput: it is of another type, too long, or not Unicode.
        """
        if not isinstance(value, str):
            raise BadInput(f"{self.name}: {_shown(value)} is not a text")
        if len(value) > _MAX_TEXT:
            raise BadInput(f"{self.name}: longer than {_MAX_TEXT:,} characters")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise BadInput(f"{self.name}: not Unicode text (a lone surrogate)") from error
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A whole number of a range.

    Attributes:
        name: its name.
        meaning: what it means, for the agent.
        default: its value in a call without it.
        low: smallest value.
        high: largest value.
    """

    name: str
    meaning: str
    default: int | None
    low: int
    high: int
    is_required: bool = False

    @property
    def schema(self) -> dict[str, object]:
        """Its JSON Schema."""
        limits = {"minimum": self.low, "maximum": self.high}
        default = {} if self.default is None else {"default": self.default}
        return {"type": "integer", "description": self.meaning, **limits, **default}

    def checked(self, value: object) -> int:
        """Return the value of a call.

        Raises:
            BadInput: it is not a whole number of the range.
        """
        if isinstance(value, int) and not isinstance(value, bool) and value in self._range:
            return value
        limits = f"from {self.low:,} to {self.high:,}"
        raise BadInput(f"{self.name}: {_shown(value)} is not a whole number {limits}")

    @property
    def _range(self) -> range:
        return range(self.low, self.high + 1)


@dataclass(frozen=True, slots=True)
class Values:
    """Values of the parameters of a query, by name.

    Attributes:
        name: its name.
        meaning: what it means, for the agent.
    """

    name: str
    meaning: str
    is_required: bool = False

    @property
    def schema(self) -> dict[str, object]:
        """Its JSON Schema."""
        kinds = ["string", "number", "boolean", "null"]
        values = {"type": kinds}
        return {"type": "object", "description": self.meaning, "additionalProperties": values}

    @property
    def default(self) -> dict[str, object]:
        """Its value in a call without it."""
        return {}

    def checked(self, value: object) -> dict[str, object]:
        """Return the value of a call.

        Raises:
            BadInput: it is not an object, or has a value that is a list or an object.
        """
        if not isinstance(value, dict):
            raise BadInput(f"{self.name}: {_shown(value)} is not an object of names and values")
        for name, bound in value.items():
            if not isinstance(bound, str | int | float | None):
                raise BadInput(
                    f"{self.name}.{name}: {_shown(bound)} is not a text, number, boolean or null"
                )
        return value


Parameter = Text | Number | Values


def object_schema(parameters: Iterable[Parameter]) -> dict[str, object]:
    """Return the JSON Schema of the arguments of a call."""
    parameters = tuple(parameters)
    return {
        "type": "object",
        "properties": {parameter.name: parameter.schema for parameter in parameters},
        "required": [parameter.name for parameter in parameters if parameter.is_required],
        "additionalProperties": False,
    }


def checked_arguments(
    parameters: Iterable[Parameter], arguments: Mapping[str, object]
) -> dict[str, object]:
    """Return the value of each parameter in a call; null is the same as an argument left out.

    Raises:
        BadInput: an argument is missing, unknown, or has a wrong value.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in arguments.keys() - known.keys():
        names = f"the parameters are: {', '.join(known) or 'none'}"
        raise BadInput(f"unknown parameter {name!r}; {did_you_mean(name, known, names)}")
    values: dict[str, object] = {}
    for name, parameter in known.items():
        value = arguments.get(name)
        if value is None and parameter.is_required:
            raise BadInput(f"{name} is missing: {parameter.meaning}")
        values[name] = parameter.default if value is None else parameter.checked(value)
    return values


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}…"  # noqa: PLR2004 - fits in a message
