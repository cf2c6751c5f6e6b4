"""A journal that grows, read by what is new in it."""

import random
import threading

import pytest

from warehouse.lake.batch import Generation
from warehouse.lake.journal.journal import Entry, Journal
from warehouse.lake.journal.reading import read_journal
from warehouse.lake.journal.recovery import recover_journals
from warehouse.lake.journal.tail import JournalTail, is_being_written
from warehouse.lake.lake import Lake
from warehouse.lake.locks import recovery_lock

RUN = Generation("mine", "r1")


def result(n, **fields):
    return Entry("results", {"content_id": f"c{n}", "seq": n, "prompt": f"p{n}", **fields})


def read_all(tail):
    entries = []
    while (read := tail.read()) is not None:
        entries += read
    return entries


@pytest.mark.parametrize("seed", range(20))
def test_pieces_give_what_the_whole_gives(tmp_path, monkeypatch, seed):
    """Cut anywhere, damaged anywhere: entries and bad lines are those of the recovery."""
    draw = random.Random(seed)
    monkeypatch.setattr("warehouse.lake.journal.tail._BLOCK", draw.choice([1, 50, 10_000]))
    with Journal(tmp_path, RUN) as journal:
        for n in range(30):
            journal.append([result(n, raw_output="ä" * draw.randrange(50))])
        journal.append_together([result(98), result(99)])
    data = bytearray(journal.path.read_bytes())
    for _ in range(draw.randrange(4)):
        data[draw.randrange(len(data))] = draw.choice(b"{}\n\xff7")
    whole, grown = tmp_path / "whole.jsonl", tmp_path / "grown.jsonl"
    whole.write_bytes(data)
    with whole.open("rb") as file:
        expected = read_journal(file)
    grown.touch()
    entries = []
    with JournalTail(grown) as tail, grown.open("ab", buffering=0) as file:
        while data:
            size = draw.randrange(1, 200)
            file.write(data[:size])
            del data[:size]
            entries += read_all(tail)
        assert tuple(entries) == expected.entries
        assert tail.run == expected.run
        assert tail.n_bad_lines == len(expected.bad_lines)


def test_the_last_rows_are_read_though_the_journal_is_a_batch(tmp_path):
    with Journal(tmp_path, RUN) as journal:
        tail = JournalTail(journal.path)
        journal.append([result(1)])
        assert read_all(tail) == [result(1)]
        journal.append([result(2)])
        assert not tail.is_gone
    assert recover_journals(Lake(tmp_path)) == []
    assert tail.is_gone
    assert read_all(tail) == [result(2)]
    tail.close()


def test_a_journal_that_lost_its_end_is_known(tmp_path):
    with Journal(tmp_path, RUN) as journal, JournalTail(journal.path) as tail:
        journal.append([result(1)])
        read_all(tail)
        assert not tail.is_cut
        journal.path.write_bytes(journal.path.read_bytes()[:-5])
        assert tail.is_cut


@pytest.mark.slow
def test_who_writes_is_known_and_no_recovery_is_kept_from_its_work(tmp_path):
    with Journal(tmp_path, RUN) as journal:
        journal.append([result(1)])
        assert is_being_written(tmp_path, journal.path)
    assert not is_being_written(tmp_path, journal.path)
    with recovery_lock(tmp_path):
        assert is_being_written(tmp_path, journal.path)
    stop = threading.Event()

    def ask():
        while not stop.is_set():
            is_being_written(tmp_path, journal.path)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(20):
            with Journal(tmp_path, RUN) as journal:
                journal.append([result(1)])
            assert recover_journals(Lake(tmp_path)) == []
            assert not journal.path.exists()
    finally:
        stop.set()
        asking.join()
