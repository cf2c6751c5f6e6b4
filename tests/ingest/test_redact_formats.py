"""No secret that an import masks is stored, in any format: not in rows, nor in copies of files."""

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from inspect_cases import header, write_json
from inspect_cases import sample as inspect_sample
from lm_eval_cases import TIME, generated, lines, results
from secret_cases import HARMLESS, cases
from support import command, queried_store

COLUMNS = ("run_id", "model", "task_id", "output", "passed", "note")


def fields(texts):
    return [("r", "m", f"t{n}", text, True, f"note {text}") for n, text in enumerate(texts)]


def delimited(folder, texts, ending):
    with (folder / f"log.{ending}").open("w", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if ending == "tsv" else ",")
        writer.writerows([COLUMNS, *fields(texts)])


def json_lines(folder, texts):
    rows = [json.dumps(dict(zip(COLUMNS, row, strict=True))) for row in fields(texts)]
    (folder / "log.jsonl").write_text("\n".join(rows))


def parquet(folder, texts):
    columns = dict(zip(COLUMNS, zip(*fields(texts), strict=True), strict=True))
    columns["labels"] = pa.array(texts).dictionary_encode()
    columns["nested"] = [[{"text": text}] for text in texts]
    pq.write_table(pa.table(columns), folder / "log.parquet")


def inspect(folder, texts):
    samples = []
    for n, text in enumerate(texts):
        reply = {"id": "m2", "role": "assistant", "content": text, "model": "mockllm/model"}
        output = {
            "model": "m",
            "choices": [{"message": reply, "stop_reason": "stop"}],
            "completion": text,
        }
        samples.append(inspect_sample(n, output=output, messages=[reply]))
    write_json(folder / "log.json", header(ids=list(range(len(texts)))), samples)


def promptfoo(folder, texts):
    rows = [
        {
            "id": f"r{n}",
            "promptIdx": 0,
            "testIdx": n,
            "prompt": {"raw": f"Q{n}?", "label": "ask"},
            "provider": {"id": "p:m", "label": ""},
            "testCase": {"vars": {"q": f"Q{n}"}, "assert": [{"type": "equals", "value": "A"}]},
            "vars": {"q": f"Q{n}"},
            "response": {"output": text},
            "gradingResult": {"pass": True, "score": 1, "reason": text, "componentResults": []},
            "success": True,
            "score": 1,
            "namedScores": {},
        }
        for n, text in enumerate(texts)
    ]
    body = {"version": 3, "timestamp": "2026-01-02T03:04:05Z", "prompts": [], "results": rows}
    log = {"evalId": "e", "results": body | {"stats": {}}, "config": {"description": "quiz"}}
    (folder / "results.json").write_text(json.dumps(log))


def lm_eval(folder, texts):
    (folder / f"results_{TIME}.json").write_text(json.dumps(results({"say": [1.0] * len(texts)})))
    samples = (generated(n, answers=(text,)) for n, text in enumerate(texts))
    (folder / f"samples_say_{TIME}.jsonl").write_text(lines(samples))


def alpaca_eval(folder, texts):
    names = {"output_1": None, "generator_1": "a", "generator_2": "b", "annotator": "j"}
    votes = [
        {
            "instruction": f"Q{n}",
            **names,
            "output_2": text,
            "preference": 1,
            "raw_completion": [text],
        }
        for n, text in enumerate(texts)
    ]
    (folder / "annotations.json").write_text(json.dumps(votes))


def mt_bench(folder, texts):
    names = {"model_a": "a", "model_b": "b", "winner": "tie", "judge": "expert_1", "turn": 1}
    votes = (
        {"question_id": n, **names, "conversation_a": [{"role": "assistant", "content": text}]}
        for n, text in enumerate(texts)
    )
    (folder / "votes.jsonl").write_text("\n".join(map(json.dumps, votes)))


WRITERS = {
    "alpaca_eval": alpaca_eval,
    "mt_bench": mt_bench,
    "csv": lambda folder, texts: delimited(folder, texts, "csv"),
    "tsv": lambda folder, texts: delimited(folder, texts, "tsv"),
    "jsonl": json_lines,
    "parquet": parquet,
    "inspect": inspect,
    "promptfoo": promptfoo,
    "lm_eval": lm_eval,
}


def imported(tmp_path, name, texts):
    """Return a store with a log of texts, and how the import ended."""
    folder = tmp_path / "logs"
    folder.mkdir()
    WRITERS[name](folder, texts)
    files = sorted(folder.iterdir())
    store = queried_store(tmp_path / "store")
    # Tables are imported by name only.
    ended = command(
        store.path, "import", files[0] if len(files) == 1 else folder, "--yes", "--redact"
    )
    return store, ended


def stored(store):
    """Return all values of the tables of a store, and kept copies of files, as one text."""
    tables = [pq.read_table(path) for path in sorted(store.path.rglob("*.parquet"))]
    values = [str(row) for table in tables for row in table.to_pylist()]
    return "\n".join(values)


def spellings(secret):
    """Return how the parts of a secret may be written: as text, in a repr, in JSON."""
    parts = [part for part in secret.split("\n") if "-----" not in part]
    return {core for part in parts for core in (part, json.dumps(part)[1:-1])}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_no_secret_is_stored(tmp_path, name):
    made = [case for seed in (21, 22, 23) for case in cases(seed).values()]
    texts = [f"no access with {case.text}" for case in made]
    store, ended = imported(tmp_path, name, texts)
    assert ended.code == 0, ended.out + ended.err
    text = stored(store) + ended.out + ended.err
    assert text.count("(redacted)") >= len(made)
    missed = [case for case in made if any(each in text for each in spellings(case.secret))]
    assert missed == []
    assert store.sql("SELECT count(*) FROM quarantine").fetchall() == [(0,)]
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(len(made),)]


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_harmless_texts_are_stored_as_they_are(tmp_path, name):
    store, ended = imported(tmp_path, name, list(HARMLESS.values()))
    assert ended.code == 0, ended.out + ended.err
    assert "(redacted)" not in stored(store)


@pytest.mark.slow
def test_adjacent_tokens_of_a_kept_copy_stay_two_fields(tmp_path):
    token = "fm2_" + "q8Zr3LxV7tN2mKf9" * 4
    (tmp_path / "log.csv").write_text(
        f"run_id,model,task_id,passed,output,note\nr,m,t,true,{token},{token}\n"
    )
    store = queried_store(tmp_path / "store")
    assert command(store.path, "import", tmp_path / "log.csv", "--yes", "--redact").code == 0
    [(copy,)] = store.sql("SELECT content FROM lake.files").fetchall()
    assert bytes(copy).decode().splitlines()[1] == "r,m,t,true,(redacted),(redacted)"


def test_names_of_nested_fields_tell_secrets(tmp_path):
    key = "q8Zr3LxV7tN2mKf9"
    nested = [{"password": f"{key}!", "kept": key, "n": None}]
    row = {"run_id": "r", "model": "m", "task_id": "t", "output": "x", "passed": True}
    pq.write_table(pa.Table.from_pylist([row | {"nested": nested}]), tmp_path / "log.parquet")
    store = queried_store(tmp_path / "store")
    assert command(store.path, "import", tmp_path / "log.parquet", "--yes", "--redact").code == 0
    text = stored(store)
    assert f"{key}!" not in text
    assert key in text
