"""The sides of a comparison: as written, and the calls that they name."""

from datetime import date

import pytest
from support import import_into, kept_open, new_store, write_log

from warehouse.analysis.decisions.sides import Calls, parse_side, resolve_sides
from warehouse.core.errors import BadInput


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sides")
    for day in ("2026-04-01", "2026-04-03"):
        write_log(folder / "logs" / f"{day}-x.yaml", date=day, model="models/x-1.yaml")
    write_log(folder / "logs" / "2026-04-02-y.yaml", date="2026-04-02", model="models/y-1.yaml")
    store = new_store(folder / "store")
    import_into(store, folder / "logs")
    for model in ("two@2026-01-01", "mod/a", "mod/b"):
        with store.record(suite="mine", model=model, run_id=f"of-{model[:3]}") as run:
            run.log(task_id="t", passed=True)
    with store.record(suite="other", model="mod/a", run_id="of-mod") as run:
        run.log(task_id="t", passed=True)
    yield from kept_open(store)


def resolve(store, text, suite=None):
    with store.reading() as connection:
        return resolve_sides(connection, [text], suite=suite)[0].calls


def test_parts_of_a_side():
    assert parse_side("m/a").model == "m/a"
    dated = parse_side("m/a@2026-01-31")
    assert (dated.model, dated.until) == ("m/a", date(2026, 1, 31))
    assert parse_side("run:2026/x:1").run_id == "2026/x:1"
    of_run = parse_side("m@latest@run:r=1")
    assert (of_run.model, of_run.run_id) == ("m@latest", "r=1")
    assert parse_side("tag:release=v1=b").tag == ("release", "v1=b")


@pytest.mark.parametrize("text", ["", "run:", "@run:x", "tag:x", "tag:=1", "m@2026-02-30"])
def test_what_names_nothing_is_refused(text):
    with pytest.raises(BadInput):
        parse_side(text)


def test_a_model_has_its_runs_until_a_day(store):
    model = "models/x-1.yaml"
    days = ["2026-04-01/models/x-1.yaml", "2026-04-03/models/x-1.yaml"]
    assert [call.run_id for call in resolve(store, model)] == days
    assert [call.run_id for call in resolve(store, f"{model}@2026-04-02")] == days[:1]
    assert resolve(store, f"run:{days[1]}") == (Calls("palindrome", days[1], model),)
    with pytest.raises(BadInput, match="no run until then; its first run is of 2026-04-01"):
        resolve(store, f"{model}@2026-03-31")


def test_a_model_may_be_called_like_a_dated_one(store):
    assert resolve(store, "two@2026-01-01") == (Calls("mine", "of-two", "two@2026-01-01"),)


def test_a_run_of_several_models_needs_one_of_them(store):
    with pytest.raises(BadInput, match="several suites"):
        resolve(store, "run:of-mod")
    with pytest.raises(BadInput, match="2 models; name one of them, such as mod/a@run:of-mod"):
        resolve(store, "run:of-mod", suite="mine")
    assert resolve(store, "mod/b@run:of-mod") == (Calls("mine", "of-mod", "mod/b"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models/x-l.yaml", "did you mean 'models/x-1.yaml'"),
        ("run:of-mud", "did you mean 'of-mod'"),
        ("mod/c@run:of-mod", "run of-mod has no results of a model 'mod/c'"),
        ("tag:a=b", "the store has no tags"),
    ],
)
def test_unknown_names_have_hints(store, text, message):
    with pytest.raises(BadInput, match=message):
        resolve(store, text, suite="mine" if "of-" in text else None)
