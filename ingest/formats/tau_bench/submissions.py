"""Submissions to the leaderboard of tau2: figures in percent, without the trials behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.format import small_file
from ingest.formats.common.documents import object_in
from ingest.formats.common.fields import Fields, inner, json_or_none, object_of, text_of
from ingest.formats.common.records import UnreadableRecordError
from ingest.formats.common.trials import figure_row
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
        document = object_in(file)
    except UnreadableRecordError as error:
        return Reading(_SUBMISSION, rejects=[Reject(str(error), raw=file.data)])
    header = _header(document, file)
    run = (SUITE, header["run_id"])
    figures: list[ReportedMetricRow] = []
    for seq, row in enumerate(_figures(document), 1):
        row["content_id"] = content_hash("figure", run[1], row["metric"])
        source: ReportedMetricRow = {"suite": SUITE, "run_id": run[1], "file_sha256": file.sha256}
        figures.append({**row, **source, "seq": seq})
    return Reading(_SUBMISSION, rows={"runs": [header], "reported_metrics": figures}, run=run)


read_submission = small_file(_parse)


def _header(document: JsonObject, file: SourceFile) -> RunRow:
    fields = Fields(document)
    model, date = fields.text("model_name"), fields.text("submission_date")
    digest = content_hash("submission", document)[:8]
    methodology = fields.value("methodology")
    version = text_of(inner(methodology, "tau2_bench_version"))
    fields.drop("results")
    row: RunRow = {
        "suite": SUITE,
        "run_id": " ".join(filter(None, ("submission", model, date, digest))),
        "origin": "import",
        "run_date": date,
        "model": model,
        "config": json_or_none(methodology),
        "versions": json_text({"tau2-bench": version}) if version else None,
        "source_name": file.name,
        "extra": fields.extra(),
    }
    row["content_id"] = content_hash("run", json_text(row))
    row["file_sha256"] = file.sha256
    return row


def _figures(document: JsonObject) -> Iterator[ReportedMetricRow]:
    model = text_of(document.get("model_name"))
    for domain, given in object_of(document.get("results")).items():
        figures = {name: each for name, each in object_of(given).items() if each is not None}
        texts = {name: each for name, each in figures.items() if isinstance(each, str)}
        for name, figure in figures.items():
            row = figure_row(f"{domain}.{name}", figure, reason=_REASON)
            if row is not None and name not in texts:
                unit = {"unit": "percent"} if name.startswith("pass_") else {}
                extra = json_text({**unit, **texts}) if unit or texts else None
                yield {**row, "model": model, "task_set": utf8(domain), "extra": extra}
