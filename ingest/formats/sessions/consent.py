"""Sessions hold people's files and keys: what the user has to say before they are imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput
from warehouse.core.text.formatting import visible

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.reading import ImportContext


@dataclass(frozen=True, slots=True)
class KeepSecrets:
    """An option of the import: sessions are stored with the secrets that are in them."""


def require_consent(path: Path, context: ImportContext) -> None:
    """Check that the user has said what happens to secrets.

    Raises:
        BadInput: neither `--redact` nor `--keep-secrets` was given.
    """
    if not context.options.redact and context.options.format_option(KeepSecrets) is None:
        raise BadInput(
            f"{visible(str(path))}: a session of a coding agent, which may hold people's files and"
            " keys: say --redact to mask what looks like a secret, or --keep-secrets; nothing was"
            " imported"
        )
