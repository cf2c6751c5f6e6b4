"""Labels by a table: blind, harmless in a spreadsheet, and read back as they were given."""

import csv
import io
from datetime import timedelta

import pytest
from label_cases import MODELS, PROMPT, REFERENCE, result
from support import add_rows, command, digests

pytestmark = pytest.mark.slow

HOSTILE = (
    '=HYPERLINK("http://x","y")',
    "+1+1",
    "-2",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "＝1+1",
    'a\nb,"c";d\x1b[31m\0',
    "<script>alert(1)</script>",
)


@pytest.fixture
def label(answers, tmp_path):
    """Return a function that runs `evalstore label`, from which it expects an exit code."""

    def run(*arguments, code=0):
        ended = command(answers.path, "label", *arguments)
        assert ended.code == code, ended.err
        return ended

    run.store = answers
    run.folder = tmp_path
    return run


def export(label, *options, name="sheet.csv", targets=("arena",)):
    path = label.folder / name
    label("export", *targets, *options, "--to", path)
    return path


def read(path, encoding="utf-8-sig"):
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(encoding))))


def fill(path, labels, to="filled.csv", delimiter=",", **cells):
    """Write a table back with labels by row; rows beyond them stay as they are."""
    rows = read(path)
    for row, given in zip(rows, labels, strict=False):
        row.update(label=given, **cells)
    out = io.StringIO()
    table = csv.DictWriter(out, rows[0], delimiter=delimiter)
    table.writeheader()
    table.writerows(rows)
    filled = path.with_name(to)
    filled.write_text(out.getvalue(), "utf-8")
    return filled


def ratings(store, columns="*"):
    query = f"SELECT {columns} FROM ratings WHERE suite = 'ratings' ORDER BY rater, rated_at, seq"
    return store.sql(query).fetchall()


def test_labels_come_back_as_ratings_of_the_answers(label):
    sheet = export(label, "--sample", 4, "--seed", 3)
    rows = read(sheet)
    assert list(rows[0]) == ["id", "prompt", "answer", "label", "note"]
    ended = label("import", fill(sheet, ["pass", "FAIL ", "", "pass"]), "--rater", "Anna")
    assert ended.lines["labels"] == "3 new"
    assert ended.lines["without"] == "label  1, skipped"
    texts = {row["id"]: row["answer"] for row in rows}
    found = label.store.sql(
        """
        SELECT calls.raw_output, r.value, r.scale_low, r.scale_high, r.sampling_probability,
            r.rater, r.rater_kind, r.criterion, r.status, r.is_current, r.model = calls.model
        FROM ratings AS r
        JOIN results AS calls ON r.result_suite = calls.suite
            AND r.result_run_id = calls.run_id AND r.result_id = calls.result_id
        WHERE r.suite = 'ratings' ORDER BY r.seq
        """
    ).fetchall()
    shared = (0.0, 1.0, 4 / 12, "Anna", "human", "overall", "ok", True, True)
    labelled = [(rows[0], 1.0), (rows[1], 0.0), (rows[3], 1.0)]
    assert found == [(texts[row["id"]], value, *shared) for row, value in labelled]
    assert command(label.store.path, "check").code == 0


def test_the_same_file_again_changes_nothing(label):
    filled = fill(export(label), ["pass"] * 5 + ["fail"] * 7, note="as said")
    label("import", filled, "--rater", "Anna")
    before, n_batches = digests(label.store), len(label.store.lake.batch_names())
    again = label("import", filled, "--rater", "Anna")
    assert (again.lines["labels"], again.lines["unchanged"]) == ("0 new", "12")
    assert digests(label.store) == before
    assert len(label.store.lake.batch_names()) == n_batches


def test_a_second_label_is_a_newer_version_and_two_raters_keep_both(label):
    sheet = export(label, "--sample", 2)
    first, second = fill(sheet, ["pass", "pass"]), fill(sheet, ["fail", "pass"], to="second.csv")
    label("import", first, "--rater", "Anna")
    # The same bytes of another person are other labels.
    assert label("import", first, "--rater", "Ben").lines["labels"] == "2 new"
    ended = label("import", second, "--rater", "Anna")
    assert (ended.lines["labels"], ended.lines["unchanged"]) == ("1 new", "1")
    # The older file was imported before: it does not become the newest by being imported again.
    assert label("import", first, "--rater", "Anna").lines["labels"] == "0 new"
    columns = "rater, seq, value, is_current"
    assert sorted(ratings(label.store, columns)) == [
        ("Anna", 1, 0.0, True),
        ("Anna", 1, 1.0, False),
        ("Anna", 2, 1.0, True),
        ("Ben", 1, 1.0, True),
        ("Ben", 2, 1.0, True),
    ]
    times = [at for rater, at in ratings(label.store, "rater, rated_at") if rater == "Anna"]
    assert timedelta(0) < times[-1] - times[0] < timedelta(minutes=10)


