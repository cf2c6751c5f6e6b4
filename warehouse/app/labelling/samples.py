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
from typing import TYPE_CHECKING, NamedTuple, NotRequired, Protocol, TypedDict

from warehouse.app.labelling.draws import DRAWS, FAVOURED, RANDOM, mixed_numbers
from warehouse.core.errors import BadInput
from warehouse.core.formats.json_text import json_text
from warehouse.core.hashing import content_hash
from warehouse.core.rating_scales import RATINGS_SUITE, RatingScale, parse_scale
from warehouse.core.schemas import ARTIFACTS, RATINGS, RUNS
from warehouse.core.suggestions import did_you_mean
from warehouse.lake.batch import Generation
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from warehouse.core.types import ArtifactRow, RatingRow, RunRow
    from warehouse.engine.base_store import BaseStore
    from warehouse.engine.query import Query

_KIND = "label sample"
_LONGEST_NAME = 100  # characters
_RUNS = f"""
SELECT suite, run_id, is_replay FROM runs WHERE suite <> '{RATINGS_SUITE}' ORDER BY suite, run_id
"""  # noqa: S608 - a constant
# A call that is counted in another of the runs would be labelled twice.
_ANSWERS = """
WITH chosen AS (SELECT unnest($suites) AS suite, unnest($run_ids) AS run_id),

favoured AS ($favoured)

SELECT
    calls.suite,
    calls.run_id,
    calls.result_id,
    calls.model,
    calls.task_set,
    favoured.result_id IS NULL AS is_other
FROM scores.resolved_results AS calls
SEMI JOIN chosen USING (suite, run_id)
LEFT JOIN favoured USING (suite, run_id, result_id)
WHERE coalesce(calls.raw_output, calls.answer) IS NOT NULL
    AND calls.success IS NOT FALSE
    AND NOT coalesce(list_contains($run_ids, calls.duplicate_of), false)
ORDER BY calls.suite, calls.run_id, calls.seq, calls.result_id
"""
_NONE = "SELECT '' AS suite, '' AS run_id, '' AS result_id LIMIT 0"
_SAMPLES = f"""
SELECT run_id, content FROM lake.artifacts
WHERE suite = '{RATINGS_SUITE}' AND kind = '{_KIND}' ORDER BY batch, run_id
"""  # noqa: S608 - constants


class SampleRequest(TypedDict):
    """Which answers are labelled, by what.

    The keys are the parameters of `evalstore label`: suites and runs; the number of answers, None
    for all; the seed of the draw; whether models and task sets have equal numbers of answers, as
    far as they have so many; what raters are asked for, and the scale, as it is written; which
    answers are favoured, one of `DRAWS`, without it none.

    Of a queue also: what the criterion means, for raters to read; who they are, and how many of
    them are asked about each answer.
    """

    targets: tuple[str, ...]
    sample: int | None
    seed: int
    stratified: bool
    criterion: str
    scale: str
    draw: NotRequired[str]
    rubric: NotRequired[str]
    raters: NotRequired[tuple[str, ...]]
    per_answer: NotRequired[int]


class Source(Protocol):
    """What answers queries: a store, or its warehouse where that is open already."""

    def sql(
        self, query: str, parameters: Mapping[str, object] | None = None
    ) -> Query | duckdb.DuckDBPyConnection:
        """Return the rows of a query, to be fetched; values are bound as `$name`."""


class DrawnAnswer(NamedTuple):
    """An answer of a sample, and its place from 1.

    `probability` is that with which it was drawn; None if somebody chose it.
    """

    suite: str
    run_id: str
    result_id: str
    probability: float | None
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


