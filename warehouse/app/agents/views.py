"""The views of the store for agents: their list, and their columns with types and meanings."""

from typing import Annotated

from pydantic import Field

from warehouse.app.agents.parameters import Text
from warehouse.app.agents.session import AgentSession
from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean
from warehouse.engine.views.dictionary import meaning
from warehouse.engine.views.sql_files import shown_views

_COLUMNS = """
SELECT column_name, data_type
FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name = $schema AND table_name = $name
ORDER BY column_index
"""


def list_views(_session: AgentSession) -> dict[str, object]:
    """Return every view with its purpose and what a row is."""
    views = [
        {
            "view": name,
            "group": "/".join(filter(None, (file.folder, file.family))),
            "purpose": file.purpose,
            "grain": file.grain,
        }
        for name, file in sorted(shown_views().items(), key=_facts_first)
    ]
    return {"views": views}


def describe_view(
    session: AgentSession,
    *,
    view: Annotated[
        Text, Field(description="name of a view as list_views has it, such as leaderboard")
    ],
) -> dict[str, object]:
    """Return a view's purpose, what a row is, and its columns with types and meanings.

    Raises:
        BadInput: there is no such view; the message names the similar ones.
    """
    views = shown_views()
    if view not in views:
        hint = did_you_mean(view, views, "list_views has them all")
        raise BadInput(f"there is no view {view!r}; {hint}")
    file = views[view]
    place = {"schema": file.schema, "name": file.name}
    columns = session.store.sql(_COLUMNS, place).fetchall()
    return {
        "view": view,
        "purpose": file.purpose,
        "grain": file.grain,
        "first_columns": file.answer,
        "columns": [
            {"name": name, "type": kind, "meaning": meaning(name, file)} for name, kind in columns
        ],
    }


def _facts_first(view: tuple[str, object]) -> tuple[bool, ...]:
    file = shown_views()[view[0]]
    return (file.family != "facts", file.family != "shared", file.folder == "checks")
