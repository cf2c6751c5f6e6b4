"""Mutants: which are made, which tests are run, and whether those that they notice are told."""

import shutil
import subprocess

import pytest
from support import ROOT

from tools import mutants
from tools.edits import python_edits, sql_edits
from tools.mutants import (
    area_tests,
    copy_checkout,
    nearest_tests,
    record_calls,
    sample_mutants,
    verdicts,
)

PYTHON = '''\
"""1 < 2 and not 3."""
from dataclasses import dataclass
if TYPE_CHECKING:
    N = 1
Key = int | None

@dataclass(frozen=True)
class Row:
    ids: list[int] = field(lambda: 1 + x)

def f(a: dict[1 < 2], *b, **c) -> 1 < 2:
    n += -0.5  # 1 + 1
    if g(n) and not (é) is not (  # 2 < 3
        d
    ): raise Bad(f"{n + 1} rows")
    return [x for x in y if x], zip(u, v, strict=True)
'''
SQL = """\
-- 1 < 2 AND 3
CREATE OR REPLACE MACRO f(a, b := 0.5) AS (
    SELECT * EXCLUDE x, count(*), t.*, a * 2, 'x = ''1''', "1 = 2", CAST(a AS DECIMAL(18, 3))
    FROM t WHERE a BETWEEN 1 AND b AND NOT c IS NOT NULL OR d->>'$[0]' IS NULL
)
"""


def replaced(source, edits):
    """Return what each edit replaces and by what, in the order of the source."""
    data = source.encode()
    return [(data[edit.start : edit.end].decode(), edit.new.decode()) for edit in sorted(edits)]


def test_python_is_changed_where_it_decides_or_computes():
    assert replaced(PYTHON, python_edits(PYTHON.encode())) == [
        ("1", "2"),
        ("+", "-"),
        ("+=", "-="),
        ("0.5", "0.25"),
        ("and", "or"),
        ("not", ""),
        ("is not", "is"),
        ("x", "(not (x))"),
    ]


def test_changed_python_is_valid():
    data = PYTHON.encode()
    for edit in python_edits(data):
        compile(data[: edit.start] + edit.new + data[edit.end :], "changed", "exec")


def test_sql_is_changed_where_it_decides_or_computes():
    assert replaced(SQL, sql_edits(SQL.encode())) == [
        ("0.5", "0.25"),
        ("*", "/"),
        ("2", "3"),
        ("1", "2"),
        ("AND", "OR"),
        ("NOT", ""),
        ("IS NOT", "IS"),
        ("OR", "AND"),
        ("IS", "IS NOT"),
    ]


