"""Shell completion of what can be run: suites and the models of model files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    import click


def complete_suite_to_run(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the suites whose names begin as typed; else, files."""
    from runners.suites.registry import SUITES

    names = [CompletionItem(name) for name in SUITES if name.startswith(incomplete)]
    return names or [CompletionItem(incomplete, type="file")]


def complete_model_to_run(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[str]:
    """Return the models of model files whose names begin as typed, and `ALL`."""
    from runners.models.model_files import read_model_files
    from warehouse.core.errors import EvalstoreError

    try:
        names = {file.model.name for file in read_model_files().values()} - {""}
    except (EvalstoreError, OSError):
        names = set()
    # A terminal would obey control characters in a name.
    offered = (*sorted(filter(str.isprintable, names)), "ALL")
    return [name for name in offered if name.startswith(incomplete)]
