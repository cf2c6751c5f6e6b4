"""Records that are nested too deeply: quarantined one by one, in every format."""

import json
import sqlite3

import pytest
from helm_cases import NAME, entry, request
from helm_cases import write_run as write_helm
from inspect_cases import header, members, sample, write_json, write_zip
from lm_eval_cases import TIME, generated, results
from lm_eval_cases import sample as lm_eval_sample
from openclaw_cases import RECORD
from support import command, import_into

from warehouse.core.formats.values import MAX_DEPTH, TOO_DEEP

LEVELS = (MAX_DEPTH + 1, 255, 520, 1000, 5000)
# A field of each record; the texts stand in for nested values while a document is written.
FIELDS = ({}, *({"deep": f"DEEP {n}"} for n in range(len(LEVELS))), {})
N = len(FIELDS)


def nested(n_levels):
    """Return JSON of so many levels, of lists and objects by turns."""
    n_pairs = n_levels // 2
    inner = "[]" if n_levels % 2 else "1"
    return '{"a":[' * n_pairs + inner + "]}" * n_pairs


def with_values(text, values):
    for n, value in enumerate(values):
        text = text.replace(f'"DEEP {n}"', value)
    return text


def lines_of(documents):
    return "".join(f"{json.dumps(each)}\n" for each in documents)


