"""Where each page is: names of files that are safe everywhere, readable, and the same each time.

A name depends only on what the page is about, never on what else the store has, so that links can
be shared and stay valid when the site is written again.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256
from urllib.parse import quote

OVERVIEW = "index.html"
MODELS = "models/index.html"
RUNS = "runs/index.html"
SAMPLES = "samples/index.html"
COMPARISONS = "compare/index.html"
TASKS = "tasks/index.html"
TRIALS = "trials/index.html"
POSTERS = "posters/index.html"
OPENCLAW = "openclaw.html"
PALINDROME = "palindrome.html"
JUDGES = "judges.html"
AUDIT = "audit.html"

_LONGEST = 60  # characters of the readable part
_HASH = 10  # hexadecimal digits
_PLAIN = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*")
_HASHED = re.compile(rf"-[0-9a-f]{{{_HASH}}}$")
# Names that Windows keeps for devices, and those of our own pages.
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d|index)(?:\..*)?")


def suite_page(suite: str) -> str:
    """Return the path of the page of a suite."""
    return f"suites/{slug(suite)}.html"


def chart_files(suite: str, chart: str) -> tuple[str, str]:
    """Return the paths of the pictures of a suite's chart: for wide pages and for phones."""
    start = f"suites/{slug(suite)}/{chart}"
    return f"{start}.svg", f"{start}-narrow.svg"


def items_page(suite: str) -> str:
    """Return the path of the page of a suite's items."""
    return f"items/{slug(suite)}.html"


def judges_files(suite: str) -> tuple[str, str]:
    """Return the paths of the pictures of a suite's judges: for wide pages and for phones."""
    start = f"judges/{slug(suite)}"
    return f"{start}.svg", f"{start}-narrow.svg"


def list_page(first: str, number: int) -> str:
    """Return the path of a page of a long list, counted from 1; `first` is that of the first."""
    return first if number == 1 else f"{first.removesuffix('index.html')}more/{number}.html"


def model_page(model: str | None) -> str:
    """Return the path of the page of a model, by its name; NULL is the unknown model."""
    return f"models/{slug(model)}.html"


def run_page(suite: str, run_id: str) -> str:
    """Return the path of the page of a run."""
    return f"runs/{slug(suite, run_id)}.html"


def samples_page(suite: str, run_id: str) -> str:
    """Return the path of the page of a run's samples."""
    return f"samples/{slug(suite, run_id)}/index.html"


def task_page(suite: str, task_set: str, task_id: str) -> str:
    """Return the path of the page of a task."""
    return f"tasks/{slug(suite, task_set, task_id)}.html"


def trial_page(suite: str, run_id: str, result_id: str) -> str:
    """Return the path of the page of a trial."""
    return f"trials/{slug(suite, run_id, result_id)}.html"


def parting_page(suite: str, run_id: str, result_id: str) -> str:
    """Return the path of the page that puts a failed trial next to a solved one."""
    return f"partings/{slug(suite, run_id, result_id)}.html"


def compare_page(suite: str, task_set: str) -> str:
    """Return the path of the page of the comparisons on a task set."""
    return f"compare/{slug(suite, task_set)}.html"


def poster_page(run_id: str, task_id: str) -> str:
    """Return the path of the page of a poster in a run."""
    return f"posters/{slug(run_id, task_id)}.html"


def slug(*parts: str | None) -> str:
    """Return a name for a file or folder: ASCII, lower case, and different for different parts.

    Parts that are plain already are kept as they are. Others have a hash at the end, because
    file systems ignore case, some forms of Unicode, or cannot have such names.
    """
    if all(map(_is_plain, parts)):
        return "_".join(part for part in parts if part is not None)
    readable = "_".join(filter(None, (_readable(part or "") for part in parts)))
    digest = sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{readable[:_LONGEST].rstrip('-_.')}-{digest}".lstrip("-")


def relative(path: str, page: str) -> str:
    """Return the address of a path as a link on a page, both from the root of the site."""
    return "../" * page.count("/") + quote(path)


def _is_plain(part: str | None) -> bool:
    return (
        part is not None
        and len(part) <= _LONGEST
        and _PLAIN.fullmatch(part) is not None
        and _HASHED.search(part) is None
        and _RESERVED.fullmatch(part) is None
    )


def _readable(part: str) -> str:
    letters = unicodedata.normalize("NFKD", part[: 4 * _LONGEST]).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", letters.lower()).strip("-")


# For templates: `link(model_page(row.model))`.
PAGES = {
    "anchor": slug,
    "JUDGES": JUDGES,
    "RUNS": RUNS,
    "OVERVIEW": OVERVIEW,
    "TRIALS": TRIALS,
    "items_page": items_page,
    "list_page": list_page,
    "suite_page": suite_page,
    "model_page": model_page,
    "run_page": run_page,
    "samples_page": samples_page,
    "task_page": task_page,
}
