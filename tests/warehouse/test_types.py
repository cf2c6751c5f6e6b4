"""The row types agree with `warehouse/core/schemas.py`."""

from datetime import datetime
from typing import get_type_hints

import pytest

from warehouse.core import types
from warehouse.core.schemas import TABLES

PYTHON_TYPES = {
    "VARCHAR": str,
    "JSON": str,
    "VARCHAR[]": list[str],
    "BLOB": bytes,
    "BIGINT": int,
    "INTEGER": int,
    "DOUBLE": float,
    "BOOLEAN": bool,
    "TIMESTAMP": datetime,
}
ROW_TYPES = {
    "runs": types.RunRow,
    "results": types.ResultRow,
    "tasks": types.TaskRow,
    "models": types.ModelRow,
    "annotations": types.AnnotationRow,
    "judgements": types.JudgementRow,
    "events": types.EventRow,
    "resources": types.ResourceRow,
    "artifacts": types.ArtifactRow,
    "result_scores": types.ResultScoreRow,
    "reported_metrics": types.ReportedMetricRow,
    "messages": types.MessageRow,
    "tags": types.TagRow,
    "rescores": types.RescoreRow,
    "published": types.PublishedRow,
    "files": types.FileRow,
    "quarantine": types.QuarantineRow,
    "violations": types.ViolationRow,
}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_row_type_has_the_columns_of_its_table(table):
    expected = {
        column.name: PYTHON_TYPES[column.type] | None
        if column.nullable
        else PYTHON_TYPES[column.type]
        for column in table.columns
    }
    assert get_type_hints(ROW_TYPES[table.name]) == expected
