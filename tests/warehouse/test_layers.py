"""The imports of all packages: five layers in `warehouse`, and no cycles.

Imports in functions, and those for type checkers only, count like all others.
"""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from ingest.readers import FORMATS
from runners.suites.registry import SUITES as RUNNABLE
from tools.generate_docs import LAYERS, PACKAGES

ROOT = Path(__file__).parents[2]
SHIPPED = ("ingest", "runners", "exports", "warehouse")


def module_name(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {
    module_name(path): path for package in SHIPPED for path in (ROOT / package).rglob("*.py")
}


def imported_modules(path):
    """Return our modules that a file imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            names |= {name if name in MODULES else node.module for name in whole}
    return {name for name in names if name in MODULES}


@cache
def imports():
    """Return what each module imports of ours."""
    return {name: imported_modules(path) - {name} for name, path in MODULES.items()}


def layer(module):
    package, _, inner = module.partition(".")
    name = inner.partition(".")[0]
    return LAYERS.index(name) if package == "warehouse" and inner else None


def room(module):
    """Return the folder or the file, directly in a layer, that a module of `warehouse` is in."""
    return ".".join(module.split(".")[:3])


def test_imports_were_found():
    assert len(MODULES) > 400
    assert sum(map(len, imports().values())) > 2_000


def test_a_layer_imports_only_those_below_it():
    inner = [(name, found) for name, found in imports().items() if layer(name) is not None]
    upward = [(a, b) for a, found in inner for b in found if (layer(b) or 0) > layer(a)]
    assert upward == []


def test_no_files_import_each_other_in_a_cycle():
    TopologicalSorter(imports()).prepare()


def test_no_rooms_of_a_layer_import_each_other_in_a_cycle():
    rooms = {}
    for module, imported in imports().items():
        if layer(module) is not None:
            rooms.setdefault(room(module), set()).update(map(room, imported))
    TopologicalSorter({name: found - {name} for name, found in rooms.items()}).prepare()


def test_the_architecture_names_every_layer():
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    assert "warehouse" in PACKAGES
    places = [page.index(f"| `warehouse/{name}/` |") for name in LAYERS]
    assert places == sorted(places)


SUITES = {suite for tool in FORMATS for suite in tool.suites} | RUNNABLE.keys()
# Where a suite or an exporter is entered, or the package is named that wrote a log.
DOORS = {"exports/base.py", "exports/eee/aggregate.py", "runners/suites/registry.py"}


def named_suites(path):
    """Return the suites that a file's strings or its SQL name."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        strings = [n.value for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant)]
        whole = {text for text in strings if isinstance(text, str)}
        text = "\n".join(whole)
    else:
        whole, text = set(), re.sub(r"--.*", "", text)
    return {suite for suite in SUITES if suite in whole or f"'{suite}'" in text}


def test_a_suite_is_named_in_its_own_files_only():
    files = [*MODULES.values(), *(ROOT / "sql").rglob("*.sql"), *(ROOT / "sql").rglob("*.yaml")]
    outside, anywhere = [], set()
    for path in files:
        named = named_suites(path)
        anywhere |= named
        inner = str(path.relative_to(ROOT))
        own = inner.replace("poster_", "posters_")
        outside += [
            (inner, suite)
            for suite in named
            if suite.replace("-", "_") not in own and inner not in DOORS
        ]
    assert outside == []
    assert anywhere == SUITES


def test_no_function_is_longer_than_60_lines():
    # Trees of all files at a time would keep the garbage collector busy for seconds.
    long = [
        (str(path), node.name)
        for path in MODULES.values()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno >= 60
    ]
    assert long == []
