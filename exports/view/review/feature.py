"""Pages on which people rate answers, and what their scripts ask for and send."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from exports.view.feature import Feature, page_response
from exports.view.requests import post_route, text_of, value_of
from exports.view.review.session import ReviewSession
from warehouse.app.labelling.draws import DRAWS
from warehouse.app.labelling.queues import assigned, rubric_version
from warehouse.app.labelling.rating_journal import SentRating
from warehouse.app.labelling.samples import SampleRequest, checked_name
from warehouse.core.errors import BadInput
from warehouse.core.formats.json_text import json_text
from warehouse.core.rating_scales import parse_scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from exports.view.store_pages import StorePages
    from warehouse.app.labelling.labels import GivenLabel, RaterLabels
    from warehouse.app.labelling.samples import LabelSample
    from warehouse.core.types import Json

_ENTRY = "view/review"
_MAX_NOTE, _MAX_REFERENCE, _MAX_RUBRIC = 10_000, 100_000, 10_000  # characters
_MAX_SHOWN = 200_000  # characters of a text, unless all of it is asked for
_MAX_QUEUE, _MAX_TARGETS, _MAX_RATERS = 100_000, 1_000, 50
_NAMES = "SELECT DISTINCT suite, run_id FROM runs WHERE suite <> 'ratings' ORDER BY ALL"
_SAID = {"id", "rater", "label", "note", "reference", "is_wrong"}
_ANSWER = ("suite", "run_id", "result_id")
_QUEUE = {
    "targets", "sample", "draw", "seed", "criterion", "scale", "rubric", "raters", "per_answer",
}  # fmt: skip


class _ShownQueue(NamedTuple):
    """A queue in the list, without a word of what its answers are from."""

    name: str
    criterion: str
    scale: str
    drawn: str
    n_answers: int
    progress: str


class _Review:
    """What the routes answer."""

    def __init__(self, pages: StorePages) -> None:
        self._pages = pages
        self._page = partial(page_response, pages, is_blind=True)
        self._session = ReviewSession(pages)

    def list_page(self, _: Request) -> Response:
        """Return the page that lists the queues."""
        queues = [_shown_queue(*each) for each in self._session.queues()]
        return self._page(_ENTRY, "review.html", "Review", queues=queues)

    def new_page(self, _: Request) -> Response:
        """Return the page on which a queue is made: the only one that names runs."""
        with self._pages.reading() as site:
            runs = site.rows(_NAMES)
        values = {"runs": runs, "suites": sorted({row["suite"] for row in runs}), "draws": DRAWS}
        return self._page(f"{_ENTRY}/new", "review-new.html", "New queue", **values)

    def queue_page(self, request: Request) -> Response:
        """Return the page on which the answers of a queue are rated."""
        queue = self._queue(request)
        criterion = queue.request["criterion"]
        values = {"queue": queue.run_id, "criterion": criterion, "about": None}
        values["rubric"] = queue.request.get("rubric", "")
        return self._page(f"{_ENTRY}/queue", "rate.html", f"Review: {criterion}", **values)

    def rate_page(self, request: Request) -> Response:
        """Return the page on which an answer that somebody chose is rated."""
        about = dict(zip(_ANSWER, _address_values(request, *_ANSWER), strict=True))
        self._session.chosen(_answer_key(about), "review", "pass/fail")
        values = {"queue": None, "criterion": "review", "about": about, "rubric": ""}
        return self._page("view/rate", "rate.html", "Rate an answer", **values)

    def scale(self, request: Request) -> Response:
        """Return the labels of a scale, and their keys."""
        scale = parse_scale(_address_values(request, "scale")[0])
        return JSONResponse({"labels": list(scale.values), "keys": scale.keys()})

    def answers(self, request: Request) -> Response:
        """Return the ids of the answers of a queue that a rater is asked about, and own labels."""
        queue, rater = self._queue(request), _rater(request)
        own = self._session.labels(queue).get(rater)
        given = own.newest if own is not None else {}
        rows: list[Json] = [
            {"id": each, **_own_rating(given.get(each))} for each in assigned(queue, rater)
        ]
        labels: list[Json] = list(queue.scale.values)
        return JSONResponse({"labels": labels, "keys": queue.scale.keys(), "answers": rows})

    def answer(self, request: Request) -> Response:
        """Return the texts of an answer: of a queue, or of a result that somebody chose."""
        if "queue" in request.query_params:
            queue, answer_id = self._queue(request), _address_values(request, "id")[0]
        else:
            suite, run_id, result_id = _address_values(request, *_ANSWER)
            answer_id = "chosen"
            queue = self._session.chosen((suite, run_id, result_id), "review", "pass/fail")
        texts = self._session.texts(queue, answer_id)._asdict()
        if part := request.query_params.get("all"):
            if part not in {"prompt", "answer", "reference"}:
                raise BadInput("all: one of prompt, answer, reference")
            return JSONResponse({part: texts[part]})
        del texts["id"]
        cut = {name: text and text[:_MAX_SHOWN] for name, text in texts.items()}
        sizes = {name: len(text or "") for name, text in texts.items()}
        return JSONResponse({**cut, "sizes": sizes})

    def agreement(self, request: Request) -> Response:
        """Return how far raters agree on the answers that the asking one has rated."""
        found = self._session.agreements(self._queue(request), _rater(request))
        return JSONResponse([each._asdict() for each in found])

    def create(self, fields: dict[str, object]) -> object:
        """Make a queue."""
        return {"queue": self._session.create(_queue_request(fields)).run_id}

    def rate_drawn(self, fields: dict[str, object]) -> object:
        """Store a rating of an answer of a queue."""
        queue = self._session.queue(text_of(fields, "queue"))
        is_new = self._session.rate(queue, _sent_rating(fields, text_of(fields, "answer"), queue))
        return {"is_new": is_new}

    def rate_chosen(self, fields: dict[str, object]) -> object:
        """Store a rating of an answer that somebody chose."""
        about = {name: text_of(fields, name) for name in _ANSWER}
        criterion, scale = text_of(fields, "criterion"), text_of(fields, "scale")
        chosen = self._session.chosen(_answer_key(about), criterion, scale)
        return {"is_new": self._session.rate(chosen, _sent_rating(fields, "chosen", chosen))}

    def _queue(self, request: Request) -> LabelSample:
        return self._session.queue(_address_values(request, "queue")[0])


def _routes(pages: StorePages) -> Sequence[BaseRoute]:
    review = _Review(pages)
    return [
        Route("/view/review", review.list_page),
        Route("/view/review/new", review.new_page),
        Route("/view/review/queue", review.queue_page),
        Route("/view/review/answers", review.answers),
        Route("/view/review/answer", review.answer),
        Route("/view/review/scale", review.scale),
        Route("/view/review/agreement", review.agreement),
        Route("/view/rate", review.rate_page),
        post_route("/view/review/create", _QUEUE, review.create),
        post_route("/view/review/rate", {*_SAID, "queue", "answer"}, review.rate_drawn),
        post_route("/view/rate/rate", {*_SAID, *_ANSWER, "criterion", "scale"}, review.rate_chosen),
    ]


def _shown_queue(queue: LabelSample, by_rater: dict[str, RaterLabels]) -> _ShownQueue:
    request = queue.request
    return _ShownQueue(
        name=queue.run_id,
        criterion=request["criterion"],
        scale=request["scale"],
        drawn="by strata" if request["stratified"] else request.get("draw", "random"),
        n_answers=len(queue.answers),
        progress=", ".join(_progress(queue, by_rater)),
    )


def _progress(queue: LabelSample, by_rater: dict[str, RaterLabels]) -> Iterator[str]:
    raters = queue.request.get("raters", ())
    for rater in sorted({*raters, *by_rater}):
        n_asked = len(assigned(queue, rater)) if rater in raters or not raters else 0
        n_given = len(by_rater[rater].newest) if rater in by_rater else 0
        yield f"{rater} {n_given:,} of {n_asked:,}"


def _own_rating(given: GivenLabel | None) -> dict[str, Json]:
    label, note, _, extra = given or ("", None, None, None)
    said = json.loads(extra or "{}")
    return {
        "label": label,
        "note": note or "",
        "reference": said.get("corrected_reference", ""),
        "is_wrong": said.get("task_is_wrong", False),
    }


def _address_values(request: Request, *names: str) -> tuple[str, ...]:
    values = tuple(request.query_params.get(name, "") for name in names)
    if not all(values):
        raise BadInput(f"the address lacks one of: {', '.join(names)}")
    return values


def _rater(request: Request) -> str:
    return checked_name("rater", _address_values(request, "rater")[0])


def _answer_key(about: dict[str, str]) -> tuple[str, str, str]:
    return about["suite"], about["run_id"], about["result_id"]


def _sent_rating(fields: dict[str, object], answer_id: str, sample: LabelSample) -> SentRating:
    reference = _bounded_text(fields, "reference", _MAX_REFERENCE)
    said: dict[str, Json] = {"rubric_version": rubric_version(sample.request)}
    if reference:
        said["corrected_reference"] = reference
    if value_of(fields, "is_wrong", bool):
        said["task_is_wrong"] = True
    return SentRating(
        rating_id=checked_name("id", text_of(fields, "id")),
        answer_id=answer_id,
        rater=checked_name("rater", text_of(fields, "rater")),
        label=_bounded_text(fields, "label", _MAX_NOTE),
        note=_bounded_text(fields, "note", _MAX_NOTE) or None,
        extra=json_text(said),
    )


def _queue_request(fields: dict[str, object]) -> SampleRequest:
    raters = tuple(
        checked_name("rater", each) for each in _bounded_texts(fields, "raters", _MAX_RATERS)
    )
    if len(set(raters)) < len(raters):
        raise BadInput("raters: each once")
    request = SampleRequest(
        targets=_bounded_texts(fields, "targets", _MAX_TARGETS),
        sample=_whole_number(fields, "sample", _MAX_QUEUE),
        seed=_whole_number(fields, "seed", 2**31),
        stratified=fields["draw"] == "stratified",
        criterion=text_of(fields, "criterion"),
        scale=text_of(fields, "scale"),
        draw=DRAWS[0] if fields["draw"] == "stratified" else text_of(fields, "draw"),
        rubric=_bounded_text(fields, "rubric", _MAX_RUBRIC),
    )
    if raters:
        request["raters"] = raters
        request["per_answer"] = _whole_number(fields, "per_answer", len(raters))
    return request


def _bounded_text(fields: dict[str, object], name: str, longest: int) -> str:
    """Return a text, which may be empty."""
    text = value_of(fields, name, str)
    if len(text) > longest or "\0" in text:
        raise BadInput(f"{name}: give a text of at most {longest:,} characters")
    return text


def _bounded_texts(fields: dict[str, object], name: str, most: int) -> tuple[str, ...]:
    values = value_of(fields, name, list)
    if len(values) > most:
        raise BadInput(f"{name}: at most {most:,}")
    return tuple(text_of({name: value}, name) for value in values)


def _whole_number(fields: dict[str, object], name: str, high: int) -> int:
    value = value_of(fields, name, int)
    if isinstance(value, bool) or not (name == "seed" or value) or not 0 <= value <= high:
        raise BadInput(f"{name}: write a whole number of at most {high:,}")
    return value


FEATURE = Feature(
    routes=_routes, title="Review", entry=_ENTRY, scripts=("view/assets/rate-link.js",)
)
