"""A store with only some of its runs has the same figures as one that never had the others."""

from datetime import date

import pytest
from support import EXAMPLES, ROOT, command, digests, import_into, new_store

from warehouse.app.filtered_warehouse import excerpt
from warehouse.core.errors import BadInput

# Of no run, so that they remain; and poster_runs says when a run entered its store.
REMAIN = ("main.files", "main.models", "main.tasks", "main.quarantine", "main.poster_runs")


def without_absent(one, other):
    views = one.keys() & other.keys()
    return {view: one[view] for view in views}, {view: other[view] for view in views}


@pytest.mark.campaign
def test_runs_until_a_day_are_a_store_of_that_day(examples, tmp_path):
    day = date(2025, 9, 9)
    then = new_store(tmp_path / "then")
    logs = sorted((EXAMPLES / "benchmark_logs").glob("*.yaml"))
    import_into(then, *[log for log in logs if log.name[:10] <= f"{day}"])
    with excerpt(examples, until=day) as chosen:
        ours, theirs = without_absent(
            digests(chosen, without=REMAIN), digests(then, without=REMAIN)
        )
        assert ours == theirs
        assert len(ours) > 40
        [(n,)] = chosen.sql("SELECT count(*) FROM leaderboard").fetchall()
    assert n > 0
    later = f"SELECT count(*) FROM runs WHERE run_date > DATE '{day}'"
    [(n_all,)] = examples.sql(later).fetchall()
    assert n_all > 0  # the store itself has them still


@pytest.mark.campaign
@pytest.mark.parametrize("suite", ["palindrome", "openclaw", "posters"])
def test_runs_of_a_suite_are_a_store_of_that_suite(tmp_path, suite):
    everything, only = new_store(tmp_path / "everything"), new_store(tmp_path / "only")
    for family in ("palindrome", "openclaw", "posters"):
        import_into(everything, ROOT / "examples" / family)
    import_into(only, ROOT / "examples" / suite)
    with excerpt(everything, suite=suite) as chosen:
        ours, theirs = without_absent(
            digests(chosen, without=REMAIN), digests(only, without=REMAIN)
        )
    assert ours == theirs


def test_without_a_choice_it_is_the_store_itself(store):
    with excerpt(store) as chosen:
        assert chosen is store


@pytest.mark.slow
def test_what_is_not_there_is_named(examples):
    for options, message in (
        ({"suite": "palindrom"}, "no suite 'palindrom'; .*palindrome"),
        ({"model": "example/aurora-3"}, "no model 'example/aurora-3'; .*example/aurora-2"),
        ({"until": date(1999, 1, 1)}, "1999-01-01 or before"),
        ({"model": "example/aurora-2", "run": "2026-03-03/models/esimerkki-routa-7b.yaml"}, "fits"),
    ):
        with pytest.raises(BadInput, match=message), excerpt(examples, **options):
            pass


@pytest.mark.campaign
def test_site_of_a_model_has_its_runs_only(examples, tmp_path):
    to = tmp_path / "site"
    model = "example/kaamos-mini"
    ended = command(examples.path, "report", "--to", to, "--model", model, "--samples", "none")
    assert ended.code == 0
    text = (to / "models" / "index.html").read_text("utf-8")
    assert model in text
    assert "example/aurora-2" not in text
    assert command(examples.path, "report", "--to", to, "--model", "no").code == 2


@pytest.mark.slow
def test_the_systems_of_other_suites_are_left_out(tmp_path):
    store = new_store(tmp_path / "store")
    for suite in ("kept", "other"):
        with store.record(suite=suite, model=f"{suite} model") as run:
            run.log(task_id="t", output=f"x {suite}", passed=True)
    with excerpt(store, suite="kept") as chosen:
        assert chosen.sql("SELECT suite, system FROM systems").fetchall() == [
            ("kept", "kept model")
        ]


@pytest.mark.slow
def test_records_of_people_stay_with_their_suite(tmp_path):
    store = new_store(tmp_path / "store")
    import_into(store, EXAMPLES, ROOT / "examples" / "posters")
    rated = "SELECT suite, rater, value, label FROM ratings ORDER BY ALL"
    with excerpt(store, suite="palindrome") as chosen:
        assert chosen.sql("SELECT count(*) FROM annotations").fetchall() == [(0,)]
        assert chosen.sql(rated).fetchall() == []
        assert chosen.sql("SELECT count(*) FROM annotator_agreement").fetchall() == [(0,)]
    everything = store.sql(rated).fetchall()
    assert len(everything) > 10
    with excerpt(store, suite="posters") as chosen:
        assert chosen.sql(rated).fetchall() == everything
