"""Samples of answers to be labelled: drawn once, kept in the store as a run of `ratings`.

The same request has the same sample, even if the store has grown: so labelling can be interrupted,
and every rater of a sample labels the same answers. Ids of answers say nothing of where they are
from; only the store can resolve them.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from warehouse.core.errors import BadInput
from warehouse.core.formats.json_text import json_text
from warehouse.core.hashing import content_hash
from warehouse.core.rating_scales import RATINGS_SUITE, RatingScale, parse_scale
from warehouse.core.schemas import ARTIFACTS, RUNS
from warehouse.core.suggestions import did_you_mean
from warehouse.lake.batch import Generation
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.core.types import ArtifactRow, RunRow
    from warehouse.engine.base_store import BaseStore

_KIND = "label sample"
_LONGEST_NAME = 100  # characters
_RUNS = f"""
SELECT suite, run_id, is_replay FROM runs WHERE suite <> '{RATINGS_SUITE}' ORDER BY suite, run_id
"""  # noqa: S608 - a constant
# A call that is counted in another of the runs would be labelled twice.
_ANSWERS = """
SELECT calls.suite, calls.run_id, calls.result_id, calls.model, calls.task_set
FROM scores.resolved_results AS calls
SEMI JOIN (SELECT unnest($suites) AS suite, unnest($run_ids) AS run_id) AS chosen
    ON calls.suite = chosen.suite AND calls.run_id = chosen.run_id
WHERE coalesce(calls.raw_output, calls.answer) IS NOT NULL
    AND calls.success IS NOT FALSE
    AND NOT coalesce(list_contains($run_ids, calls.duplicate_of), false)
