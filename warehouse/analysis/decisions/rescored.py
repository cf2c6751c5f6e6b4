"""The scorer of a comparison by a re-score: `NAME`, its latest version, or `NAME@VERSION`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    import duckdb

# The latest version of each scorer first; suites may have used different ones.
_VERSIONS = """
SELECT scorer, version
FROM lake.rescores
WHERE $suite IS NULL OR suite = $suite
GROUP BY scorer, version
ORDER BY scorer, max(rescored_at) DESC, version DESC
"""


class Rescorer(NamedTuple):
    """A version of a scorer that has judged stored answers.

    Attributes:
        name: its name.
        version: its version.
    """

    name: str
    version: str

    @property
    def text(self) -> str:
        """The scorer as it is written on the command line."""
        return f"{self.name}@{self.version}"


def find_rescorer(
    connection: duckdb.DuckDBPyConnection, text: str, *, suite: str | None = None
) -> Rescorer:
    """Return the scorer that a text names; without a version, the last one used.

    Args:
        connection: an open warehouse.
        text: `NAME` or `NAME@VERSION`; of a version, the beginning is enough.
        suite: the only suite that counts, if given.

    Raises:
        BadInput: no answer was judged by it, or several versions begin like this.
    """
    rows = connection.execute(_VERSIONS, {"suite": suite}).fetchall()
    name, _, version = text.partition("@")
    of_name = [Rescorer(*row) for row in rows if row[0] == name]
    if not of_name:
        known = list(dict.fromkeys(name for name, _ in rows))
        otherwise = f"they are: {', '.join(known)}" if known else "`evalstore rescore` adds one"
        hint = did_you_mean(name, known, otherwise)
        raise BadInput(f"--scorer: no re-score by a scorer {name!r}; {hint}")
    found = [scorer for scorer in of_name if scorer.version.startswith(version)]
    if not found or (version and len(found) > 1):
        versions = ", ".join(scorer.version for scorer in of_name)
        problem = "several versions begin with" if found else "has no version"
        raise BadInput(f"--scorer: {name!r}: {problem} {version!r}; its versions are: {versions}")
    return found[0]
