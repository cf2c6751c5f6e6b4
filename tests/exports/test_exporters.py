"""Every exporter has the same shape, reads views only, and is described in its help."""

import re
import sys
from collections import Counter
from types import SimpleNamespace

import click
import pytest
from support import ROOT, command

from exports.base import EXPORTERS, PUBLISHERS, Exported, Exporter
from exports.command import export, publish
from warehouse.core.schemas import TABLES

ENTRIES = [("export", export, *entry) for entry in EXPORTERS]
ENTRIES += [("publish", publish, *entry) for entry in PUBLISHERS]


@pytest.mark.parametrize("path", sorted((ROOT / "exports").rglob("*.py")), ids=lambda p: p.name)
def test_exporters_read_views_only(path):
    tables = "|".join(table.name for table in TABLES)
    assert not re.findall(rf"\blake\.(?:{tables})\b", path.read_text("utf-8"))


@pytest.mark.parametrize(
    ("verb", "group", "name", "place", "summary"), ENTRIES, ids=[f"{e[0]}-{e[2]}" for e in ENTRIES]
)
def test_an_exporter_is_described(verb, group, name, place, summary):
    module, _, attribute = place.partition(":")
    assert (ROOT / f"{module.replace('.', '/')}.py").is_file()
    assert attribute in {"EXPORTER", "PUBLISHER"}
    assert summary.endswith(".")
    subcommand = group.get_command(click.Context(group), name)
    assert f"evalstore {verb} {name} " in subcommand.help
    assert all(option.help for option in subcommand.params)


def test_an_exporter_needs_one_line_in_the_table(monkeypatch, examples, tmp_path):
    """The command passes the options on, and prints what was written and what was left out."""

    def write(store, folder, *, run):
        notes = [f"{store.path.name} {run}"]
        omitted = Counter({("run 1", "too odd"): 2})
        return Exported(paths=[folder / "a.txt"], notes=notes, omitted=omitted)

    toy = Exporter(export=write, help="Export a toy.", options=(click.Option(["--run"]),))
    monkeypatch.setitem(sys.modules, "toy", SimpleNamespace(EXPORTER=toy))
    monkeypatch.setattr(export, "_table", (*EXPORTERS, ("toy", "toy:EXPORTER", "A toy.")))
    assert "  toy         A toy." in command(examples.path, "export", "--help").out
    ended = command(examples.path, "export", "toy", "--to", tmp_path, "--run", "r1")
    assert (ended.code, ended.out) == (1, f"{tmp_path / 'a.txt'}\n")
    assert ended.err.splitlines() == [
        f"{examples.path.name} r1",
        "run 1: 2 results not exported: too odd",
        "error: 2 results were left out, for the reasons above",
    ]
    assert command(examples.path, "export", "toy").code == 2  # `--to` is missing