@pytest.mark.parametrize(
    ("source", "new"),
    [
        ("a < b", "<="),
        ("a <= b", "<"),
        ("a == b", "!="),
        ("a in b", "not in"),
        ("a not  in b", "in"),
        ("a // b", "*"),
        ("a |= b", "&="),
        ("True", "False"),
        ("0.0", "1.0"),
        ("a if b.c else d", "(not (b.c))"),
    ],
)
def test_each_operator_has_another(source, new):
    assert [edit.new.decode() for edit in python_edits(source.encode())] == [new]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Return a repository with a module, a view, and tests that see half of the module."""
    monkeypatch.setattr(mutants, "AREAS", {"lib": ("unit",), "lib/sql": ("sql",)})
    files = {
        "lib/__init__.py": "",
        "lib/sizes.py": "def is_large(n):\n    return n > 9\n\n\ndef half(n):\n    return n / 2\n",
        "lib/sql/rows.sql": "SELECT 1 + 1\n",
        "tests/unit/test_a.py": "def test_nothing():\n    assert True\n",
        "tests/unit/test_sizes.py": (
            "from lib.sizes import half, is_large\n\n\ndef test_sizes():\n"
            "    assert half(4) == 2\n    assert is_large(11)\n    assert not is_large(9)\n"
        ),
        "tests/sql/test_a.py": "",
        "tests/sql/test_golden.py": "",
        "tests/sql/test_views.py": "VIEWS = ['rows']\n",
        "pytest.ini": "[pytest]\naddopts = --import-mode importlib\nmarkers =\n    slow: slow\n",
        ".gitignore": "*.log\n",
        "large.log": "",
    }
    for name, text in files.items():
        path = tmp_path / "given" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "given", check=True)
    return copy_checkout(tmp_path / "given", tmp_path)


def test_a_copy_has_what_git_does_not_ignore(checkout):
    names = {path.name for path in checkout.iterdir()}
    assert names == {"lib", "tests", "pytest.ini", ".gitignore"}


def test_the_same_seed_gives_the_same_mutants_of_the_chosen_files(checkout):
    def sample(n, seed, only=""):
        return sorted(map(str, sample_mutants(checkout, only=only, n=n, seed=seed)))

    assert sample(2, 1) == sample(2, 1)
    assert len({tuple(sample(2, seed)) for seed in range(9)}) > 1
    assert sample(99, 1, "lib/sizes") == [
        "lib/sizes.py:2  return n > 9 → return n > 10",
        "lib/sizes.py:2  return n > 9 → return n >= 9",
        "lib/sizes.py:6  return n / 2 → return n * 2",
        "lib/sizes.py:6  return n / 2 → return n / 3",
    ]
    [view, *_] = sample_mutants(checkout, only="lib/sql", n=1, seed=1)
    assert view.area == "lib/sql"


def test_tests_that_name_the_file_come_first(checkout):
    (checkout / "tests/unit/test_all_sizes.py").write_text("")
    named, other, importing = (f"tests/unit/test_{name}.py" for name in ("all_sizes", "a", "sizes"))
    assert area_tests(checkout, "lib", "lib/sizes.py") == [importing, named, other]
    assert area_tests(checkout, "lib", "lib/sizes/more.py") == [named, importing, other]
    assert area_tests(checkout, "lib", "lib/more.py") == [other, named, importing]
    assert area_tests(checkout, "lib/sql", "lib/sql/rows.sql") == [
        f"tests/sql/test_{name}.py" for name in ("golden", "views", "a")
    ]
    (checkout / "tests/sql/test_toys.py").write_text("")
    assert area_tests(checkout, "lib", "lib/toys/parts/log.py")[0] == "tests/sql/test_toys.py"


def test_of_python_the_tests_that_call_the_function_are_run(checkout):
    calls = {
        "tests/unit/test_a.py::test_nothing": ["lib/other.py:1:9"],
        "tests/unit/test_a.py::test_half": ["lib/sizes.py:5:6"],
        "tests/unit/test_sizes.py::test_sizes": ["lib/sizes.py:1:2", "lib/sizes.py:5:6"],
        "tests/unit/test_sizes.py::test_all": ["lib/sizes.py:1:6"],
    }
    half, is_large = "tests/unit/test_a.py::test_half", "tests/unit/test_sizes.py::test_sizes"
    by_line = {
        mutant.line: nearest_tests(checkout, mutant, calls)
        for mutant in sample_mutants(checkout, only="lib/sizes", n=99, seed=1)
    }
    assert by_line == {2: [is_large], 6: [is_large, half]}
    [mutant, *_] = sample_mutants(checkout, only="lib/sizes", n=1, seed=1)
    assert nearest_tests(checkout, mutant, {}) == area_tests(checkout, "lib", "lib/sizes.py")


def test_of_a_view_the_cases_of_all_that_read_it_are_run(checkout):
    (checkout / "warehouse").mkdir()
    (checkout / "warehouse/rows.py").write_text("def f():\n    return 'FROM rows'\n")
    for name, text in (("sums", "FROM totals"), ("totals", "FROM rows"), ("others", "FROM rows_2")):
        (checkout / f"sql/{name}.sql").parent.mkdir(exist_ok=True)
        (checkout / f"sql/{name}.sql").write_text(text)
    calls = {f"tests/sql/test_golden.py::test[c-{name}]": [] for name in ("others", "sums", "rows")}
    calls["tests/unit/test_a.py::test_f"] = ["warehouse/rows.py:1:2"]
    calls["tests/unit/test_a.py::test_g"] = ["warehouse/other.py:1:2"]
    [mutant] = sample_mutants(checkout, only="lib/sql", n=1, seed=1)
    assert nearest_tests(checkout, mutant, calls) == [
        "tests/sql/test_golden.py::test[c-rows]",
        "tests/sql/test_golden.py::test[c-sums]",
        "tests/sql/test_views.py",
        "tests/unit/test_a.py::test_f",
    ]


@pytest.mark.slow
def test_mutants_are_killed_by_the_tests_that_notice_them(checkout, tmp_path):
    plugin = checkout / "tools/calls.py"
    plugin.parent.mkdir()
    shutil.copy(ROOT / "tools/calls.py", plugin)
    (checkout / "tests/unit/test_a.py").write_text(
        """
import threading
import pytest
from lib.sizes import half, is_large

@pytest.fixture(scope="module")
def one():
    return half(2)

def test_first(one):
    assert one

def test_second(one):
    assert one

def test_thread():
    thread = threading.Thread(target=is_large, args=(1,))
    thread.start()
    thread.join()

def test_that_fails():
    assert half(1) == 1
"""
    )
    calls = record_calls(checkout, tmp_path / "calls.json")
    here = {test.split("::")[1]: functions for test, functions in calls.items()}
    called = {
        test: [function for function in functions if function.startswith("lib")]
        for test, functions in here.items()
    }
    half, is_large = "lib/sizes.py:5:6", "lib/sizes.py:1:2"
    assert called == {
        "test_first": [half],
        "test_second": [half],
        "test_thread": [is_large],
        "test_sizes": [is_large, half],
    }
    assert record_calls(tmp_path / "unread", tmp_path / "calls.json") == calls
    before = (checkout / "lib/sizes.py").read_bytes()
    made = sample_mutants(checkout, only="lib/sizes", n=99, seed=1)
    killed_by = {str(mutant): test for mutant, test in verdicts([checkout], made, calls)}
    test = "tests/unit/test_sizes.py::test_sizes"
    assert sorted(killed_by.items()) == [
        ("lib/sizes.py:2  return n > 9 → return n > 10", ""),
        ("lib/sizes.py:2  return n > 9 → return n >= 9", test),
        ("lib/sizes.py:6  return n / 2 → return n * 2", test),
        ("lib/sizes.py:6  return n / 2 → return n / 3", test),
    ]
    assert (checkout / "lib/sizes.py").read_bytes() == before
    more = "\n\n@pytest.mark.slow\ndef test_ten():\n    assert is_large(10)\n"
    sizes = checkout / "tests/unit/test_sizes.py"
    sizes.write_text(f"import pytest\n{sizes.read_text()}{more}")
    [survivor] = [mutant for mutant in made if not killed_by[str(mutant)]]
    assert [*verdicts([checkout], [survivor], calls)] == [
        (survivor, "tests/unit/test_sizes.py::test_ten")
    ]


@pytest.mark.slow
def test_what_does_not_end_is_killed(checkout):
    (checkout / "tests/unit/test_a.py").write_text("def test_a():\n    while True: pass\n")
    assert mutants.first_failure(checkout, ["tests/unit/test_a.py"], seconds=3)
