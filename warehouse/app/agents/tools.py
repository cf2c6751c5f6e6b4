"""The tools that an agent can call; they read the store and can change nothing.

A tool is a function of the desk and its arguments. It returns what becomes one JSON document, in
which control and invisible characters are escaped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warehouse.app.agents import comparisons, queries, samples, views
from warehouse.app.agents.parameters import Parameter, checked_arguments
from warehouse.app.opening import open_store
from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean
from warehouse.core.text.formatting import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from warehouse.app.store import Store
    from warehouse.core.types import Row

_MAX_ANSWER = 1_000_000  # characters


@dataclass(frozen=True, slots=True)
class Desk:
    """What the calls of tools share.

    Attributes:
        store: the store.
        max_seconds: time limit of a query.
        is_expendable: whether this process may be ended with a query that cannot be stopped.
        warnings: warnings about the store since the last answer.
    """

    store: Store
    max_seconds: float
    is_expendable: bool = False
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Attributes:
        name: its name.
        description: what it does, for the agent.
        parameters: its parameters.
        call: the function.
    """

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    call: Callable[..., Row]


TOOLS = (
    Tool(
        "list_views",
        "List the views of the store, each with its purpose and what a row is.",
        (),
        views.list_views,
    ),
    Tool(
        "describe_view",
        "Describe a view: its columns with types, units and meanings.",
        views.PARAMETERS,
        views.describe_view,
    ),
    Tool(
        "run_query",
        "Run a SELECT statement over the views (DuckDB's SQL) and return its first rows.",
        queries.PARAMETERS,
        queries.run_query,
    ),
    Tool(
        "show_sample",
        "Show a result: prompt, answer, reference, verdict, scores and conversation. If several "
        "results match, list them.",
        samples.PARAMETERS,
        samples.show_sample,
    ),
    Tool(
        "compare_models",
        "Compare two models, runs or settings on the tasks that both were asked: difference, 95 % "
        "interval, p-value, and whether the data show which is better.",
        comparisons.PARAMETERS,
        comparisons.compare_models,
    ),
)


def open_desk(path: Path, *, max_seconds: float, is_expendable: bool = False) -> Desk:
    """Return a desk for a store; warnings go into the next answer, not to a screen."""
    warnings: list[str] = []
    store = open_store(path, on_warning=warnings.append)
    return Desk(store, max_seconds, is_expendable, warnings)


def call_tool(desk: Desk, name: str, arguments: Mapping[str, object]) -> str:
    """Call a tool and return its answer as JSON.

    Raises:
        BadInput: there is no such tool, an argument is wrong, or the answer would be too long.
        EvalstoreError: the store cannot be read.
    """
    tool = _tool(name)
    answer: dict[str, object] = {**tool.call(desk, **checked_arguments(tool.parameters, arguments))}
    if desk.warnings:
        answer["warnings"] = list(dict.fromkeys(desk.warnings))
        desk.warnings.clear()
    text = as_json(answer)
    if len(text) > _MAX_ANSWER:
        raise BadInput(
            f"the answer has {len(text):,} characters, more than {_MAX_ANSWER:,}; ask for fewer "
            "rows or columns, or use a smaller max_characters"
        )
    return text


def _tool(name: str) -> Tool:
    known = {tool.name: tool for tool in TOOLS}
    if name not in known:
        names = f"the tools are: {', '.join(known)}"
        raise BadInput(f"there is no tool {name!r}; {did_you_mean(name, known, names)}")
    return known[name]
