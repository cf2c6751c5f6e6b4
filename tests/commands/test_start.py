"""What each command imports: nothing that it does not use, so that it starts fast."""

import shutil
import subprocess

import duckdb
import pytest
from support import EXAMPLES, ROOT, child, import_into, new_store

import evalstore

COMMANDS = [name for name, _, _ in evalstore._COMMANDS]
HEAVY = {
    *("altair", "duckdb", "great_expectations", "httpx", "jinja2", "litellm", "mcp", "numpy"),
    *("pandas", "PIL", "polars", "pyarrow", "pydantic", "rich", "scipy", "vl_convert", "yaml"),
}
READS = {"duckdb", "rich"}  # rich: tables of text that is not ASCII
WRITES = {"duckdb", "numpy", "pyarrow"}
DRAWS = {"duckdb", "altair", "vl_convert", "jinja2", "rich"}
CHECKS = {"altair", "duckdb", "great_expectations", "jinja2", "numpy", "pandas"} | {
    *("pyarrow", "pydantic", "rich", "scipy", "yaml")
}
POSTERS = "--run 20260405-090000-first-try --to OUT"
DROP = "--candidate example/aurora-2 --baseline example/kaamos-mini --max-drop 0.02"

# Arguments, the most modules that it may load (about a tenth more than it does), and which of the
# heavy libraries.
LIMITS = (
    ("--help", 120, set()),
    ("import EXAMPLES", 600, WRITES | {"yaml"}),
    ("init OUT", 160, set()),
    (
        "run palindrome --model example/aurora-2 --provider replay",
        720,
        WRITES | {"httpx", "rich", "yaml"},
    ),
    ("judge --help", 175, set()),
    ("rescore --as-of 2026-05-01", 450, {"duckdb", "numpy", "rich"}),
    ("models", 500, {"duckdb", "httpx", "rich", "yaml"}),
    ("runs", 285, READS),
    ("tag 2026-03-04/models/example-usva-3.yaml", 300, READS),
    ("tag 2026-03-04/models/example-usva-3.yaml a=b", 480, WRITES),
    ("version palindrome 2026-03-04/models/example-usva-3.yaml", 480, WRITES),
    ("show leaderboard", 285, READS),
    ("show results --format csv", 280, {"duckdb"}),
    ("sql FROM+leaderboard", 285, READS),
    ("sql SELECT+1 --format html", 310, {"duckdb", "jinja2"}),
    ("grep palindromi", 300, READS),
    ("judges --format csv", 290, READS),
    ("rank --help", 160, set()),
    ("horizon --help", 160, set()),
    ("items palindrome", 980, {*READS, "numpy", "scipy"}),
    ("abilities --help", 160, set()),
    ("subset --help", 160, set()),
    ("history example/aurora-2", 345, READS),
    ("compare example/aurora-2 example/kaamos-mini", 830, {*READS, "numpy", "scipy"}),
    ("plan example/aurora-2 --difference 0.05", 390, {"duckdb", "numpy", "scipy"}),
    (f"gate {DROP}", 440, {"duckdb", "numpy", "scipy", "yaml"}),
    ("plot leaderboard --to OUT.svg", 640, DRAWS | {"numpy"}),
    ("check", 2_700, CHECKS),
    ("export palindrome --to OUT", 310, {"duckdb", "yaml"}),
    ("export openclaw --to OUT", 280, {"duckdb"}),
    (f"export posters {POSTERS}", 540, DRAWS),
    ("report --to OUT", 1_118, DRAWS | {"numpy", "scipy"}),
    ("label export palindrome --sample 2 --to OUT.csv", 480, WRITES),
    ("annotate list", 345, READS),
    (f"publish posters --label x --allow-silver {POSTERS}", 540, DRAWS),
    ("view --help", 175, set()),
    ("mcp", 750, {"duckdb", "mcp", "pydantic", "httpx"}),
    ("info", 270, {"duckdb"}),
    ("sync", 430, {"duckdb", "numpy"}),
    ("compact", 275, {"duckdb"}),
    ("forget 20260405-090000-first-try --yes", 1_000, WRITES | {"scipy"}),
)
LOADED = """
import sys
import evalstore
try:
    evalstore.main(sys.argv[1:])
except SystemExit as end:
    code = end.code
else:
    code = 0
print(code, *sys.modules, file=sys.stderr)
"""
# An inconclusive gate, records that no log can hold, a plan for few tasks.
OTHER_ENDS = {"gate": "3", "export palindrome": "1", "plan": "2"}

