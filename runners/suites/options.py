"""Options of `evalstore run` that only some suites take. `Suite.options` names those of a suite."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

_Command = TypeVar("_Command", bound="Callable[..., object]")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)

_OPTIONS = (
    click.option(
        "--template",
        type=_FILE,
        help="Palindrome: file with the prompt template, instead of the task file's.",
    ),
    click.option("--urls", type=_FILE, help="Posters: list of image URLs, one per line."),
    click.option(
        "--images",
        type=_FOLDER,
        metavar="DIR",
        help="Posters: use local images DIR/<id>.jpg instead of downloading.",
    ),
    click.option("--include", type=_FILE, help="Posters: use only the posters in this list."),
    click.option(
        "--exclude", type=_FILE, help="Posters: do not score those in this list of IDs and reasons."
    ),
    click.option("--dataset", metavar="NAME", help="Posters: name of the dataset."),
    click.option(
        "--allow-private-urls",
        is_flag=True,
        help="Posters: also download from addresses of this machine and its networks.",
    ),
    click.option("--of", "of_run", metavar="RUN_ID", help="posters-judge: the run to judge."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOptions:
    """Values of the options; None where not given.

    Attributes:
        template: file with the prompt template; None for that of the task file.
        urls: list of image URLs.
        images: folder with images `<id>.<suffix>`; None to download them.
        include: list of the posters to use; None for all.
        exclude: list of the posters not to score, with reasons.
        dataset: name of the dataset; None for the name of the project folder.
        allow_private_urls: whether to download from addresses that are not public.
        of_run: the run to judge.
    """

    template: Path | None = None
    urls: Path | None = None
    images: Path | None = None
    include: Path | None = None
    exclude: Path | None = None
    dataset: str | None = None
    allow_private_urls: bool = False
    of_run: str | None = None


def suite_options(command: _Command) -> _Command:
    """Add the options to a command."""
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)
