"""Parameters of tools: pydantic reads them from the signature of the tool's function."""

from __future__ import annotations

from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Annotated, TypeAlias, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warehouse.core.types import Row

_STRICT = ConfigDict(extra="forbid", strict=True)

Text: TypeAlias = Annotated[str, Field(max_length=1_000_000)]
Value: TypeAlias = str | int | float | bool | None


@cache
def arguments_of(function: Callable[..., Row]) -> type[BaseModel]:
    """Return the model of a tool's arguments: the parameters of its function after the session."""
    hints = get_type_hints(function, include_extras=True)
    _, *parameters = signature(function).parameters.values()
    fields = {
        each.name: (hints[each.name], ... if each.default is each.empty else each.default)
        for each in parameters
    }
    model: type[BaseModel] = create_model(function.__name__, __config__=_STRICT, **fields)  # type: ignore[call-overload]
    return model


def checked_arguments(
    function: Callable[..., Row], arguments: Mapping[str, object]
) -> dict[str, object]:
    """Return the value of each parameter in a call; null is the same as an argument left out.

    Raises:
        BadInput: an argument is missing, unknown, or has a wrong value.
    """
    model = arguments_of(function)
    known = list(model.model_fields)
    for name in arguments.keys() - known:
        names = f"the parameters are: {', '.join(known) or 'none'}"
        raise BadInput(f"unknown parameter {name!r}; {did_you_mean(name, known, names)}")
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        checked = model.model_validate(given)
    except ValidationError as error:
        problems = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise BadInput("; ".join(problems)) from error
    return {name: getattr(checked, name) for name in known}