def write(path, text, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(with_values(text, values))


def openai_evals(folder, values):
    spec = {"completion_fns": ["m"], "base_eval": "e", "split": "dev", "run_id": "r"}
    events = [
        {"event_id": n, "sample_id": f"e.dev.{n}", "type": "match", "data": {"correct": True, **of}}
        for n, of in enumerate(FIELDS)
    ]
    write(folder / "evals.jsonl", lines_of([{"spec": spec}, *events]), values)


def eee(folder, values):
    shared = {"evaluation_id": "e/m/1", "model_id": "m", "evaluation_name": "quiz"}
    shared |= {"input": {"raw": "?"}, "evaluation": {"score": 1.0}}
    samples = [{**shared, "sample_id": str(n), "metadata": of} for n, of in enumerate(FIELDS)]
    write(folder / "samples.jsonl", lines_of(samples), values)


def bfcl(folder, values):
    calls = [{"id": f"simple_{n}", "result": "a", "log": of} for n, of in enumerate(FIELDS)]
    write(folder / "result" / "m" / "BFCL_v4_simple_result.json", lines_of(calls), values)


def promptfoo_rows():
    shared = {
        "promptIdx": 0,
        "prompt": {"raw": "Q", "label": "ask"},
        "provider": {"id": "p:m"},
        "response": {"output": "A"},
        "success": True,
        "score": 1,
    }
    return [
        {**shared, "id": f"r{n}", "testIdx": n, "testCase": {"vars": {"q": n}}, "metadata": of}
        for n, of in enumerate(FIELDS)
    ]


def promptfoo(folder, values):
    found = {"version": 3, "prompts": [], "results": promptfoo_rows()}
    document = {"evalId": "e", "results": found, "config": {}}
    write(folder / "promptfoo.json", json.dumps(document), values)


def promptfoo_lines(folder, values):
    write(folder / "promptfoo.jsonl", lines_of(promptfoo_rows()), values)


def promptfoo_database(folder, values):
    folder.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(folder / "promptfoo.db")
    connection.execute("CREATE TABLE evals (id, created_at, config, prompts)")
    connection.execute("INSERT INTO evals VALUES ('e2', 1795311773858, '{}', '[]')")
    connection.execute("CREATE TABLE eval_results (id, eval_id, test_idx, response, metadata)")
    for n, each in enumerate(promptfoo_rows()):
        texts = [with_values(json.dumps(each[key]), values) for key in ("response", "metadata")]
        row = (f"r{n}", "e2", n, *texts)
        connection.execute("INSERT INTO eval_results VALUES (?, ?, ?, ?, ?)", row)
    connection.commit()
    connection.close()


def inspect_samples():
    return [sample(n, metadata=of) for n, of in enumerate(FIELDS)]


def inspect_json(folder, values):
    folder.mkdir(parents=True, exist_ok=True)
    path = write_json(folder / "log.json", header(ids=list(range(N))), inspect_samples())
    write(path, path.read_text(), values)


def inspect_eval(folder, values):
    folder.mkdir(parents=True, exist_ok=True)
    named = members(header(ids=list(range(N))), inspect_samples())
    changed = [(name, with_values(data.decode(), values).encode()) for name, data in named]
    write_zip(folder / "log.eval", changed)


def lm_eval(folder, values, make=lm_eval_sample, form=lines_of):
    samples = [{**made, "doc": {**made["doc"], **of}} for made, of in _made(make)]
    scores = {"capitals": [float(n % 2) for n in range(N)]}
    write(folder / f"results_{TIME}.json", json.dumps(results(scores)), ())
    write(folder / f"samples_capitals_{TIME}.jsonl", form(samples), values)


def _made(make):
    return [(make(n), of) for n, of in enumerate(FIELDS)]


def lm_eval_generated(folder, values):
    lm_eval(folder, values, generated)


def lm_eval_list(folder, values):
    lm_eval(folder, values, form=json.dumps)


def helm(folder, values):
    requests = [{**request(n), **of} for n, of in enumerate(FIELDS)]
    path = write_helm(folder / NAME, n=N, requests=requests, entries=[entry(0)])
    write(path / "scenario_state.json", (path / "scenario_state.json").read_text(), values)


def helm_scores(folder, values):
    entries = [{**entry(n), **of} for n, of in enumerate(FIELDS)]
    path = write_helm(folder / NAME, n=N, entries=entries)
    write(path / "per_instance_stats.json", json.dumps(entries), values)


def openclaw(folder, values):
    records = [{**RECORD, "prompt_id": f"P{n}", "parsed_output": of} for n, of in enumerate(FIELDS)]
    write(folder / "results.jsonl", lines_of(records), values)


def table_lines(folder, values, form=lines_of, suffix=".jsonl"):
    rows = [{"id": n, "model": "m", "score": 1, "x": of} for n, of in enumerate(FIELDS)]
    write(folder / f"table{suffix}", form(rows), values)


def table_list(folder, values):
    table_lines(folder, values, json.dumps, ".json")


OF_LOGS = {
    make.__name__: make
    for make in (
        *(openai_evals, eee, bfcl, promptfoo, promptfoo_lines, promptfoo_database, openclaw),
        *(inspect_json, inspect_eval, lm_eval, lm_eval_generated, lm_eval_list),
        *(helm, helm_scores),
    )
}


@pytest.mark.slow
@pytest.mark.parametrize("make", OF_LOGS.values(), ids=OF_LOGS)
def test_a_record_nested_too_deeply_is_quarantined_and_the_rest_goes_in(store, tmp_path, make):
    make(tmp_path / "in", [nested(n_levels) for n_levels in LEVELS])
    summary = import_into(store, tmp_path / "in")
    # Without its scores, a request of HELM still is a result.
    n_of_each = 2 if make is lm_eval_generated else 1
    assert summary.n_results == (N if make is helm_scores else 2 * n_of_each)
    with store.reading() as connection:
        rows = connection.execute("SELECT reason FROM lake.quarantine").fetchall()
    assert [TOO_DEEP in reason for (reason,) in rows] == [True] * len(LEVELS)


@pytest.mark.parametrize("make", OF_LOGS.values(), ids=OF_LOGS)
def test_a_record_nested_as_deeply_as_allowed_goes_in(store, tmp_path, make):
    # The value is itself some levels deep in its record.
    make(tmp_path / "in", [nested(MAX_DEPTH - 8)] * len(LEVELS))
    summary = import_into(store, tmp_path / "in")
    n_of_each = 2 if make is lm_eval_generated else 1
    assert (summary.n_results, summary.n_quarantined) == (N * n_of_each, 0)


@pytest.mark.slow
@pytest.mark.parametrize("make", [table_lines, table_list])
def test_a_row_of_a_table_nested_too_deeply_is_quarantined(store, tmp_path, make):
    make(tmp_path, [nested(n_levels) for n_levels in LEVELS])
    [path] = tmp_path.glob("table.*")
    done = command(store.path, "import", path, "--yes")
    assert (done.lines["results"], done.lines["quarantined"]) == ("2 new", str(len(LEVELS)))
    assert f"{path}:2: quarantined: {TOO_DEEP}" in done.err