def test_a_change_of_mind_and_back_again_is_the_newest_label(label):
    sheet = export(label, "--sample", 1)
    for number, (given, note) in enumerate([("pass", "a"), ("fail", "b"), ("pass", "a")]):
        filled = fill(sheet, [given], to=f"{number}.csv", note=note)
        filled.write_bytes(filled.read_bytes() + b"\n" * number)
        assert label("import", filled, "--rater", "Anna").lines["labels"] == "1 new"
    found = ratings(label.store, "value, reason, is_current")
    assert found == [(1.0, "a", False), (0.0, "b", False), (1.0, "a", True)]


def test_the_file_says_nothing_of_models_runs_or_other_people(label):
    sheet = export(label)
    label("import", fill(sheet, ["pass"] * 12, note="a secret remark"), "--rater", "Anna")
    for options in ((), ("--rater", "Ben"), ("--reference",)):
        name = f"{len(options)}{options[:1]}.csv".replace("/", "")
        data = export(label, *options, name=name).read_text("utf-8-sig")
        for word in (*MODELS, "night", "arena", "core", "t1", "Anna", "secret", "pass"):
            assert word not in data
        assert PROMPT in data
        assert (REFERENCE in data) == ("--reference" in options)
    own = read(export(label, "--rater", "Anna", name="own.csv"))
    assert {(row["label"], row["note"]) for row in own} == {("pass", "a secret remark")}


def test_the_order_says_nothing_of_the_model(label):
    orders = set()
    for seed in range(4):
        sheet = read(export(label, "--seed", seed, name=f"{seed}.csv"))
        orders.add(tuple(row["answer"][-1] for row in sheet))
    assert len(orders) == 4


def test_no_cell_is_a_formula_and_texts_stay_readable(label):
    header = {"suite": "arena", "run_id": "hostile", "generation": "root", "content_id": "h"}
    rows = [
        result("ant-9000", n, run_id="hostile", content_id=str(n), raw_output=text, prompt=text)
        for n, text in enumerate(HOSTILE)
    ]
    add_rows(label.store.lake, runs=[header], results=rows)
    sheet = export(label, targets=["hostile"])
    assert sheet.read_bytes().startswith(b"\xef\xbb\xbf")
    cells = [cell for row in read(sheet) for cell in row.values()]
    assert not any(cell.lstrip().startswith(tuple("=+-@＝")) for cell in cells)
    assert not any(mark in cell for cell in cells for mark in "\0\x1b\r")
    assert "'" + HOSTILE[0] in cells
    filled = fill(sheet, ["pass"] * len(HOSTILE), note="'=1+1")
    label("import", filled, "--rater", "Anna")
    assert set(ratings(label.store, "reason")) == {("=1+1",)}
    # What a store has of a note comes back guarded, and unchanged.
    own = export(label, "--rater", "Anna", targets=["hostile"], name="own.csv")
    assert {row["note"] for row in read(own)} == {"'=1+1"}
    assert label("import", own, "--rater", "Anna").lines["labels"] == "0 new"


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_table_saved_by_a_spreadsheet_elsewhere_is_read(label, delimiter):
    sheet = export(label, "--scale", "1..5", "--criterion", "style")
    filled = fill(sheet, ["4.0", "1", " 4 "], delimiter=delimiter)
    label("import", filled, "--rater", "Anna")
    assert ratings(label.store, "value, label, scale_low, scale_high, criterion") == [
        (4.0, None, 1.0, 5.0, "style"),
        (1.0, None, 1.0, 5.0, "style"),
        (4.0, None, 1.0, 5.0, "style"),
    ]


