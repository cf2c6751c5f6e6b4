"""The tools that an agent can call; they read the store and can change nothing.

A tool is a function of the session and its arguments. It returns what becomes one JSON document, in
which control and invisible characters are escaped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.app.agents import comparisons, queries, samples, views
from warehouse.app.agents.parameters import checked_arguments
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
        call: the function; its name and parameters are those of the tool.
        description: what it does, for the agent.
    """

    call: Callable[..., Row]
    description: str

    @property
    def name(self) -> str:
        """The name by which an agent calls it."""
        return self.call.__name__


TOOLS = (
    Tool(views.list_views, "List the views of the store, each with its purpose and what a row is."),
    Tool(views.describe_view, "Describe a view: its columns with types, units and meanings."),
    Tool(
        queries.run_query,
        "Run a SELECT statement over the views (DuckDB's SQL) and return its first rows.",
    ),
    Tool(
        samples.show_sample,
        "Show a result: prompt, answer, reference, verdict, scores and conversation. If several "
        "results match, list them.",
    ),
    Tool(
        comparisons.compare_models,
        "Compare two models, runs or settings on the tasks that both were asked: difference, 95 % "
        "interval, p-value, and whether the data show which is better.",
    ),
)


def call_tool(session: AgentSession, name: str, arguments: Mapping[str, object]) -> str:
    """Call a tool and return its answer as JSON.

    Raises:
        BadInput: there is no such tool, an argument is wrong, or the answer would be too long.
        EvalstoreError: the store cannot be read.
    """
    call = _tool(name).call
    answer: dict[str, object] = {**call(session, **checked_arguments(call, arguments))}
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
