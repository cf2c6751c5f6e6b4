"""What `docs/gates.md` says about gates over many merges and nights, by a few simulations."""

import json
import subprocess
import sys

import numpy as np
import pytest
from support import ROOT

MERGES = {"tasks": "mixed", "margin": 0.02, "merges": 20, "simulations": 400}
# The benchmarks are programs of their own, which tests run and do not import.
PROGRAM = """
import importlib, json, sys
import numpy as np
module = importlib.import_module("bench.simulations.gates_over_time")
name, seed, fields = json.loads(sys.argv[1])
found = getattr(module, name)(np.random.default_rng(seed), **fields)
print(json.dumps(np.asarray(found).tolist()))
"""


def simulated(name, seed, **fields):
    words = [sys.executable, "-c", PROGRAM, json.dumps([name, seed, fields])]
    ended = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    return np.array(json.loads(ended.stdout))


def first_failures(seed, **fields):
    return simulated("first_failures", [7, seed], **{**MERGES, **fields})


@pytest.mark.slow
def test_an_anchor_stops_what_each_merge_hides():
    anchored = first_failures(1, n_tasks=200, loss=0.01, has_anchor=True)
    # 99 % and 8 merges in the docs; the error of 400 simulations is 0.5 points.
    assert (anchored <= 15).mean() >= 0.97
    assert 6 <= np.median(anchored) <= 8
    alone = first_failures(2, n_tasks=200, loss=0.01, has_anchor=False)
    assert (alone <= 15).mean() <= 0.45


@pytest.mark.slow
def test_an_anchor_raises_no_false_alarms():
    alarms = [
        (first_failures(3, n_tasks=200, loss=0.0, has_anchor=has_anchor) <= 20).mean()
        for has_anchor in (True, False)
    ]
    assert alarms[0] <= 0.14 + 3.3 * np.sqrt(0.14 * 0.86 / 400)
    assert alarms[0] <= alarms[1] + 0.03


@pytest.mark.slow
def test_more_runs_halve_the_months_with_a_false_alarm():
    fields = {"n_tasks": 200, "tasks": "mixed", "margin": 0.0, "simulations": 200}
    months = [
        simulated("failed_months", [8, confirm], confirm=confirm, **fields)[1] for confirm in (0, 1)
    ]
    # 37 and 16 % in the docs; the error of 200 simulations is 3 points.
    assert months[0] == pytest.approx(0.37, abs=0.11)
    assert months[1] <= 0.26
