"""Figures of HELM over trials, variants of instances and several values, computed as HELM does."""

import random
from collections import defaultdict
from copy import deepcopy

import pytest
from helm_cases import NAME, request, stat, write_run
from support import import_into

PERTURBATIONS = [
    {"name": "typos", "robustness": True, "fairness": False, "computed_on": "perturbed"},
    {"name": "dialect", "robustness": False, "fairness": True, "computed_on": "perturbed"},
    {"name": "space", "robustness": True, "computed_on": "perturbed", "max": 2},
]
KINDS = [
    {"name": kind, "robustness": kind == "robustness", "fairness": kind == "fairness"}
    for kind in ("robustness", "fairness")
]


def rows(store, query):
    return store.sql(query).fetchall()


def statistic(name, values, **fields):
    return {**stat(name, *values, **fields), "min": min(values)}


def context(instance):
    """Return what names a statistic of an instance, as arguments."""
    fields = {"split": instance["split"]}
    if "sub_split" in instance:
        fields["sub_split"] = instance["sub_split"]
    if "perturbation" in instance:
        fields["perturbation"] = instance["perturbation"]
    return fields


def cases(rng, n_trials):
    """Yield trial, instance and the values of its metrics."""
    for trial in range(n_trials):
        for n in range(7):
            split = {"split": "test", "sub_split": "hard"} if n % 3 == 0 else {"split": "valid"}
            changes = [None, *(each for each in PERTURBATIONS if (n + len(each["name"])) % 2)]
            for change in changes:
                instance = {**request(n)["instance"], "id": f"id {n}", **split}
                if change:
                    instance["perturbation"] = change
                # Of several references or completions; a statistic may have no value at all.
                values = {
                    name: [rng.choice([0.0, 0.5, 1.0]) for _ in range(rng.randint(1, 3))]
                    for name in ("exact_match", "logprob", "num_bytes", "num_references")
                }
                values["num_bytes"] = [rng.randint(1, 9) for _ in range(2)]
                if rng.random() < 0.2:
                    del values["logprob"]
                yield trial, instance, values


def key(name, fields):
    return name, str(sorted(fields.items(), key=str))


def trial_figures(of_trial):
    """Return the figures of a trial, as `helm.benchmark.metrics.metric.Metric.evaluate` does."""
    merged, variants, found = defaultdict(list), defaultdict(list), {}
    for instance, values in of_trial:
        fields = context(instance)
        unchanged = {name: each for name, each in fields.items() if name != "perturbation"}
        for name, of_instance in values.items():
            merged[key(name, fields)].append((name, fields, of_instance))
            change = fields.get("perturbation")
            variants[key(name, unchanged), instance["id"]].append(
                (name, unchanged, change, of_instance)
            )
    for entries in merged.values():
        name, fields, _ = entries[0]
        every = [value for *_, values in entries for value in values]
        found[key(name, fields)] = (name, fields, sum(every) / len(every))
    of_changes = defaultdict(list)
    for each in variants.values():
        name, unchanged, *_ = each[0]
        original = [value for *_, change, values in each if change is None for value in values]
        for change in [*KINDS, *(change for *_, change, _ in each if change)]:
            values = [
                value
                for *_, other, of_instance in each
                if other is None
                or other == change
                or (change in KINDS and other.get(change["name"]))
                for value in of_instance
            ]
            worst = {**unchanged, "perturbation": {**change, "computed_on": "worst"}}
            of_changes[key(name, worst)].append((name, worst, [min(values)]))
            if change not in KINDS:
                before = {**unchanged, "perturbation": {**change, "computed_on": "original"}}
                of_changes[key(name, before)].append((name, before, original))
    for entries in of_changes.values():
        name, fields, _ = entries[0]
        every = [value for *_, values in entries for value in values]
        found[key(name, fields)] = (name, fields, sum(every) / len(every) if every else None)
    logprobs = [entries for (name, _), entries in merged.items() if name == "logprob"]
    for entries in logprobs:
        fields = entries[0][1]
        total = sum(value for *_, values in entries for value in values)
        size = sum(value for *_, values in merged[key("num_bytes", fields)] for value in values)
        found[key("logprob_per_byte", fields)] = ("logprob_per_byte", fields, total / size)
    return found


