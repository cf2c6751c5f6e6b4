"""Samples of answers to be labelled: drawn once, kept in the store as a run of `ratings`.

The same request has the same sample, even if the store has grown: so labelling can be interrupted,
and every rater of a sample labels the same answers. Ids of answers say nothing of where they are
from; only the store can resolve them.
"""

from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, cast

from warehouse.core.errors import BadInput
from warehouse.core.formats.json_text import json_text
from warehouse.core.hashing import content_hash
from warehouse.core.rating_scales import RATINGS_SUITE, RatingScale, parse_scale
from warehouse.core.schemas import ARTIFACTS, RUNS
from warehouse.core.suggestions import did_you_mean
from warehouse.lake.batch import Generation
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warehouse.core.types import ArtifactRow, Json, JsonObject, RunRow
    from warehouse.engine.base_store import BaseStore
    from warehouse.lake.batch import RunKey

_KIND = "label sample"
_LONGEST_CRITERION = 100  # characters
_RUNS = f"SELECT suite, run_id, is_replay FROM runs WHERE suite <> '{RATINGS_SUITE}' ORDER BY ALL"  # noqa: S608 - a constant
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
SELECT run_id, content
FROM lake.artifacts
WHERE suite = '{RATINGS_SUITE}' AND kind = '{_KIND}'
ORDER BY batch, run_id
"""  # noqa: S608 - constants


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRequest:
    """Which answers are labelled, by what.

    Attributes:
        targets: suites and runs, by name.
        criterion: what raters are asked for.
        scale: the scale, as it is written.
        n_wanted: number of answers; None for all of them.
        seed: seed of the draw.
        is_stratified: whether models and task sets have equal numbers of answers, as far as they
            have so many.
    """

    targets: tuple[str, ...]
    criterion: str
    scale: str
    n_wanted: int | None
    seed: int
    is_stratified: bool


class DrawnAnswer(NamedTuple):
    """An answer of a sample, the probability with which it was drawn, and its place from 1."""

    suite: str
    run_id: str
    result_id: str
    probability: float
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSample:
    """A sample of answers.

    Attributes:
        run_id: the run of the suite `ratings` that its labels belong to.
        request: hash of the request that it was drawn for.
        criterion: what raters are asked for.
        scale: what they may say.
        n_answers: number of answers that it was drawn from.
        answers: the answers by opaque id, in random order.
        is_new: whether it was drawn now.
    """

    run_id: str
    request: str
    criterion: str
    scale: RatingScale
    n_answers: int
    answers: dict[str, DrawnAnswer]
    is_new: bool = False


def take_sample(store: BaseStore, request: SampleRequest) -> LabelSample:
    """Return the sample of a request: the one in the store, else one that is drawn and stored.

    Raises:
        BadInput: a name is not known, there are no answers, or the scale cannot be used.
        StoreReadOnly: the store cannot be written.
    """
    scale = parse_scale(request.scale)
    criterion = request.criterion.strip()
    if not criterion or not criterion.isprintable() or len(criterion) > _LONGEST_CRITERION:
        raise BadInput(
            f"the criterion must be one line of 1 to {_LONGEST_CRITERION} characters, such as "
            "correctness"
        )
    runs, names = _chosen_runs(store, request.targets)
    asked = {**asdict(request), "targets": names, "criterion": criterion, "scale": scale.text}
    asked_hash = content_hash("label sample", asked)
    known = [sample for sample in read_samples(store) if sample.request == asked_hash]
    if known:
        return known[0]
    drawn, n_answers = _draw(store, runs, request)
    document: JsonObject = {
        "request": asked_hash,
        "criterion": criterion,
        "scale": scale.text,
        "n_answers": n_answers,
        "answers": drawn,
    }
    # Two stores may draw from different answers: their samples are different runs.
    run_id = f"{criterion} {content_hash('label sample', document)[:8]}"
    _write(store, run_id, document, asked)
    return replace(_sample(run_id, document), is_new=True)


def read_samples(store: BaseStore) -> list[LabelSample]:
    """Return the samples of a store, the oldest first."""
    return [_sample(run, json.loads(content)) for run, content in store.sql(_SAMPLES).fetchall()]


def _sample(run_id: str, document: JsonObject) -> LabelSample:
    answers = cast("list[tuple[str, str, str, float]]", document["answers"])
    drawn = [DrawnAnswer(*answer, place) for place, answer in enumerate(answers, 1)]
    return LabelSample(
        run_id=run_id,
        request=str(document["request"]),
        criterion=str(document["criterion"]),
        scale=parse_scale(str(document["scale"])),
        n_answers=int(str(document["n_answers"])),
        answers={_answer_id(run_id, answer): answer for answer in drawn},
    )


def _answer_id(run_id: str, answer: DrawnAnswer) -> str:
    # Never digits only: a spreadsheet would make a number of it.
    return "label-" + content_hash("labelled answer", run_id, *answer[:3])[:16]


def _chosen_runs(
    store: BaseStore, targets: Iterable[str]
) -> tuple[list[RunKey], list[list[str | None]]]:
    """Return the runs that are named, and the names as suite and, for a single run, its id."""
    runs = store.sql(_RUNS).fetchall()
    suites = {suite for suite, _, _ in runs}
    chosen: dict[RunKey, None] = {}
    names: list[list[str | None]] = []
    for target in targets:
        if target in suites:
            names.append([target, None])
            # Replays repeat the answers of other runs.
            found = [
                (suite, run) for suite, run, is_replay in runs if suite == target and not is_replay
            ]
        else:
            found = [_only_run(runs, target)]
            names.append([*found[0]])
        chosen |= dict.fromkeys(found)
    return list(chosen), sorted(names, key=str)


def _only_run(runs: Iterable[tuple[str, str, bool]], target: str) -> RunKey:
    found = [(suite, run) for suite, run, _ in runs if run == target]
    if not found:
        known = sorted({name for suite, run, _ in runs for name in (suite, run)})
        hint = did_you_mean(target, known, "`evalstore runs` lists the runs")
        raise BadInput(f"there is no suite and no run {target!r}; {hint}")
    if len(found) > 1:
        named = ", ".join(sorted(suite for suite, _ in found))
        raise BadInput(
            f"run {target!r} is in several suites ({named}): rename one, or name a suite"
        )
    return found[0]


def _draw(
    store: BaseStore, runs: Sequence[RunKey], request: SampleRequest
) -> tuple[list[Json], int]:
    """Return answers drawn without replacement, in random order, and how many there are."""
    bound = {"suites": [suite for suite, _ in runs], "run_ids": [run for _, run in runs]}
    strata: dict[tuple[str, ...], list[list[str]]] = {}
    for *answer, model, task_set in store.sql(_ANSWERS, bound).fetchall():
        stratum = (str(model), str(task_set)) if request.is_stratified else ()
        strata.setdefault(stratum, []).append(answer)
    n_answers = sum(map(len, strata.values()))
    if not n_answers:
        raise BadInput("there is no answer to label: no result of these runs has a text")
    n_wanted = n_answers if request.n_wanted is None else min(request.n_wanted, n_answers)
    if n_wanted < len(strata):
        raise BadInput(
            f"--stratified: of {len(strata)} models and task sets, draw at least as many"
        )
    generator = random.Random(request.seed)  # noqa: S311 - a sample, not a secret
    drawn: list[Json] = []
    by_size = sorted(strata.values(), key=len)
    for n_left, members in zip(range(len(by_size), 0, -1), by_size, strict=True):
        n_drawn = min(len(members), (n_wanted - len(drawn)) // n_left)
        chosen = generator.sample(members, n_drawn)
        drawn += [[*answer, n_drawn / len(members)] for answer in chosen]
    generator.shuffle(drawn)
    return drawn, n_answers


def _write(store: BaseStore, run_id: str, document: JsonObject, asked: dict[str, object]) -> None:
    shared = {"suite": RATINGS_SUITE, "run_id": run_id, "generation": "root"}
    header: RunRow = {
        "content_id": content_hash("label sample", asked),
        "origin": "recorded",
        "started_at": datetime.now(UTC),
        "config": json_text({**asked, "n_answers": document["n_answers"]}),
    }
    content = json_text(document)
    artifact: ArtifactRow = {
        "content_id": content_hash("label sample", run_id, content),
        "kind": _KIND,
        "name": "sample.json",
        "content": content.encode(),
    }
    with shared_lake_lock(store.path), store.lake.write("label") as writer:
        writer.add(RUNS, [{**shared, **header}])
        writer.add(ARTIFACTS, [{**shared, **artifact}])
        writer.commit(generations=[Generation(RATINGS_SUITE, run_id)])
