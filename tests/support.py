"""Helpers for several test files: paths, generated logs, the command line, digests."""

import atexit
import ctypes
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

import duckdb
import pytest

import evalstore
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from warehouse.app.store import Store
from warehouse.core.errors import ExitCode
from warehouse.core.in_memory import open_in_memory
from warehouse.core.schemas import BY_NAME
from warehouse.engine.connection import log_file, open_for_writing
from warehouse.engine.tables import derivation
from warehouse.engine.tables.definitions import board_files
from warehouse.engine.tables.raters import judge_agreement
from warehouse.engine.tables.sync import load_and_derive
from warehouse.engine.views.sql_files import references, shipped_sql
from warehouse.lake.batch import Generation
from warehouse.lake.schema_check import fitness

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples" / "palindrome"
BROKEN_SAMPLE = "2026-03-03-esimerkki-routa-7b.yaml"  # lacks {prompt}: the export would exit with 1
DAMAGED = ROOT / "examples" / "damaged"
REFERENCE = ROOT.parent / "shared" / "data"
PALINDROME = REFERENCE / "palindrome"

NO_REFERENCE = f"no reference data in {REFERENCE}"
needs_reference = pytest.mark.skipif(not REFERENCE.is_dir(), reason=NO_REFERENCE)

# Columns about the origin of a row, not its content.
PROVENANCE = {
    "batch",  # a ULID, new in each import
    "path",  # as given to the import: relative, absolute, another folder
    "file_sha256",  # of two files with the same row, the first one imported
    "source_name",  # the same file's name
}


# Views of a family. In a store without its data they are empty, but take half the time.
_OF_FAMILY = {
    "palindrome": ("palindrome_",),
    "posters": (
        "poster_",
        "published_",
        "annotat",
        "mixed_labels",
        "unproven_gold",
        "invalid_gold",
    ),
    "openclaw": ("openclaw_", "tool_", "summary_"),
}
_known_digests = {}


def digests(store, schemas=("main", "checks"), without=(), provenance=PROVENANCE):
    """Return a hash of the rows of each view, independent of their order and origin.

    Views of families without data are left out. A warehouse that is byte-equal to an earlier one
    is not queried again.

    Args:
        store: a `Store`; it is brought up to date first.
        schemas: the schemas of the views.
        without: qualified names of views to leave out.
        provenance: columns to leave out.
    """
    if isinstance(store, QueriedStore):
        store.sync()
    with store.reading() as connection:
        files = (store.warehouse, log_file(store.warehouse))
        held = (file.read_bytes() for file in files if file.exists())
        content = hashlib.sha256(b"".join(held)).digest()
        key = content, *map(frozenset, (schemas, without, provenance))
        if key not in _known_digests:
            columns = _columns(connection, schemas)
            absent = tuple(_absent(connection))
            _known_digests[key] = {
                view: _digest(connection, view, [name for name in names if name not in provenance])
                for view, names in columns
                if view not in without and not view.partition(".")[2].startswith(absent)
            }
        return _known_digests[key]


def _columns(connection, schemas):
    found = connection.execute(
        """
        SELECT schema_name || '.' || view_name, list(column_name ORDER BY column_index)
        FROM duckdb_views() JOIN duckdb_columns()
            USING (database_name, schema_name)
        WHERE table_name = view_name AND NOT duckdb_views.internal
            AND schema_name IN (SELECT unnest(?))
        GROUP BY ALL ORDER BY ALL
        """,
        [list(schemas)],
    ).fetchall()
    assert found, "a warehouse without views"
    return found


def _absent(connection):
    tables = ("runs", "results", "tasks", "annotations", "judgements", "published", "artifacts")
    union = " UNION ".join(f"SELECT suite FROM lake.{table}" for table in tables)
    suites = {(suite or "").partition("-")[0] for (suite,) in connection.execute(union).fetchall()}
    return [start for family in _OF_FAMILY.keys() - suites for start in _OF_FAMILY[family]]


def _digest(connection, view, columns):
    rows = connection.execute(f"SELECT {', '.join(columns)} FROM {view}").fetchall()
    text = "\n".join(sorted(map(repr, rows)))
    return f"{len(rows)} rows {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def import_into(store, *paths, **options):
    """Import into a store without the command line, and return the summary."""
    return import_paths(store.lake, [Path(path) for path in paths], ImportOptions(**options))


@cache
def _blank():
    """Return the folder of a store with an empty warehouse, created once."""
    folder = tempfile.TemporaryDirectory(prefix="evalstore-tests-")
    atexit.register(folder.cleanup)
    store = Store(Path(folder.name) / "store", wait_seconds=0)
    store.sync()
    return store.path