def take_sample(
    store: BaseStore, request: SampleRequest, source: Source | None = None
) -> LabelSample:
    """Return the sample of a request: the one in the store, else one that is drawn and stored.

    Args:
        store: the store.
        request: what is asked for.
        source: what answers queries on the store; by default, the store.

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
    if request.get("draw", RANDOM) not in DRAWS:
        raise BadInput(f"draw {request['draw']!r}: write one of {', '.join(DRAWS)}")
    if request.get("draw") == RANDOM:
        del request["draw"]  # as in samples of earlier versions
    known = (sample for sample in read_samples(source or store) if sample.request == request)
    return next(known, None) or _new_sample(store, request, source or store)


def read_samples(source: Source) -> list[LabelSample]:
    """Return the samples of a store, the oldest first."""
    return [_sample(run_id, content) for run_id, content in source.sql(_SAMPLES).fetchall()]


def _sample(run_id: str, content: bytes) -> LabelSample:
    document = json.loads(content)
    request = document["request"]
    for name in {"targets", "raters"} & request.keys():
        request[name] = tuple(request[name])
    places = enumerate(document["answers"], 1)
    drawn = [DrawnAnswer._make([*answer, place]) for place, answer in places]
    # Never digits only: a spreadsheet would make a number of it.
    ids = ["label-" + content_hash("label", run_id, *answer[:3])[:16] for answer in drawn]
    answers = dict(zip(ids, drawn, strict=True))
    return LabelSample(run_id, request, document["n_answers"], answers)


def _new_sample(store: BaseStore, request: SampleRequest, source: Source) -> LabelSample:
    strata = _strata(source, request)
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
    chances = _chances(strata, request, run_id)
    with shared_lake_lock(store.path), store.lake.write("label") as writer:
        writer.add(RUNS, [{**key, **header, "config": json_text(config)}])
        writer.add(ARTIFACTS, [{**key, **artifact}])
        writer.add(RATINGS, [{**key, **row} for row in chances])
        writer.commit(generations=[Generation(RATINGS_SUITE, run_id)])
    return _sample(run_id, content)


def _strata(source: Source, request: SampleRequest) -> list[list[list[str]]]:
    """Return the keys of the answers that can be drawn, by model and task set if asked for.

    With a draw that favours answers, these are one stratum, and all others the second.
    """
    runs = source.sql(_RUNS).fetchall()
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
    draw = request.get("draw", RANDOM)
    if draw != RANDOM and request["stratified"]:
        raise BadInput("draw either by strata, or with some answers favoured")
    query = _ANSWERS.replace("$favoured", FAVOURED.get(draw, _NONE))
    rows = source.sql(query, bound).fetchall()
    if not rows:
        raise BadInput("there is no answer to label: no result of these runs has a text")
    if draw != RANDOM:
        return [
            [list(row[:3]) for row in rows if row[-1] is is_other] for is_other in (False, True)
        ]
    strata: dict[tuple[str, ...], list[list[str]]] = {}
    for *answer, model, task_set, _ in rows:
        stratum = (str(model), str(task_set)) if request["stratified"] else ()
        strata.setdefault(stratum, []).append(answer)
    return sorted(strata.values(), key=len)


def _draw(
    strata: Sequence[Sequence[list[str]]], request: SampleRequest
) -> list[tuple[str, str, str, float]]:
    """Return answers drawn without replacement, in random order."""
    generator = random.Random(request["seed"])  # noqa: S311 - a sample, not a secret
    drawn: list[tuple[str, str, str, float]] = []
    for n_drawn, members in zip(_numbers(strata, request), strata, strict=True):
        for suite, run_id, result_id in generator.sample(members, n_drawn):
            drawn.append((suite, run_id, result_id, n_drawn / len(members)))
    generator.shuffle(drawn)
    return drawn


def _numbers(strata: Sequence[Sequence[list[str]]], request: SampleRequest) -> list[int]:
    """Return how many answers are drawn of each stratum."""
    sizes = [len(members) for members in strata]
    n_wanted = min(request["sample"] or sum(sizes), sum(sizes))
    draw = request.get("draw", RANDOM)
    if draw != RANDOM:
        return mixed_numbers(draw, sizes, n_wanted)
    if n_wanted < len(strata):
        raise BadInput(f"--stratified: --sample must be {len(strata)} or more, one of each stratum")
    numbers: list[int] = []
    for n_left, size in zip(range(len(sizes), 0, -1), sizes, strict=True):  # the smallest first
        numbers.append(min(size, (n_wanted - sum(numbers)) // n_left))
    return numbers


def _chances(
    strata: Sequence[Sequence[list[str]]], request: SampleRequest, run_id: str
) -> list[RatingRow]:
    """Return rows that say with which probability each answer was drawn, if these differ.

    Without those of answers that were not drawn, no figure of all could be corrected by labels.
    """
    if request.get("draw", RANDOM) == RANDOM:
        return []
    return [
        {
            "content_id": content_hash("drawn", run_id, suite, rated_run, result_id),
            "seq": seq,
            "result_id": result_id,
            "rated_suite": suite,
            "rated_run_id": rated_run,
            "criterion": request["criterion"],
            "rater_kind": "human",
            "status": "not_applicable",
            "sampling_probability": n_drawn / len(members),
        }
        for n_drawn, members in zip(_numbers(strata, request), strata, strict=True)
        for seq, (suite, rated_run, result_id) in enumerate(members, 1)
    ]
