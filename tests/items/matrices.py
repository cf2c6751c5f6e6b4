"""Response matrices of many models, with figures by another program."""

import csv
import json
from functools import cache

import numpy as np
from support import REFERENCE

from warehouse.analysis.items.subsets import Answers

ITEMS = REFERENCE / "items"


@cache
def answers(name):
    """Return the names of the models, in order, and their answers."""
    if name == "crux":
        with (ITEMS / "zeroeval/crux.matrix.csv").open() as file:
            (_, *models), *rows = csv.reader(file)
        passed = np.array([[float(cell or 0) for cell in row[1:]] for row in rows]).T
        return models, Answers(passed, np.ones_like(passed))
    lines = (ITEMS / f"eval_arena/{name}.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    models = sorted({row["model"] for row in rows})
    items = sorted({row["example_id"] for row in rows})
    found = Answers(*np.zeros((2, len(models), len(items))))
    for row in rows:
        cell = models.index(row["model"]), items.index(row["example_id"])
        found.attempts[cell] = row["count"]
        found.passed[cell] = round(row["pass1"] * row["count"])
    return models, found


def oracle(name):
    """Return what the other program found."""
    if name == "crux":
        return json.loads((ITEMS / "zeroeval/oracle.json").read_text())
    return json.loads((ITEMS / "eval_arena/oracle.json").read_text())[name]


def drawn(n_models, n_items, *, seed=1, spread=1.5):
    """Return answers of a Rasch model: one attempt of each model at each item."""
    random = np.random.default_rng(seed)
    logits = random.normal(0, 1.5, n_models)[:, None] - random.normal(0, spread, n_items)
    passed = (random.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)
    return Answers(passed, np.ones_like(passed))