def new_store(path, kind=Store, **options):
    """Return a store that does not wait for locks, so that a test fails where it is locked.

    A store without a warehouse gets an empty one: creating the views takes most of a first
    sync.

    Args:
        path: the store's folder.
        kind: its class.
        options: of `Store`.
    """
    store = kind(Path(path), wait_seconds=0, **options)
    if not store.warehouse.exists():
        log_file(store.warehouse).unlink(missing_ok=True)  # of a warehouse that a test removed
        shutil.copytree(_blank(), path, dirs_exist_ok=True)
    return store


# What sync computes of the facts of several runs, in `derivation`.
_AFTER_FACTS = (
    "update_boards",
    "update_judge_agreement",
    "update_corrected_means",
    "update_vote_scores",
)


@cache
def _names_on_boards():
    """Return the names of the tables that depend on several runs, and of all that reads them."""
    with open_in_memory() as connection:
        read = references(shipped_sql(), connection)
    names = {file.qualified for file in shipped_sql() if file.is_board}
    filled = {"pair_tests", "corrected_means", "vote_scores", *judge_agreement.TABLES}
    names |= {f"scores.{name}" for name in filled}
    while new := {name for name in read.keys() - names if read[name] & names}:
        names |= new
    return {name.rpartition(".")[2] for name in names}


class Uncommitted:
    """An empty warehouse, into which the batches of one lake at a time are loaded, uncommitted.

    That takes a third of the time of a sync and an open for each query: boards, half of a sync,
    are computed only for queries that read them.
    """

    def __init__(self, connection):
        self._connection = connection
        self._store_path, self._names, self._has_boards = None, set(), True

    def load(self, lake, query=""):
        """Load what a query of a lake needs (by default all), and return the connection."""
        batches = [lake.read(name) for name in sorted(lake.batch_names())]
        replaced = {name for batch in batches for name in batch.replaces}
        batches = [batch for batch in batches if batch.name not in replaced]
        needs_boards = not query or not _names_on_boards().isdisjoint(re.findall(r"\w+", query))
        if self._store_path != lake.store_path or self._names - {batch.name for batch in batches}:
            self.clear()
            self._connection.execute("BEGIN")
            self._store_path = lake.store_path
        new = [batch for batch in batches if batch.name not in self._names]
        if new:
            self._names |= {batch.name for batch in new}
            self._has_boards &= needs_boards
            self._derive(lake, new)
        if needs_boards and not self._has_boards:
            derivation.compute_boards(self._connection, board_files())
            self._has_boards = True
        return self._connection

    def _derive(self, lake, batches):
        checked = fitness(lake, batches, self._connection)
        assert not checked.misfits
        with ExitStack() as stack:
            for name in () if self._has_boards else _AFTER_FACTS:
                stack.enter_context(patch.object(derivation, name))
            load_and_derive(self._connection, lake, batches, checked.columns, emptied=set())

    def clear(self):
        """Forget all rows, as after an error."""
        with suppress(duckdb.TransactionException):  # none has begun
            self._connection.rollback()
        self._store_path, self._names, self._has_boards = None, set(), True


@cache
def uncommitted():
    """Return the `Uncommitted` that all tests share."""
    stack = ExitStack()
    atexit.register(stack.close)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evalstore-tests-")))
    store = new_store(folder / "store")
    connection = stack.enter_context(open_for_writing(store.warehouse, wait_seconds=0))
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    return Uncommitted(connection)


class _LoadedByQuery:
    """A connection that loads what each query of a lake needs, for callers that have many."""

    def __init__(self, lake):
        self._lake = lake

    def execute(self, query, *parameters):
        return uncommitted().load(self._lake, query).execute(query, *parameters)

    def __getattr__(self, name):
        return getattr(uncommitted().load(self._lake), name)


class QueriedStore(Store):
    """A store whose queries are run by `uncommitted`; its first sync ends that."""

    is_synced = False

    def sync(self, **options):
        self.is_synced = True
        return super().sync(**options)

    @contextmanager
    def reading(self, query=""):
        if self.is_synced:
            with super().reading(query) as connection:
                yield connection
            return
        self.recover_journals()
        try:
            yield uncommitted().load(self.lake, query) if query else _LoadedByQuery(self.lake)
        except Exception:
            uncommitted().clear()
            raise


def queried_store(path, **options):
    """Return a store for tests that only import and query, which need no warehouse of its own."""
    return new_store(path, QueriedStore, **options)


def kept_open(store):
    """Yield a store that stays open for reading, for a fixture of tests that only read it.

    To open a warehouse and close it takes longer than most queries. A sync that has something to
    do ends with `StoreBusy`.
    """
    with store.reading():
        yield store


