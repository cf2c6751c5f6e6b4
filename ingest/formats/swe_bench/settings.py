"""Settings beside trajectories and predictions: of a submission, or of SWE-agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import object_of
from ingest.formats.swe_bench.trials import TrialRows, of_memory, rejecting, run_name
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.values import utf8
from warehouse.core.formats.yaml.documents import YamlError, load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.reading import ImportContext, Reading

_AGENT_SETTINGS = "args.yaml"


def read_settings(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read what describes a run; it becomes the run's configuration."""
    file = context.read(path)
    if file is None:
        return
    try:
        config = load(file.data)
    except YamlError as error:
        yield rejecting(path, str(error), file.data)
        return
    trials = TrialRows(path, run_name(path))
    text = canonical_json(object_of(config))
    yield of_memory("SWE-bench settings", path, trials, {"config": text})


def recorded_model(path: Path, context: ImportContext) -> str | None:
    """Return the model that the settings beside a trajectory of SWE-agent name, if any."""
    settings = path.with_name(_AGENT_SETTINGS)
    file = context.read(settings) if settings.is_file() else None
    try:
        config = object_of(load(file.data)) if file is not None else {}
    except YamlError:
        return None  # its own import says what is wrong
    name = object_of(object_of(config.get("agent")).get("model")).get("model_name")
    return utf8(name) if isinstance(name, str) and name else None
