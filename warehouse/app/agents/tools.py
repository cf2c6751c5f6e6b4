"""The tools that an agent can call; they read the store and can change nothing.

A tool is a function of the session and its arguments. It returns what becomes one JSON document, in
which control and invisible characters are escaped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.app.agents import comparisons, queries, samples, views
from warehouse.app.agents.parameters import Parameter, checked_arguments
from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean
from warehouse.core.text.formatting import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warehouse.app.agents.session import AgentSession
    from warehouse.core.types import Row

_MAX_ANSWER = 1_000_000  # characters


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


def call_tool(session: AgentSession, name: str, arguments: Mapping[str, object]) -> str:
    """Call a tool and return its answer as JSON.

    Raises:
        BadInput: there is no such tool, an argument is wrong, or the answer would be too long.
        EvalstoreError: the store cannot be read.
    """
    tool = _tool(name)
    answer: dict[str, object] = {
        **tool.call(session, **checked_arguments(tool.parameters, arguments))
    }
    if session.warnings:
        answer["warnings"] = list(dict.fromkeys(session.warnings))
        session.warnings.clear()
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
