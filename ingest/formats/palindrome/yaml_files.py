"""Reads the YAML files of a palindrome project: logs, task files and model files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.palindrome.logs import file_name_violation, is_log, read_log
from ingest.formats.palindrome.project_files import ProjectFiles
from ingest.reading import Reading, Reject
from warehouse.core.formats.model_files import is_model_file, model_row
from warehouse.core.formats.palindrome_tasks import is_task_file, task_rows
from warehouse.core.formats.yaml.documents import MappingNode, YamlError, parse

if TYPE_CHECKING:
    from ingest.reading import ImportContext, SourceFile
    from warehouse.core.formats.yaml.fields import Violation


def read(file: SourceFile, context: ImportContext) -> Reading:
    """Read a file of any of these kinds; a log's task and model files are imported with it."""
    reading = parsed(file)
    if reading.run is not None:
        [run] = reading.rows["runs"]
        project = context.shared(ProjectFiles)
        context.also_import(project.files(file.path, run["model_path"]))
        model_name = project.model_name(file.path, run["model_path"])
        if model_name is not None:
            header = run["run_date"], run["model_path"]
            _check_file_name(reading, file_name_violation(file.name, *header, model_name))
    return reading


def _check_file_name(reading: Reading, found: Violation | None) -> None:
    """Put what the model file proves of the log's name in place of what its path suggests."""
    others = [each for each in reading.violations if each.rule != "file_name"]
    reading.violations[:] = [*([found] if found else []), *others]


def parsed(file: SourceFile) -> Reading:
    """Parse a file of any of these kinds; reject any other file."""
    try:
        node = parse(file.data)
    except YamlError as error:
        return _rejected(file, str(error), error.line or None)
    if isinstance(node, MappingNode):
        if is_task_file(node):
            return _read_task_file(file, node)
        if is_log(node):
            return read_log(file, node)
        if is_model_file(node, folder=file.path.parent.name):
            return _read_model_file(file, node)
    return _rejected(file, "not a log, task file or model file: its fields are of no known format")


def _rejected(file: SourceFile, reason: str, line: int | None = None) -> Reading:
    return Reading("unknown", rejects=[Reject(reason, line, raw=file.data)])


def _read_task_file(file: SourceFile, node: MappingNode) -> Reading:
    reading = Reading("palindrome task file")
    task_set = file.name.removesuffix(file.path.suffix)
    rows, reading.violations = task_rows(node, task_set=task_set)
    reading.rows["tasks"] = [{**row, "file_sha256": file.sha256} for row in rows]
    return reading


def _read_model_file(file: SourceFile, node: MappingNode) -> Reading:
    reading = Reading("model file")
    row, reading.violations = model_row(node, file_name=file.name)
    reading.rows["models"] = [{**row, "file_sha256": file.sha256}]
    return reading
