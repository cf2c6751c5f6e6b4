"""Where the rows of each run come from: the imported files, with their hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.site.grouping import by
from exports.site.paths import shared_path

if TYPE_CHECKING:
    from collections import defaultdict

    from exports.site.site import Site
    from warehouse.core.types import Row

_FILES = """
WITH used AS (
    SELECT suite, run_id, file_sha256 FROM runs WHERE file_sha256 IS NOT NULL
    UNION
    SELECT suite, run_id, file_sha256 FROM results WHERE file_sha256 IS NOT NULL
    UNION
    SELECT suite, run_id, file_sha256 FROM reported_metrics
    WHERE run_id IS NOT NULL AND file_sha256 IS NOT NULL
)

SELECT
    used.suite, used.run_id, used.file_sha256 AS sha256, min(files.path) AS path,
    min(files.format) AS format, min(files.size_bytes) AS size_bytes
FROM used
LEFT JOIN files ON used.file_sha256 = files.sha256
GROUP BY used.suite, used.run_id, used.file_sha256
ORDER BY used.suite, used.run_id, path, used.file_sha256
"""


def provenance(site: Site) -> defaultdict[tuple[object, ...], list[Row]]:
    """Return the imported files of each run: short path, format, size_bytes, sha256."""
    files = ({**row, "path": shared_path(row["path"])} for row in site.rows(_FILES))
    return by(files, "suite", "run_id")
