"""Submissions to the leaderboard of tau2: figures in percent, without the trials behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.format import small_file
from ingest.formats.common.fields import Fields, amount, object_of
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.formats.tau_bench.experiment import SUITE
from ingest.reading import Reading, Reject
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.reading import ImportContext, SourceFile
    from warehouse.core.types import JsonObject, ReportedMetricRow, RunRow

_SUBMISSION = "tau-bench submission"
_REASON = "trajectories are not in the repository"


def _parse(file: SourceFile, _: ImportContext) -> Reading:
    try:
        document, _exact = parsed(file.data.removeprefix(b"\xef\xbb\xbf"))
        problem = "" if isinstance(document, dict) else "not a JSON object"
    except UnreadableRecordError as error:
        document, problem = None, str(error)
    if problem or not isinstance(document, dict):
        return Reading(_SUBMISSION, rejects=[Reject(problem, raw=file.data)])
    header = _header(document, file)
    figures: list[ReportedMetricRow] = [
        {**row, "suite": SUITE, "run_id": header["run_id"], "seq": seq, "file_sha256": file.sha256}
        for seq, row in enumerate(_figures(document), 1)
    ]
    for row in figures:
        row["content_id"] = content_hash("figure", header["run_id"], row["metric"])
    return Reading(
        _SUBMISSION,
        rows={"runs": [header], "reported_metrics": figures},
        run=(SUITE, header["run_id"]),
    )


read_submission = small_file(_parse)


def _header(document: JsonObject, file: SourceFile) -> RunRow:
    fields = Fields(document)
    model, date = fields.text("model_name"), fields.text("submission_date")
    digest = content_hash("submission", document)[:8]
    methodology = fields.value("methodology")
    version = Fields(methodology).text("tau2_bench_version")
    fields.value("results")
    row: RunRow = {
        "suite": SUITE,
        "run_id": " ".join(filter(None, ("submission", model, date, digest))),
        "origin": "import",
        "run_date": date,
        "model": model,
        "config": None if methodology is None else json_text(methodology),
        "versions": json_text({"tau2-bench": version}) if version else None,
        "source_name": file.name,
        "extra": fields.extra(),
    }
    row["content_id"] = content_hash("run", json_text(row))
    row["file_sha256"] = file.sha256
    return row


def _figures(document: JsonObject) -> Iterator[ReportedMetricRow]:
    model = Fields(document).text("model_name")
    for domain, given in object_of(document.get("results")).items():
        figures = Fields(given)
        texts: JsonObject = {k: v for k, v in figures.left().items() if isinstance(v, str)}
        for name, figure in figures.left().items():
            value, text = amount(figure)
            if name in texts or (value is None and text is None):
                continue
            unit: JsonObject = {"unit": "percent"} if name.startswith("pass_") else {}
            yield {
                "model": model,
                "task_set": utf8(domain),
                "metric": f"{utf8(domain)}.{utf8(name)}",
                "value": value,
                "text": text,
                "reason": _REASON,
                "extra": json_text({**unit, **texts}) if unit or texts else None,
            }
