"""Campaigns notice what they look for: here the product is broken on purpose."""

import os
import random
import re
import shutil
from random import Random

import pytest
from support import SECRET

from runners.providers.ollama_openai import PROVIDER
from tests.campaigns import at_once, corruptions
from warehouse.engine.tables import sync
from warehouse.lake.lake import Lake

pytestmark = pytest.mark.slow


def swap(path, _choice):
    """Replace a file of the lake by that of another batch, and remove the warehouse."""
    others = sorted(path.parents[1].glob(f"*/{path.name}"))
    shutil.copyfile(next(other for other in others if other != path), path)
    (path.parents[2] / "warehouse.duckdb").unlink()


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """Return a campaign whose only damage is that of the results of one batch."""
    monkeypatch.setattr(corruptions, "_WAYS", {"swapped": swap})
    monkeypatch.setattr(corruptions, "_COMMANDS_EACH", 0)
    campaign = corruptions.Campaign(tmp_path, Random(1))
    campaign._files = [path for path in campaign._files if path.name == "results.parquet"][:1]
    return campaign


@pytest.mark.campaign
def test_damage_that_is_reported_is_no_bug(campaign, capsys):
    campaign.strike()
    assert campaign.n_bugs == 0, capsys.readouterr().out


def test_damage_that_a_verification_misses_is_a_bug(campaign, monkeypatch, capsys):
    monkeypatch.setattr(Lake, "verify", lambda _lake, _batch: None)
    campaign.strike()
    assert campaign.n_bugs > 0
    assert "the damage was not found" in capsys.readouterr().out


def test_rows_that_are_missing_without_a_word_are_a_bug(campaign, monkeypatch, capsys):
    readable = sync._readable

    def silent(*arguments, **options):
        batches, _, columns = readable(*arguments, **options)
        return batches, [], columns

    monkeypatch.setattr(sync, "_readable", silent)
    campaign.strike()
    assert "other rows, without a word" in capsys.readouterr().out


def test_a_traceback_is_a_bug(campaign, monkeypatch, capsys):
    def broken(_lake, _batch):
        raise KeyError("sha256")

    monkeypatch.setattr(Lake, "verify", broken)
    campaign.strike()
    assert "KeyError: 'sha256'" in capsys.readouterr().out


# --- all commands at once


def run_round(folder):
    """Run a round of three forgets, two resumes, a run and an import."""
    at_once.Round(folder, random.Random(15), 7).run()


@pytest.fixture
def after(monkeypatch):
    """Return a function that replaces what the commands of a round do, but not its preparation."""
    main, original = os.getpid(), at_once.command

    def replace(name, change):
        def changed(store, *arguments):
            if os.getpid() == main or arguments[0] != name:
                return original(store, *arguments)
            return change(store, *arguments)

        monkeypatch.setattr(at_once, "command", changed)
        return original

    return replace


@pytest.mark.campaign
def test_a_round_without_a_fault(tmp_path):
    run_round(tmp_path)


def nothing(store, *_arguments):
    """Say that all went well."""
    return at_once.command(store, "--version")


@pytest.mark.campaign
def test_an_import_that_is_lost_is_noticed(tmp_path, after):
    after("import", nothing)
    with pytest.raises(AssertionError, match=r"^lost: "):
        run_round(tmp_path)


def test_a_run_that_is_not_forgotten_is_noticed(tmp_path, after):
    after("forget", nothing)
    with pytest.raises(AssertionError, match=r"^there again: "):
        run_round(tmp_path)


@pytest.mark.campaign
def test_a_text_that_is_not_forgotten_is_noticed(tmp_path, after):
    def leave_a_copy(store, *arguments):
        (store / "staging").mkdir(exist_ok=True)
        (store / "staging" / f"{arguments[1]}.txt").write_text(f"{SECRET} {arguments[1]}")
        return original(store, *arguments)

    original = after("forget", leave_a_copy)
    with pytest.raises(AssertionError, match="has a forgotten text"):
        run_round(tmp_path)


@pytest.mark.campaign
def test_a_command_that_fails_is_noticed(tmp_path, after):
    after("run", lambda store, *_arguments: at_once.command(store, "import", "lacking"))
    with pytest.raises(AssertionError, match=re.escape("exit 2")):
        run_round(tmp_path)


def test_a_damaged_store_is_noticed(tmp_path, after):
    def damage(store, *arguments):
        ended = original(store, *arguments)
        for path in sorted(store.glob("lake/*/runs.parquet")):
            path.write_bytes(path.read_bytes() + b"x")
        return ended

    original = after("forget", damage)
    with pytest.raises(AssertionError):
        run_round(tmp_path)


def test_a_call_that_is_made_twice_is_noticed(tmp_path, monkeypatch):
    original = type(PROVIDER).call if not isinstance(PROVIDER, type) else PROVIDER.call
    provider = PROVIDER if isinstance(PROVIDER, type) else type(PROVIDER)

    async def twice(self, request, /):
        await original(self, request)
        return await original(self, request)

    monkeypatch.setattr(provider, "call", twice)
    with pytest.raises(AssertionError, match=r"^asked twice: "):
        run_round(tmp_path)