@pytest.mark.slow
def test_every_figure_follows_from_trials_and_variants(store, tmp_path):
    n_trials = 3
    made = list(cases(random.Random(1), n_trials))
    by_trial = [
        [(instance, values) for number, instance, values in made if number == trial]
        for trial in range(n_trials)
    ]
    figures = defaultdict(list)
    for of_trial in by_trial:
        for name, fields, value in trial_figures(of_trial).values():
            if value is not None:
                figures[key(name, fields)].append((name, fields, value))
    stats = [
        stat(entries[0][0], *(value for *_, value in entries), **entries[0][1])
        for entries in figures.values()
    ]
    requests, entries = [], []
    for trial, instance, values in made:
        requests.append({**request(1), "instance": instance, "train_trial_index": trial})
        entries.append(
            {
                "instance_id": instance["id"],
                "train_trial_index": trial,
                **(
                    {"perturbation": instance["perturbation"]} if "perturbation" in instance else {}
                ),
                "stats": [
                    statistic(name, each, **context(instance)) for name, each in values.items()
                ],
            }
        )
    write_run(tmp_path / NAME, requests=requests, entries=entries, stats=stats)
    import_into(store, tmp_path)
    audit = "SELECT metric, filter, reducer_parameters, reported, recomputed FROM metric_audit "
    assert rows(store, audit + "WHERE status <> 'equal'") == []
    assert len(rows(store, audit)) == len(stats) > 60
    assert rows(store, "SELECT DISTINCT reducer FROM metric_audit ORDER BY ALL") == [
        ("original",),
        ("worst",),
        (None,),
    ]


@pytest.mark.slow
def test_windows_of_a_long_text_are_scored_one_by_one(store, tmp_path):
    adapter = {"method": "language_modeling", "model": "org/m"}
    # Two windows with the same statistics are two.
    sums = [-1.0, -1.0, -4.0]
    windows = [deepcopy(request(0)) for _ in sums]
    for number, window in enumerate(windows):
        window["request"]["prompt"] = f"window {number}"
    entries = [
        {
            "instance_id": "id0",
            "train_trial_index": 0,
            "stats": [stat("logprob", total), stat("num_perplexity_tokens", 2)],
        }
        for total in sums
    ]
    stats = [stat("logprob", -2.0), stat("perplexity", 2.718281828459045)]
    write_run(tmp_path / NAME, requests=windows, entries=entries, stats=stats, adapter_spec=adapter)
    import_into(store, tmp_path)
    assert rows(store, "SELECT metric, status FROM metric_audit ORDER BY seq") == [
        ("logprob", "equal"),
        ("perplexity", "equal"),
    ]
    assert rows(
        store,
        "SELECT prompt, value FROM result_scores JOIN results USING (run_id, result_id) "
        "WHERE metric = 'logprob' ORDER BY ALL",
    ) == [("window 0", -1.0), ("window 1", -1.0), ("window 2", -4.0)]


@pytest.mark.slow
def test_the_number_of_instances_is_that_of_the_figures_part(store, tmp_path):
    parts = [("easy", 2), ("hard", 1)]
    requests, entries, stats = [], [], []
    for part, n in parts:
        for number in range(n):
            made = request(1)
            made["instance"] = {**made["instance"], "id": f"{part}{number}", "sub_split": part}
            requests.append(made)
            score = stat("exact_match", 1.0, sub_split=part)
            entries.append(
                {"instance_id": f"{part}{number}", "train_trial_index": 0, "stats": [score]}
            )
        stats += [
            stat("num_instances", n, sub_split=part),
            stat("exact_match", 0.5, sub_split=part),
        ]
    write_run(tmp_path / NAME, requests=requests, entries=entries, stats=stats)
    import_into(store, tmp_path)
    assert rows(
        store,
        "SELECT filter, n_reported, n, status, reason FROM metric_audit "
        "WHERE metric = 'exact_match' ORDER BY seq",
    ) == [("test easy", 2, 2, "differs", None), ("test hard", 1, 1, "differs", None)]


@pytest.mark.slow
def test_samples_of_a_split_that_are_missing_are_not_a_difference(store, tmp_path):
    requests = [request(n) for n in range(4)]
    for n in (2, 3):
        requests[n]["instance"] = {**requests[n]["instance"], "split": "valid"}
    entries = [
        {"instance_id": f"id{n}", "train_trial_index": 0, "stats": [stat("f1", 1.0, split=split)]}
        for n, split in enumerate(["test", "test", "valid", "valid"])
    ]
    stats = [
        each
        for split, n in (("test", 3), ("valid", 2))
        for each in (stat("num_instances", n, split=split), stat("f1", 0.5, split=split))
    ]
    write_run(tmp_path / NAME, requests=requests, entries=entries, stats=stats)
    import_into(store, tmp_path)
    assert rows(
        store,
        "SELECT filter, status, reason FROM metric_audit WHERE metric = 'f1' ORDER BY seq",
    ) == [
        ("test", "samples missing", "the store has 2 of 3"),
        ("valid", "differs", None),
    ]
