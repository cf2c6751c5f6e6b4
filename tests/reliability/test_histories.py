"""Any history of a store: the order and kind of maintenance does not change its content.

Each change is made to two stores. One only grows, and is rebuilt at the end; the other is
compacted, synced, moved and rebuilt in between. All their views agree, and every check passes.
"""

import json
import shutil
import tempfile
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from openclaw_cases import event, line, write_run
from support import PROVENANCE, ROOT, command, digests, import_into, log, new_store, task, write_log

from runners.completed import find_completed
from warehouse.analysis.checking.shipped import all_loaded
from warehouse.engine.verification import verify
from warehouse.lake import compaction

POSTERS = ROOT / "examples" / "posters"
TASKS = [{"id": f"t{n}", "prompt": f"question {n}"} for n in range(4)]
NUMBERS = st.lists(st.integers(1, 6), min_size=1, max_size=5, unique=True).map(sorted)
PLAIN, WORKED = 0, 1


def contents(store):
    """Return digests of views; a poster run without a report has the time of its import."""
    return digests(store, provenance={*PROVENANCE, "generated_at"})


class Histories(RuleBasedStateMachine):
    """Two stores with the same content, one of which is also maintained."""

    def __init__(self):
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        self.stores = [new_store(self.folder / name) for name in ("plain", "worked")]
        self.n_moves = 0
        self.n_lines = 0

    @initialize()
    def a_suite(self):
        self.suite = self.folder / "mine.json"
        self.suite.write_text(json.dumps({"suite": "mine", "tasks": TASKS}))
        answers = [{"task": t["id"], "text": t["prompt"]} for t in TASKS[:3]]
        self.answers = self.folder / "answers.jsonl"
        self.answers.write_text("".join(json.dumps(answer) + "\n" for answer in answers))

    def teardown(self):
        try:
            self.both_are_the_same()
        finally:
            self._folder.cleanup()

    # --- changes of the content, made to both

    def import_into(self, *paths, **options):
        outcomes = [import_into(store, *paths, **options).outcomes for store in self.stores]
        assert outcomes[PLAIN] == outcomes[WORKED]

    @rule(
        numbers=NUMBERS,
        day=st.integers(1, 2),
        answer=st.sampled_from(["", " b"]),
        options=st.fixed_dictionaries(
            {
                "run_as": st.sampled_from([None, None, "other"]),
                "replace": st.booleans(),
                "restore": st.booleans(),
            }
        ),
    )
    def import_a_log(self, numbers, day, answer, options):
        tasks = [task(n, answer=f"vastaus {n}{answer}") for n in numbers]
        path = write_log(self.folder / "a.yaml", log(tasks=tasks, date=f"2026-04-0{day}"))
        self.import_into(path, **options)

    @rule(more=st.integers(0, 2), replace=st.booleans())
    def import_an_openclaw_run(self, more, replace):
        self.n_lines += more
        lines = [line(prompt_id=f"P{n}") for n in range(self.n_lines + 1)]
        write_run(self.folder / "r", *lines, event())
        self.import_into(self.folder / "r", replace=replace)

    @rule()
    def import_posters(self):
        self.import_into(POSTERS / "benchmark")

    @rule(limit=st.integers(1, 4))
    def run(self, limit):
        self._ask(
            "run", self.suite, "--model", "m", "--provider", "replay",
            "--answers", self.answers, "--limit", limit,
        )  # fmt: skip

    @precondition(lambda self: self.runs("mine"))
    @rule(retry_failed=st.booleans())
    def resume(self, retry_failed):
        more = ["--retry-failed"] if retry_failed else []
        run_id = self.runs("mine")[-1]
        done = [find_completed(store.lake, "mine", run_id) for store in self.stores]
        assert done[PLAIN].rows == done[WORKED].rows
        self._ask("run", "--resume", run_id, "--answers", self.answers, *more)

    def _ask(self, *arguments):
        # A run is named by the clock, so it is made once, in the store that is maintained.
        plain, worked = self.stores
        before = worked.lake.batch_names()
        assert command(worked.path, *arguments).code == 0
        plain.lake.path.mkdir(exist_ok=True)
        for name in worked.lake.batch_names() - before:
            shutil.copytree(worked.lake.path / name, plain.lake.path / name)

    @precondition(lambda self: self.runs())
    @rule(choice=st.randoms(use_true_random=False))
    def forget(self, choice):
        run_id = choice.choice(self.runs())
        for store in self.stores:
            assert command(store.path, "forget", run_id, "--yes").code == 0

    # --- maintenance, which does not change the content

    @rule()
    def compact(self):
        assert command(self.stores[WORKED].path, "compact").code == 0

    @rule(rebuild=st.booleans())
    def sync(self, rebuild):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compaction, "FAN", 3)
            report = self.stores[WORKED].sync(rebuild=rebuild)
        assert report.damaged == ()

    @rule()
    def lose_the_warehouse(self):
        self.stores[WORKED].warehouse.unlink(missing_ok=True)

    @rule()
    def move(self):
        self.n_moves += 1
        place = self.folder / f"moved {self.n_moves}"
        shutil.move(self.stores[WORKED].path, place)
        self.stores[WORKED] = new_store(place)

    # --- invariants

    def runs(self, suite=None):
        found = {
            generation.run
            for batch in self.stores[PLAIN].lake.current()
            for generation in batch.generations
        }
        return sorted(run_id for its_suite, run_id in found if suite in (None, its_suite))

    def both_are_the_same(self):
        plain, worked = self.stores
        grown = contents(worked)
        assert not worked.sql(all_loaded(worked).query).fetchall()
        found = verify(worked)
        assert found.is_sound
        assert (found.not_loaded, found.replaced, found.journals) == ((), (), ())
        assert contents(plain) == grown
        worked.sync(rebuild=True)
        assert contents(worked) == grown


@pytest.mark.slow
def test_any_history():
    bounds = settings(max_examples=2, stateful_step_count=12, deadline=None, derandomize=True)
    run_state_machine_as_test(Histories, settings=bounds)