def add_rows(lake, **tables):
    """Write rows of tables as one batch; those of `runs` say which generations it holds."""
    keys = ("suite", "run_id", "generation", "parent_generation")
    with lake.write("import") as writer:
        for name, rows in tables.items():
            writer.add(BY_NAME[name], rows)
        runs = [[row.get(key) for key in keys] for row in tables.get("runs", ())]
        writer.commit(generations=[Generation(*run) for run in runs])


# --- forgotten text

SECRET = "zyxwvu-forgotten-answer"


def traces(store, text):
    """Return where a store contains a text: in the bytes of files or the cells of Parquet files."""
    found = [p for p in store.path.rglob("*") if p.is_file() and text.encode() in p.read_bytes()]
    with duckdb.connect() as connection:
        for path in store.path.rglob("*.parquet"):
            rows = connection.read_parquet(str(path)).fetchall()
            found += [path] if text in str(rows) else []
    return found


# --- files


def files_in(folder):
    """Return the content of the files that a user sees."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {
        path.relative_to(folder): path.read_bytes()
        for path in paths
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


# --- generated logs and suites


def task(n=1, **fields):
    """Return a valid task of a log, different for each `n`."""
    record = {
        "timestamp": f"2026-04-01T10:{n // 60:02}:{n % 60:02}Z",
        "prompt": f"Tehtävä {n}",
        "answer": f"vastaus {n}",
        "is_correct": n % 2 == 0,
        "duration_seconds": n + 0.5,
        "metadata": {"input_tokens": n, "cost_usd": n / 1000, "cost_source": "litellm"},
    }
    return {**record, **fields}


def log(numbers=(1, 2), tasks=None, **fields):
    """Return a valid log of the tasks with these numbers, or of the given tasks."""
    header = {
        "date": "2026-04-01",
        "model": "models/kokeilu-1.yaml",
        "prompt_template": "Vastaa: {prompt}",
    }
    return {**header, **fields, "tasks": tasks if tasks is not None else [task(n) for n in numbers]}


def write_log(path, document=None, **fields):
    """Write a log as JSON, which is valid YAML, and return its path."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    document = log(**fields) if document is None else document
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1), "utf-8")
    return path


def suite(folder, n):
    tasks = [{"id": f"t{i}", "prompt": f"question {i}"} for i in range(n)]
    (folder / "mine.json").write_text(json.dumps({"suite": "mine", "tasks": tasks}))
    return folder / "mine.json"


# --- the command line


@dataclass
class CommandResult:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def lines(self):
        """The lines of a summary: their first words, each with the rest of its line."""
        return dict(line.split(None, 1) for line in self.out.splitlines() if " " in line)


class _Output(io.TextIOWrapper):
    """Standard output in memory, with the binary buffer that commands write rows to."""

    def __init__(self):
        super().__init__(io.BytesIO(), "utf-8", newline="", write_through=True)

    def text(self):
        return self.buffer.getvalue().decode()


def command(store, *arguments):
    """Run a command in this process, with arguments as a user types them."""
    out, err = _Output(), _Output()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            evalstore.main(["--store", str(store), *map(str, arguments)])
        except SystemExit as end:
            code = end.code or 0
    assert code != ExitCode.BUG, err.text()
    return CommandResult(code, out.text(), err.text())


_LIBC = ctypes.CDLL(None)
_DROP_FROM_BOUNDING_SET = 24
_PAST_PERMISSIONS = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def as_unprivileged():
    """Make a child process respect permissions, which root ignores (for `preexec_fn`)."""
    for capability in _PAST_PERMISSIONS if os.geteuid() == 0 else ():
        if _LIBC.prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0):
            raise OSError("root cannot give up its rights here")


def environment(**additions):
    """Return the environment in which a child process runs this folder's code."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("EVALSTORE")}
    ours = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "default", "EVALSTORE_DEBUG": "1"}
    return {**kept, **ours, **additions}


def child(*arguments, crashes=False, **options):
    """Run Python in another process, and return its exit code and output.

    Args:
        arguments: arguments of Python.
        crashes: whether an unexpected error is expected.
        options: of `subprocess.run`.
    """
    options = {"env": environment(), "cwd": ROOT, "timeout": 300, **options}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, check=False, **options
    )
    assert crashes or done.returncode != ExitCode.BUG, done.stderr.decode()
    return CommandResult(done.returncode, done.stdout.decode(), done.stderr.decode())


# Arguments of Python that run a command which waits for others, and for its last calls, however
# busy the machine is.
PATIENT = (
    "-c",
    """
import evalstore
from runners.engine import engine
from warehouse.app.store import Store
engine.GRACE_SECONDS = 300
Store.__init__.__kwdefaults__["wait_seconds"] = 300
evalstore.main()
""",
)


def shell(store, *arguments, **options):
    """Run a command in its own process."""
    return child("-m", "evalstore", "--store", store, *arguments, **options)