def test_a_judge_is_compared_with_the_labels(label):
    rows = label.store.sql(
        "SELECT suite, run_id, result_id, seq, raw_output FROM results"
    ).fetchall()
    passes = {text: n % 3 > 0 for n, (*_, text) in enumerate(sorted(rows, key=lambda row: row[4]))}
    judged = [
        {
            "suite": suite,
            "run_id": run_id,
            "generation": "root",
            "result_id": result_id,
            "content_id": f"judged {result_id}",
            "seq": seq,
            "criterion": "overall",
            "rater": "judge-1",
            "rater_kind": "judge",
            "status": "ok",
            "value": float(passes[text]),
            "scale_low": 0.0,
            "scale_high": 1.0,
        }
        for suite, run_id, result_id, seq, text in rows
    ]
    headers = [
        {"suite": suite, "run_id": run_id, "generation": "root", "content_id": f"{run_id} judged"}
        for suite, run_id in {row[:2] for row in rows}
    ]
    add_rows(label.store.lake, runs=headers, ratings=judged)
    sheet = export(label)
    # Anna agrees but for the answer of the last row.
    given = ["pass" if passes[row["answer"]] else "fail" for row in read(sheet)]
    given[-1] = "fail" if given[-1] == "pass" else "pass"
    label("import", fill(sheet, given), "--rater", "Anna")
    query = "SELECT suite, judge, other, n_items, agreement_rate, sensitivity FROM judge_agreement"
    ((*names, n_items, rate, sensitivity),) = label.store.sql(query).fetchall()
    assert (names, n_items) == (["arena", "judge-1", "people"], 12)
    n_passed = given.count("pass")
    n_found = n_passed - (given[-1] == "pass")
    assert (rate, sensitivity) == pytest.approx((11 / 12, n_found / n_passed))


def test_words_are_labels_of_their_scale(label):
    sheet = export(label, "--scale", "bad, fair,good")
    label("import", fill(sheet, ["Good", "bad"]), "--rater", "Anna")
    scale = ["bad", "fair", "good"]
    assert ratings(label.store, "value, label, scale_labels") == [
        (None, "good", scale),
        (None, "bad", scale),
    ]


def test_what_cannot_be_used_is_named_and_the_rest_imported(label):
    sheet = export(label)
    filled = fill(sheet, ["goood", "pass", "pass"])
    lines = filled.read_text("utf-8").splitlines()
    lines += [lines[2], "label-0123456789abcdef,p,a,pass,", "label-1,p"]
    filled.write_text("\n".join(lines), "utf-8")
    ended = label("import", filled, "--rater", "Anna", code=2)
    assert (ended.lines["labels"], ended.lines["quarantined"]) == ("2 new", "4")
    for message in (
        "'goood' is not on the scale pass/fail",
        "labelled in line 3, too",
        "'label-0123456789abcdef' is no answer that this store has asked about",
        "a row with other cells than there are columns",
        "not everything was imported: of 1 file, 4 records quarantined; the rest was",
    ):
        assert message in ended.err


def test_files_of_other_kinds_are_refused_with_a_reason(label):
    sheet = export(label, "--sample", 1)
    (label.folder / "other.csv").write_text("id,label\n1,pass\n")
    ended = label("import", label.folder / "other.csv", "--rater", "Anna", code=2)
    assert "not a table of labels: it needs the columns `id` and `label`" in ended.err
    (latin := label.folder / "latin.csv").write_bytes(
        fill(sheet, ["pass"]).read_bytes() + "x,é,,,\n".encode("latin-1")
    )
    assert "save the table as `CSV UTF-8`" in label("import", latin, "--rater", "A", code=2).err
    assert "--rater: write one line" in label("import", sheet, "--rater", " ", code=2).err
    assert "already exists" in label("export", "arena", "--to", sheet, code=2).err
    assert "ends in .csv or .html" in label("export", "arena", "--to", "x.xlsx", code=2).err


def test_a_plain_import_says_how_labels_are_imported(label):
    filled = fill(export(label, "--sample", 1), ["pass"])
    ended = command(label.store.path, "import", filled)
    assert "evalstore label import FILE --rater NAME" in ended.err
    assert ratings(label.store) == []


def test_answers_that_are_gone_are_counted_and_the_rest_asked_about(label):
    export(label)
    assert command(label.store.path, "forget", "night-bee-large", "--yes").code == 0
    ended = label("export", "arena", "--to", label.folder / "rest.csv")
    assert "6 of 12 drawn answers to label" in ended.err
    assert len(read(label.folder / "rest.csv")) == 6
    assert command(label.store.path, "forget", "night-ant-9000", "--yes").code == 0
    ended = label("export", "arena", "--to", label.folder / "none.csv", code=2)
    assert "no answer of the sample is in the store any more" in ended.err


def test_a_forgotten_sample_takes_its_labels_along(label):
    sheet = export(label, "--sample", 2)
    label("import", fill(sheet, ["pass", "fail"]), "--rater", "Anna")
    ((run_id,),) = label.store.sql("SELECT run_id FROM runs WHERE suite = 'ratings'").fetchall()
    assert command(label.store.path, "forget", run_id, "--yes").code == 0
    assert ratings(label.store) == []
    assert (
        "has asked about"
        in label("import", sheet.with_name("filled.csv"), "--rater", "A", code=2).err
    )
