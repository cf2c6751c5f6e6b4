"""Palindrome logs read without our code, from YAML and from the columns of the warehouse."""

import json
import re
from datetime import date

import duckdb
import yaml
from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from support import PALINDROME


def older_logs():
    """Return the older reference logs in groups that contain each run only once."""
    groups = []
    for path in sorted((PALINDROME / "older_logs").glob("*.yaml")):
        log = independent(path.read_text("utf-8"))
        run = (log["date"], log["model"])
        group = next((group for group in groups if run not in group), None)
        if group is None:
            groups.append(group := {})
        group[run] = path
    return [list(group.values()) for group in groups]


class _Plain(SafeConstructor):
    """A constructor that leaves dates as text, like the core schema of YAML 1.2."""


_Plain.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)
_Plain.add_constructor("tag:yaml.org,2002:merge", SafeConstructor.construct_yaml_str)


def independent(text):
    """Read a YAML document with pure-Python ruamel.yaml, which shares no code with ours."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _Plain
    return yaml.load(text)


def check_rules(folder):
    """Check every rule of the specification, in its order."""
    logs = sorted((folder / "benchmark_logs").glob("*"))
    for path in logs:
        text = path.read_text("utf-8")
        log = independent(text)
        assert log == yaml.safe_load(text), "YAML 1.1 and 1.2 readers differ"
        assert list(log) == ["date", "model", "prompt_template", "tasks"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", log["date"])
        assert date.fromisoformat(log["date"])
        model = re.fullmatch(r"models/([^/]+)-([1-9]\d*)\.yaml", log["model"])
        assert model
        assert (folder / log["model"]).is_file()
        name = re.escape(f"{log['date']}-{model[1]}")
        assert re.fullmatch(rf"{name}(-\d+)*\.yaml", path.name)
        assert "{prompt}" in log["prompt_template"]
        for record in log["tasks"]:
            assert list(record) == ["prompt", "answer", "is_correct", "duration_seconds"]
            types = [type(value) for value in record.values()]
            assert types == [str, str, bool, float]
    for path in (folder / "models").glob("*"):
        document = independent(path.read_text("utf-8"))
        mapped = document["name"].replace("/", "-")
        assert re.fullmatch(rf"{re.escape(mapped)}-[1-9]\d*\.yaml", path.name)
    return logs


# --- documents reconstructed from the warehouse's columns


def read_back(store):
    """Return the logs that runs were imported from, by run id, from columns only.

    A record that did not fit the columns is read from its text in `source`.
    """
    with store.reading() as connection:
        headers = _dicts(connection, "FROM runs")
        results = _dicts(connection, "FROM results ORDER BY run_id, seq")
    tasks = {header["run_id"]: [] for header in headers}
    for row in results:
        tasks[row["run_id"]].append(_task_of(row))
    return {row["run_id"]: _document_of(row, tasks[row["run_id"]]) for row in headers}


def _document_of(row, tasks):
    if row["source"] is not None:
        return {**independent(row["source"]), "tasks": tasks}
    document = {
        "date": row["recorded_date"],
        "model": row["model_path"],
        "prompt_template": row["prompt_template"],
        "tasks": tasks,
        **json.loads(row["extra"] or "{}"),
    }
    return {key: document[key] for key in json.loads(row["record_keys"])}


def _task_of(row):
    if row["source"] is not None:
        # The lines of a record include its dash in block style, its comma in a JSON list.
        source = independent(
            row["source"].strip().removesuffix(",")
            if "}" in row["source"].split("\n")[-2]
            else row["source"]
        )
        return source[0] if isinstance(source, list) else source
    extra = json.loads(row["extra"] or "{}")
    moment = row["started_at"]
    fields = {
        "timestamp": moment and moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "prompt": row["prompt"],
        "answer": row["answer"],
        "is_correct": row["is_correct"],
        "duration_seconds": row["duration_seconds"],
        "attempt": row["attempt"],
        **extra,
    }
    record = {}
    for key in json.loads(row["record_keys"]):
        if isinstance(key, list):  # a mapping, with its own keys
            name, inner = key
            columns = {**row, **extra.get(name, {})}
            record[name] = {inner_key: columns[inner_key] for inner_key in inner}
        else:
            record[key] = fields[key]
    return record


def _dicts(connection, query):
    rows = connection.execute(query)
    names = [column[0] for column in rows.description]
    return [dict(zip(names, row, strict=True)) for row in rows.fetchall()]


def remove_archive(store):
    """Remove the archived bytes, so that nothing can be read from them."""
    store.sync()
    with duckdb.connect(str(store.warehouse)) as connection:
        connection.execute("UPDATE lake.files SET content = NULL")
        connection.execute("UPDATE lake.quarantine SET raw = NULL")
