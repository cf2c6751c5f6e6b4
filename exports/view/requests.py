"""What a request of a page's script says, checked."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

import orjson
from starlette.responses import JSONResponse
from starlette.routing import Route

from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

_Value = TypeVar("_Value")
_MAX_TEXT = 10_000  # characters
_NAMES = {str: "a text", bool: "true or false", list: "a list", dict: "an object"}


async def read_fields(request: Request, names: set[str]) -> dict[str, object]:
    """Return the fields of a JSON object that a page sent.

    Raises:
        BadInput: it is not JSON, or lacks a field, or has another one.
    """
    try:
        document = orjson.loads(await request.body())
    except orjson.JSONDecodeError as error:
        raise BadInput("the request is not JSON") from error
    if not isinstance(document, dict):
        raise BadInput("the request is not a JSON object")
    if odd := sorted(document.keys() ^ names):
        raise BadInput(f"the request lacks these fields, or should not have them: {odd}")
    return document


def value_of(fields: dict[str, object], name: str, kind: type[_Value]) -> _Value:
    """Return the value of a field.

    Raises:
        BadInput: it is of another type.
    """
    value = fields[name]
    if not isinstance(value, kind):
        raise BadInput(f"{name}: not {_NAMES.get(kind, kind.__name__)}")
    return value


def text_of(fields: dict[str, object], name: str) -> str:
    """Return the text of a field, without white space around it.

    Raises:
        BadInput: it is no text, empty, or too long, or has a NUL.
    """
    text = value_of(fields, name, str).strip()
    if not text or len(text) > _MAX_TEXT or "\0" in text:
        raise BadInput(f"{name}: give a text of at most {_MAX_TEXT:,} characters, without NUL")
    return text


def post_route(path: str, names: set[str], write: Callable[[dict[str, object]], object]) -> Route:
    """Return a route that answers a page's script.

    Args:
        path: its path.
        names: the fields that the script sends.
        write: returns the answer to them, as JSON; it runs in a thread.
    """

    async def answer(request: Request) -> Response:
        fields = await read_fields(request, names)
        return JSONResponse(await asyncio.to_thread(write, fields))

    return Route(path, answer, methods=["POST"])