ORDER BY calls.suite, calls.run_id, calls.seq, calls.result_id
"""
_SAMPLES = f"""
SELECT run_id, content FROM lake.artifacts
WHERE suite = '{RATINGS_SUITE}' AND kind = '{_KIND}' ORDER BY batch, run_id
"""  # noqa: S608 - constants


class SampleRequest(TypedDict):
    """Which answers are labelled, by what.

    The keys are the parameters of `evalstore label`: suites and runs; the number of answers, None
    for all; the seed of the draw; whether models and task sets have equal numbers of answers, as
    far as they have so many; what raters are asked for, and the scale, as it is written.
    """

    targets: tuple[str, ...]
    sample: int | None
    seed: int
    stratified: bool
    criterion: str
    scale: str


class DrawnAnswer(NamedTuple):
    """An answer of a sample, the probability with which it was drawn, and its place from 1."""

    suite: str
    run_id: str
    result_id: str
    probability: float
    place: int


@dataclass(frozen=True, slots=True)
class LabelSample:
    """A sample of answers.

    Attributes:
        run_id: the run of the suite `ratings` that its labels belong to.
        request: what was asked for.
        n_answers: number of answers that it was drawn from.
        answers: the answers by opaque id, in random order.
    """

    run_id: str
    request: SampleRequest
    n_answers: int
    answers: dict[str, DrawnAnswer]

    @property
    def scale(self) -> RatingScale:
        """What raters may say."""
        return parse_scale(self.request["scale"])


def checked_name(what: str, name: str) -> str:
    """Return a name without spaces around it.

    Raises:
        BadInput: it is empty, too long, or not one line.
    """
    name = name.strip()
    if not name or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise BadInput(f"--{what}: write one line of 1 to {_LONGEST_NAME} characters")
    return name


def take_sample(store: BaseStore, request: SampleRequest) -> LabelSample:
    """Return the sample of a request: the one in the store, else one that is drawn and stored.

    Raises:
        BadInput: a name is not known, there are no answers, or the scale cannot be used.
        StoreReadOnly: the store cannot be written.
    """
    request = {
        **request,
        "targets": tuple(sorted(set(request["targets"]))),
        "criterion": checked_name("criterion", request["criterion"]),
        "scale": parse_scale(request["scale"]).text,
    }
    known = (sample for sample in read_samples(store) if sample.request == request)
    return next(known, None) or _new_sample(store, request)


def read_samples(store: BaseStore) -> list[LabelSample]:
    """Return the samples of a store, the oldest first."""
    return [_sample(run_id, content) for run_id, content in store.sql(_SAMPLES).fetchall()]


def _sample(run_id: str, content: bytes) -> LabelSample:
    document = json.loads(content)
    request = document["request"]
    request["targets"] = tuple(request["targets"])
    places = enumerate(document["answers"], 1)
    drawn = [DrawnAnswer._make([*answer, place]) for place, answer in places]
    # Never digits only: a spreadsheet would make a number of it.
    ids = ["label-" + content_hash("label", run_id, *answer[:3])[:16] for answer in drawn]
    answers = dict(zip(ids, drawn, strict=True))
    return LabelSample(run_id, request, document["n_answers"], answers)


def _new_sample(store: BaseStore, request: SampleRequest) -> LabelSample:
    strata = _strata(store, request)
    answers = _draw(strata, request)
    n_answers = sum(map(len, strata))
    config = {"request": request, "n_answers": n_answers}
    content = json_text({**config, "answers": answers}).encode()
    # Two stores may draw from different answers: their samples are different runs.
    content_id = content_hash("label sample", content.decode())
    run_id = f"{request['criterion']} {content_id[:8]}"
    key: RunRow = {"suite": RATINGS_SUITE, "run_id": run_id, "generation": "root"}
    key["content_id"] = content_id
    header: RunRow = {"origin": "recorded", "started_at": datetime.now(UTC)}
    artifact: ArtifactRow = {"kind": _KIND, "name": "sample.json", "content": content}
    with shared_lake_lock(store.path), store.lake.write("label") as writer:
        writer.add(RUNS, [{**key, **header, "config": json_text(config)}])
        writer.add(ARTIFACTS, [{**key, **artifact}])
        writer.commit(generations=[Generation(RATINGS_SUITE, run_id)])
    return _sample(run_id, content)


def _strata(store: BaseStore, request: SampleRequest) -> list[list[list[str]]]:
    """Return the keys of the answers that can be drawn, by model and task set if asked for."""
    runs = store.sql(_RUNS).fetchall()
    known = {name for suite, run_id, _ in runs for name in (suite, run_id)}
    for target in request["targets"]:
        if target not in known:
            hint = did_you_mean(target, known, "`evalstore runs` lists the runs")
            raise BadInput(f"there is no suite and no run {target!r}; {hint}")
    # Replays repeat the answers of other runs.
    chosen = [
        (suite, run_id)
        for suite, run_id, is_replay in runs
        if run_id in request["targets"] or (suite in request["targets"] and not is_replay)
    ]
    bound = {"suites": [suite for suite, _ in chosen], "run_ids": [run_id for _, run_id in chosen]}
    strata: dict[tuple[str, ...], list[list[str]]] = {}
    for *answer, model, task_set in store.sql(_ANSWERS, bound).fetchall():
        stratum = (str(model), str(task_set)) if request["stratified"] else ()
        strata.setdefault(stratum, []).append(answer)
    if not strata:
        raise BadInput("there is no answer to label: no result of these runs has a text")
    return sorted(strata.values(), key=len)


def _draw(
    strata: Sequence[Sequence[list[str]]], request: SampleRequest
) -> list[tuple[str, str, str, float]]:
    """Return answers drawn without replacement, in random order; the smallest stratum is first."""
    n_answers = sum(map(len, strata))
    n_wanted = min(request["sample"] or n_answers, n_answers)
    if n_wanted < len(strata):
        raise BadInput(f"--stratified: --sample must be {len(strata)} or more, one of each stratum")
    generator = random.Random(request["seed"])  # noqa: S311 - a sample, not a secret
    drawn: list[tuple[str, str, str, float]] = []
    for n_left, members in zip(range(len(strata), 0, -1), strata, strict=True):
        n_drawn = min(len(members), (n_wanted - len(drawn)) // n_left)
        for suite, run_id, result_id in generator.sample(members, n_drawn):
            drawn.append((suite, run_id, result_id, n_drawn / len(members)))
    generator.shuffle(drawn)
    return drawn
