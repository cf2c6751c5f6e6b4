"""Model configurations: `models/<name>.yaml`, the user's and those that ship with evalstore."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.yaml.documents import MappingNode, Node, ScalarNode, value_of
from warehouse.core.formats.yaml.fields import Fields
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from warehouse.core.formats.yaml.fields import Violation
    from warehouse.core.types import Row

# The palindrome program calls them `options`.
_PARAMETERS = ("parameters", "options")
MODEL_KEYS = {"name", "provider", "version", "metadata", "price", "skip", *_PARAMETERS}
# For our runner only: without a column, they stay in `extra`.
RUNNER_KEYS = {"max_reply_mib", "base_url", "api_key_env"}
_LIKELY = MODEL_KEYS | RUNNER_KEYS | {"model_id", "benchmark"}


def is_model_file(node: Node, *, folder: str) -> bool:
    """Return whether YAML is a model configuration, by its content and the name of its folder."""
    if not isinstance(node, MappingNode):
        return False
    fields = dict(node.items)
    name = fields.get("name")
    has_name = (
        isinstance(name, ScalarNode) and isinstance(name.value, str) and "tasks" not in fields
    )
    return has_name and (folder == "models" or fields.keys() <= _LIKELY)


def model_row(node: MappingNode, *, file_name: str) -> tuple[Row, list[Violation]]:
    """Return the row of table `models` for a model configuration, and the file's violations.

    `metadata: {unresolved: true}` marks a file that an export made for a model without a file.
    """
    fields = Fields(node, "")
    metadata = _object(fields, "metadata")
    unresolved = metadata.pop("unresolved", None) if metadata else None
    known = {
        "model_path": f"models/{file_name}",
        "name": fields.text("name", required=True),
        "provider": fields.text("provider"),
        "parameters": canonical_json(_parameters(fields)),
        "version": fields.scalar_text("version"),
        "metadata": json_text(metadata) if metadata else None,
        "price": _json(_object(fields, "price")),
        "skip": fields.boolean("skip"),
        "unresolved": unresolved is True or None,
        "extra": _json(fields.unknown(MODEL_KEYS)),
    }
    row = {
        **known,
        "content_id": content_hash("model", known),
        "record_keys": json_text([key for key, _ in node.items]),
    }
    return row, fields.violations


def _parameters(fields: Fields) -> dict[str, object]:
    parameters: dict[str, object] = {}
    for key in _PARAMETERS:
        parameters |= _object(fields, key) or {}
    return parameters


def _object(fields: Fields, key: str) -> dict[str, object] | None:
    node = fields.node(key)
    if node is None or isinstance(node, MappingNode):
        value = value_of(node) if node is not None else None
        return dict(value) if isinstance(value, dict) else None
    fields.report(node.line, key, "type", "not a mapping")
    return None


def _json(value: dict[str, object] | None) -> str | None:
    return json_text(value) if value else None
