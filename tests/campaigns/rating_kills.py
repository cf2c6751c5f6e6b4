"""A campaign of ratings by four clients of `evalstore view`, which is killed again and again.

    python -m tests.campaigns.rating_kills [--ratings N] [--kills N] [--seed S]

Each client is a rater, sends every rating until it is answered, and some of them twice. At the end
each rating is one row, and of each rater and answer the last one sent counts.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from tests.campaigns.served import ServedView
from tests.support import add_rows, new_store
from warehouse.app.labelling.samples import SampleRequest, take_sample

_RATERS = ("Ann", "Ben", "Cyd", "Dee")
_SECONDS = 300  # after which a client gives up
# Result, rater, label and id, in the order in which a rater gave them; the id is also the note.
_ROWS = """
SELECT result_id, rater, if(value = 1, 'pass', 'fail'), reason, is_current
FROM ratings WHERE reason IS NOT NULL ORDER BY rater, rated_at
"""


def rate_and_kill(folder: Path, *, ratings: int, kills: int, seed: int) -> list[float]:
    """Rate answers of a new store in a folder through a server that is killed.

    Return how many seconds each answer to a rating took, in their order.
    """
    chance, seconds = random.Random(seed), list[float]()
    store = new_store(folder / "store")
    run = {"suite": "arena", "run_id": "night", "generation": "root"}
    answers = [
        {**run, "content_id": f"r{n}", "seq": n, "task_id": f"t{n}", "raw_output": "yes"}
        for n in range(ratings // 10)
    ]
    add_rows(store.lake, runs=[{**run, "content_id": "run"}], results=answers)
    queue = take_sample(
        store,
        SampleRequest(
            targets=("arena",), sample=None, seed=seed, stratified=False, criterion="overall",
            scale="pass/fail",
        ),
    )  # fmt: skip
    drawn = [*queue.answers]
    sent = {rater: list[tuple[str, str, str, str]]() for rater in _RATERS}
    for n in range(ratings):
        rater = _RATERS[n % len(_RATERS)]
        said = chance.choice(["pass", "fail"])
        sent[rater].append((chance.choice(drawn), rater, said, f"rating {n}"))
    with (
        ServedView(store.path) as server,
        ThreadPoolExecutor(len(_RATERS)) as clients,
    ):
        work = [
            clients.submit(_send, server, queue.run_id, each, seconds) for each in sent.values()
        ]
        for n in range(1, kills + 1):
            while len(seconds) < ratings * n // (kills + 1) and not any(w.done() for w in work):
                time.sleep(0.001)
            time.sleep(chance.random() / 50)
            server.end(signal.SIGKILL)
            server.start()
        for each in work:
            each.result()
        server.end(signal.SIGINT)
    expected = []
    for rater, own in sent.items():
        newest = {answer: rating_id for answer, _, _, rating_id in own}
        expected += [
            (queue.answers[answer].result_id, rater, said, rating_id, newest[answer] == rating_id)
            for answer, _, said, rating_id in own
        ]
    assert store.sql(_ROWS).fetchall() == expected
    return seconds


def _send(
    server: ServedView, queue: str, ratings: list[tuple[str, str, str, str]], seconds: list[float]
) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=_SECONDS)
    for n, (answer, rater, label, rating_id) in enumerate(ratings):
        fields = {"queue": queue, "answer": answer, "rater": rater, "label": label}
        more = {"id": rating_id, "note": rating_id, "reference": "", "is_wrong": False}
        for _ in range(1 + (n % 20 == 0)):
            began = time.monotonic()
            _post(connection, json.dumps(fields | more), server.headers, began + _SECONDS)
            seconds.append(time.monotonic() - began)
    connection.close()


def _post(connection: HTTPConnection, body: str, headers: dict[str, str], deadline: float) -> None:
    """Send a rating until it is answered."""
    while True:
        try:
            connection.request("POST", "/view/review/rate", body, headers)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, HTTPException):
            connection.close()
            assert time.monotonic() < deadline, "no answer"
            time.sleep(0.05)
        else:
            assert answer.status == 200, text
            return


def main() -> None:
    """Run the campaign given on the command line and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ratings", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=32)
    given = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        seconds = rate_and_kill(
            Path(folder), ratings=given.ratings, kills=given.kills, seed=given.seed
        )
    tenth = len(seconds) // 10
    first, last = (sorted(each)[tenth // 2] for each in (seconds[:tenth], seconds[-tenth:]))
    print(
        f"{given.ratings:,} ratings and {given.kills} kills in {time.monotonic() - began:,.0f} s: "
        f"none lost, none doubled; median of the first tenth {1000 * first:.1f} ms, of the last "
        f"{1000 * last:.1f} ms"
    )


if __name__ == "__main__":
    main()
