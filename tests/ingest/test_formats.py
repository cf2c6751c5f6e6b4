"""Every format recognises its own files and no others, and nothing of a damaged file is lost."""

import shutil
from importlib.util import find_spec

import pytest
from peers import PEERS
from preferences import PREFERENCES
from support import EXAMPLES, NO_REFERENCE, REFERENCE, digests, import_into, new_store
from trials import TRIALS

from exports.base import EXPORTERS
from ingest.discovery import find_files
from ingest.format import Format, Reader
from ingest.formats.sessions.consent import KeepSecrets
from ingest.readers import FALLBACK, FORMATS, READERS, TABLES, in_order
from ingest.reconciliation import FileOutcome

# The samples of each format, below the reference data of other tools or the examples.
SAMPLES = {
    "AlpacaEval": PREFERENCES / "alpaca_eval",
    "ATIF": TRIALS / "atif",
    "BFCL": PEERS / "bfcl",
    "coding-agent sessions": TRIALS / "sessions",
    "eval-arena": REFERENCE / "items" / "eval_arena",
    "every_eval_ever": PEERS / "eee",
    "Harbor": TRIALS / "harbor",
    "HELM": PEERS / "helm",
    "Inspect": PEERS / "inspect",
    "Inspect Scout": TRIALS / "inspect-agents" / "scout_s",
    "OpenTelemetry": TRIALS / "otel",
    "JudgeBench": PREFERENCES / "judgebench_pairs",
    "JUDGE-BENCH": PREFERENCES / "judge_bench",
    "LLMBar": PREFERENCES / "llmbar",
    "lm-evaluation-harness": PEERS / "lm-eval",
    "openai/evals": PEERS / "openai-evals",
    "OpenClaw": EXAMPLES.parent / "openclaw",
    "palindrome": EXAMPLES.parent / "palindrome",
    "PandaLM": PREFERENCES / "pandalm",
    "posters": EXAMPLES.parent / "posters",
    "promptfoo": PEERS / "promptfoo",
    "Terminal-Bench": TRIALS / "terminal-bench",
    "SWE-bench": TRIALS / "swe-bench",
    "tau-bench": TRIALS / "tau-bench",
    "MT-Bench": PREFERENCES / "mt_bench",
    "METR": REFERENCE / "items" / "metr",
    "WildBench": PREFERENCES / "wildbench",
    "ZeroEval": REFERENCE / "items" / "zeroeval",
}
# Options without which a format is not imported.
OPTIONS = {"coding-agent sessions": {"format_options": (KeepSecrets(),)}}
_FEW = 12
# Formats of single files that only tests of their own have samples of.
WITHOUT = {"labels", "settings", "tables"}
BY_NAME = {each.name: each for each in FORMATS}
OF_TOOL = {reader.format: each.name for each in FORMATS for reader in each.readers.values()}

by_tool = pytest.mark.parametrize("tool", sorted(SAMPLES))


@pytest.fixture
def samples(tool):
    if not SAMPLES[tool].is_dir():
        pytest.skip(NO_REFERENCE)
    return SAMPLES[tool]


def test_every_format_has_samples():
    assert BY_NAME.keys() == SAMPLES.keys() | WITHOUT


def test_each_reader_has_a_place_and_a_name_of_its_own():
    assert len(READERS) == len(OF_TOOL) == sum(len(each.readers) for each in FORMATS)
    assert READERS.index(FALLBACK) >= 0
    assert TABLES not in READERS
    reader = READERS[0]
    with pytest.raises(ValueError, match="two readers have place 7: 'openclaw run' and 'x'"):
        in_order([Format("a", {7: reader}), Format("b", {7: Reader("x", bool, reader.read)})])


def test_every_exporter_is_of_a_format_that_is_read():
    of_reports = {"ledger"}  # written with the reports of posters
    names = {name for name, _, _ in EXPORTERS} - of_reports
    assert all(find_spec(f"ingest.formats.{name}.recognition") for name in names)


@by_tool
def test_a_format_recognises_its_samples_and_no_others(tool, samples):
    found = find_files([samples])
    tools = {OF_TOOL[reader.format] for reader in found.readers.values()}
    assert tools - {"settings"} == {tool}


@by_tool
@pytest.mark.slow
def test_the_same_import_again_changes_nothing(tool, samples, tmp_path):
    check_the_same_import_again_changes_nothing(BY_NAME[tool], samples, tmp_path)


@pytest.mark.parametrize(
    "tool", sorted(tool for tool in SAMPLES if TRIALS in SAMPLES[tool].parents)
)
@pytest.mark.slow
def test_trials_may_be_imported_in_any_order(tool, samples, tmp_path):
    def content(name, *imports):
        store = new_store(tmp_path / name)
        for paths in imports:
            import_into(store, *paths, **OPTIONS.get(tool, {}))
        return digests(store, without=("main.files", "main.quarantine"))

    found = find_files([samples]).readers
    paths = sorted(found, key=lambda path: largest_file(path).stat().st_size)[:_FEW]
    expected = content("at once", paths)
    assert content("one by one", *([path] for path in reversed(paths))) == expected
    assert content("halves", paths[1::2], paths[::2], paths) == expected


@by_tool
@pytest.mark.slow
def test_what_is_damaged_is_reported(tool, samples, tmp_path):
    check_damage_is_reported(BY_NAME[tool], samples, tmp_path)


def check_the_same_import_again_changes_nothing(found, samples, folder):
    paths = smallest_of_each_reader(found, samples)
    store, options = new_store(folder / "store"), OPTIONS.get(found.name, {})
    assert import_into(store, *paths.values(), **options).outcomes[FileOutcome.IMPORTED] > 0
    before = digests(store)
    again = import_into(store, *paths.values(), **options)
    assert again.n_results == 0
    assert again.outcomes[FileOutcome.IMPORTED] == 0
    assert digests(store) == before


def check_damage_is_reported(found, samples, folder):
    """Import the smallest file of each kind with bytes in its middle that no format has."""
    options = OPTIONS.get(found.name, {})
    for name, source in smallest_of_each_reader(found, samples).items():
        if not imports(folder / "store" / name, source, **options):
            continue
        target = folder / name / "damaged" / source.name
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            target.parent.mkdir(parents=True)
            shutil.copyfile(source, target)
        largest = largest_file(target)
        data = largest.read_bytes()
        middle = len(data) // 2
        largest.write_bytes(data[:middle] + b"\xff\x00[{" + data[middle + middle // 2 :])
        summary = import_into(new_store(folder / name / "store"), target, **options)
        assert summary.n_quarantined + summary.n_violations > 0, (name, source)


def imports(store, path, **options):
    """Return whether a file is imported: not declined, and not part of another."""
    return import_into(new_store(store), path, **options).outcomes[FileOutcome.IMPORTED] > 0


def smallest_of_each_reader(found, samples):
    """Return the smallest sample that each reader of a format claims, by the reader's name."""
    smallest = {}
    readers = {reader.format for reader in found.readers.values()}
    for path, reader in find_files([samples]).readers.items():
        size = largest_file(path).stat().st_size
        if reader.format in readers and size < smallest.get(reader.format, (10**9,))[0]:
            smallest[reader.format] = size, path
    return {name: path for name, (_, path) in smallest.items()}


def largest_file(path):
    """Return the largest file of a file or folder that is no picture, which nothing reads."""
    files = [path] if path.is_file() else [file for file in path.rglob("*.*") if file.is_file()]
    return max(files, key=lambda file: (file.suffix != ".png") * file.stat().st_size)