_COLLECTIONS = """
import atexit, gc
before = gc.get_threshold()
import evalstore
# Called by `main`, as by what commands import.
evalstore.share_allocator = lambda: atexit.register(
    lambda: print(gc.get_freeze_count() == 0, gc.get_threshold() == before)
)
evalstore.main()
"""


@pytest.fixture(scope="module")
def _samples(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("samples") / "store")
    import_into(
        store, *(ROOT / "examples" / name for name in ("palindrome", "openclaw", "posters"))
    )
    store.sync()
    return store


@pytest.fixture
def samples(_samples, tmp_path):
    """Return the path of a new store with the samples of three suites, synced."""
    return shutil.copytree(_samples.path, tmp_path / "samples")


def loaded(*arguments):
    """Return the exit code of a command and the names of the modules it loaded."""
    ended = child("-c", LOADED, *arguments, stdin=subprocess.DEVNULL)
    code, *modules = ended.err.splitlines()[-1].split()
    return code, set(modules)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "limit", "libraries"), LIMITS, ids=[row[0] for row in LIMITS]
)
def test_a_command_imports_only_what_it_uses(samples, tmp_path, arguments, limit, libraries):
    words = [
        word.replace("OUT", str(tmp_path / "out")).replace("EXAMPLES", str(EXAMPLES))
        for word in arguments.split()
    ]
    code, modules = loaded("--store", samples, *(word.replace("+", " ") for word in words))
    expected = [end for name, end in OTHER_ENDS.items() if arguments.startswith(name)]
    assert code in (expected or ["0", "None"])
    banned = HEAVY - libraries
    if duckdb.__version__ < "2":
        banned -= {"pandas", "numpy"}  # which DuckDB imports itself when a function is registered
    assert not banned & {name.partition(".")[0] for name in modules}
    assert len(modules) <= limit


def test_every_command_has_a_limit():
    assert {row[0].split()[0] for row in LIMITS} == {"--help", *COMMANDS}


@pytest.mark.slow
def test_an_import_of_new_logs_does_without_duckdb(tmp_path):
    """It is only needed to compare a log with what the lake has of its run."""
    code, modules = loaded("--store", tmp_path / "store", "import", EXAMPLES)
    assert code in {"0", "None"}
    assert "duckdb" not in modules


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_imports_no_library(command):
    code, modules = loaded(command, "--help")
    assert code in {"0", "None"}
    assert not HEAVY & {name.partition(".")[0] for name in modules}
    assert len(modules) <= 215


def test_the_help_does_without_pathlib():
    """Its import takes a tenth of the time of an empty click program."""
    code, modules = loaded("--help")
    assert code in {"0", "None"}
    assert not {"pathlib", "urllib", "dataclasses", "json"} & modules
    assert len(modules) <= 120


def test_opening_a_store_in_a_notebook_imports_little():
    ended = child("-c", "import sys, evalstore; print(*sys.modules)")
    assert not HEAVY & set(ended.out.split())


@pytest.mark.parametrize(("name", "is_program"), [("evalstore", True), ("notebook", False)])
def test_only_a_program_looks_for_cycles_less_often(name, is_program):
    """Called from someone else's code, it must not change how their objects are collected."""
    ended = child("-c", f"import sys; sys.argv = ['{name}', '--help']\n{_COLLECTIONS}")
    assert ended.out.split()[-2:] == [str(not is_program)] * 2


_EXIT = """
import atexit, sys, threading, time
class Kept:
    def __del__(self):
        print("freed")
kept = Kept()
kept.itself = kept
import evalstore
evalstore.share_allocator = lambda: atexit.register(lambda: print("exit function"))
threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
evalstore.main()
"""


@pytest.mark.parametrize(("name", "words"), [("evalstore", []), ("notebook", ["freed"])])
def test_a_program_ends_without_freeing_its_objects(name, words):
    """That takes time, and threads of libraries can abort it; threads of Python are waited for."""
    ended = child("-c", f"import sys; sys.argv = ['{name}', 'no-such-command']\n{_EXIT}")
    assert ended.code == 2
    assert ended.out.splitlines() == ["thread", "exit function", *words]


def test_output_that_cannot_be_written_at_the_exit_is_an_error():
    start = "import sys; sys.stdout = open('/dev/full', 'w'); sys.argv = ['evalstore', 'no-such']"
    ended = child("-c", f"{start}\n{_EXIT}")
    assert (ended.code, "No space left" in ended.err) == (120, True)
