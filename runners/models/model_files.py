"""Model files: name, provider, parameters and price of a model."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from runners.models.addresses import ADDRESS_KEYS, address_problem, addressed, own_address
from runners.models.model import Model
from runners.providers.base import MAX_REPLY_MIB
from runners.providers.registry import PROVIDERS
from warehouse.core.errors import BadInput
from warehouse.core.files import problem, read_regular
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.masking import is_secret_name
from warehouse.core.formats.model_files import MODEL_KEYS, RUNNER_KEYS, is_model_file, model_row
from warehouse.core.formats.yaml.documents import MappingNode, YamlError, parse
from warehouse.core.formats.yaml.fields import Violation
from warehouse.core.hashing import content_hash
from warehouse.core.paths import MODELS
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from runners.models.addresses import Address
    from warehouse.core.types import ModelRow, Row

FOLDER = "models"
LEVELS = ("low", "medium", "high", "xhigh")
_ALL = "ALL"
_PRICES = ("input", "output")
_MOST_USD_PER_TOKEN = 0.01  # ten times the most expensive model
_MOST_REPLY_MIB = 1024
_USUAL_PARAMETERS = {
    "temperature", "max_tokens", "top_p", "top_k", "seed", "stop", "thinking", "thinking_level",
    "reasoning_effort", "api_base", "frequency_penalty", "presence_penalty",
}  # fmt: skip
_OUTSIDE = re.compile(r"[/\\:\0]+")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file.

    Attributes:
        model: the model; of a file with errors only the path and, if it can be read, the name.
        row: its row of table `models`.
        warnings: messages about keys and values that are probably mistakes.
        errors: why the file cannot be used: file, line and key of each problem; empty if it can.
        is_shipped: whether it is an example that ships with evalstore.
    """

    model: Model
    row: Row
    _: KW_ONLY
    warnings: tuple[str, ...] = ()
    errors: str = ""
    is_shipped: bool = False


def read_model_files(folder: Path | None = None) -> dict[str, ModelFile]:
    """Read the model files of the workspace and those shipped with evalstore.

    A file with errors stops only what needs it, so it is among the files.

    Returns:
        The files by path, `models/<file>`; files of the workspace override shipped ones.
    """
    files: dict[str, ModelFile] = {}
    for place in (MODELS, folder or Path(FOLDER)):
        for path in sorted(place.glob("*.yaml")):
            try:
                file = read_model_file(path)
            except BadInput as error:
                file = _with_errors(path, str(error))
            files[f"{FOLDER}/{path.name}"] = replace(file, is_shipped=place == MODELS)
    return files


def _with_errors(path: Path, errors: str) -> ModelFile:
    name = ""
    with suppress(YamlError, OSError):
        node = parse(read_regular(path))
        if isinstance(node, MappingNode):
            name = model_row(node, file_name=path.name)[0]["name"] or ""
    return ModelFile(Model(name, "", path=f"{FOLDER}/{path.name}"), {}, errors=errors)


def listed_files(files: dict[str, ModelFile]) -> dict[str, ModelFile]:
    """Return the files that `ALL` means: the user's, or the shipped examples if there are none."""
    own = {path: file for path, file in files.items() if not file.is_shipped}
    return own or files


def read_model_file(path: Path) -> ModelFile:
    """Read a model file.

    Raises:
        BadInput: the file breaks a rule; the message names the file, line and key.
    """
    try:
        node = parse(read_regular(path))
    except (YamlError, OSError) as error:
        raise BadInput(f"{path}: {problem(error)}") from error
    if not isinstance(node, MappingNode) or not is_model_file(node, folder=FOLDER):
        raise BadInput(f"{path}: not a model file: it has no `name`, or it has `tasks`")
    row, violations = model_row(node, file_name=path.name)
    model, problems = _model(row)
    lines = {key: value.line for key, value in node.items}
    violations = [*violations, *(replace(v, line=lines.get(v.field, 1)) for v in problems)]
    if violations:
        raise BadInput("\n".join(f"{path}:{v.line}: {v.message}" for v in violations))
    warnings = tuple(f"{path}:{v.line}: {v.message}" for v in _unlikely(node, model))
    return ModelFile(model, row, warnings=warnings)


def choose_models(
    names: Iterable[str],
    files: dict[str, ModelFile],
    *,
    provider: str | None = None,
    options: dict[str, object] | None = None,
    at: Sequence[Address] = (),
) -> list[Model]:
    """Return the models that a user names: by file name, by model name, or `ALL`.

    Args:
        names: what the user names.
        files: the model files, by path.
        provider: the provider to use instead of that in the file.
        options: parameters to use instead of those in the file.
        at: addresses that go before that in the file.

    Raises:
        BadInput: a name matches several files, or a file with errors; an option cannot be used.
    """
    if problems := list(_check_parameters(options or {})):
        raise BadInput("\n".join(f"--option {problem.message}" for problem in problems))
    chosen: list[Model] = []
    for name in names:
        candidates = listed_files(files) if name == _ALL else files
        models = [file.model for file in candidates.values()]
        found = _named(name, models, options)
        _check_files(name, found, candidates)
        for model in found:
            changed = addressed(
                replace(model, provider=provider or model.provider), *at, own_address(model)
            )
            if options is not None and options != model.parameters:
                changed = replace(changed, parameters=options, path=None)
            chosen.append(changed)
    return chosen


def file_stem(name: str) -> str:
    """Return a model's name as the stem of a file name: slashes become dashes."""
    return _OUTSIDE.sub("-", name).strip(".") or "model"


def model_document(model: Model) -> dict[str, object]:
    """Return the content of a model's file, in the order in which it is written."""
    document = {
        "name": model.name,
        "provider": model.provider,
        "options": model.parameters,
        "price": model.price,
        **_reply_limit(model),
    }
    return {key: value for key, value in document.items() if value}


def new_model_row(model: Model) -> ModelRow:
    """Return the row of table `models` for a model whose file is created by the run."""
    known: ModelRow = {
        "model_path": model.path or "",
        "name": model.name,
        "provider": model.provider,
        "parameters": canonical_json(model.parameters),
        "price": json_text(model.price) if model.price else None,
    }
    if limit := _reply_limit(model):
        known["extra"] = json_text(limit)
    keys = json_text(list(model_document(model)))
    return {**known, "record_keys": keys, "content_id": content_hash("model", known)}


def _reply_limit(model: Model) -> dict[str, object]:
    is_default = model.max_reply_mib == MAX_REPLY_MIB
    return {} if is_default else {"max_reply_mib": model.max_reply_mib}


def _check_files(name: str, found: Sequence[Model], files: Mapping[str, ModelFile]) -> None:
    """Raise `BadInput` if what a name stands for is, or could be, in a file with errors."""
    paths = {model.path for model in found}
    errors = []
    for path, file in files.items():
        if not file.errors:
            continue
        if path in paths or name in {_ALL, file.model.name}:
            errors.append(file.errors)
        elif paths == {None} and not file.model.name:
            # Without its file, a model would be called with other parameters than the file has.
            errors.append(f"{file.errors}\n{name} has no other file, so this may be its file")
    if errors:
        raise BadInput("\n".join(errors))


def _named(name: str, models: Sequence[Model], options: dict[str, object] | None) -> list[Model]:
    if name == _ALL:
        return [model for model in models if not model.skip]
    for model in models:
        stem = (model.path or "").removeprefix(f"{FOLDER}/").removesuffix(".yaml")
        if name in {model.path, stem} and name != model.name:
            return [model]
    if name.startswith(f"{FOLDER}/") and name.endswith(".yaml"):
        near = did_you_mean(name, (str(model.path) for model in models))
        raise BadInput(f"{name}: no such model file" + (f"; {near}" if near else ""))
    same_name = [model for model in models if model.name == name]
    if options is not None:
        matching = [model for model in same_name if model.parameters == options]
        return matching[:1] or same_name[:1] or [Model(name, "litellm")]
    if len(same_name) > 1:
        same_name = [model for model in same_name if not model.parameters] or same_name
    if len({repr(replace(model, path=None)) for model in same_name}) > 1:
        paths = ", ".join(str(model.path) for model in same_name)
        raise BadInput(f"{name}: has several model files ({paths}): name one of the files")
    return same_name[:1] or [Model(name, "litellm")]


def _model(row: Row) -> tuple[Model, list[Violation]]:
    parameters: dict[str, object] = json.loads(row["parameters"])
    price = json.loads(row["price"]) if row["price"] else None
    extra = json.loads(row["extra"] or "{}")
    max_reply_mib = extra.get("max_reply_mib", MAX_REPLY_MIB)
    found = [
        *_check_parameters(parameters),
        *_check_price(price),
        *_check_reply_limit(max_reply_mib),
        *_check_address(extra),
    ]
    # litellm's name for it, which files also use.
    base_url = extra.get("base_url", parameters.pop("api_base", None))
    model = Model(
        row["name"] or "",
        # Other providers are vendors: litellm knows them by the first part of the name.
        row["provider"] if row["provider"] in PROVIDERS else "litellm",
        parameters=parameters,
        base_url=str(base_url) if base_url is not None else None,
        api_key_env=extra.get("api_key_env"),
        price=price,
        path=row["model_path"],
        skip=bool(row["skip"]),
        max_reply_mib=max_reply_mib,
    )
    return model, found


def _check_parameters(parameters: dict[str, object]) -> Iterator[Violation]:
    level = parameters.get("thinking_level")
    if level is not None and level not in LEVELS:
        yield _violation("options", f"thinking_level: {level!r} is not one of {', '.join(LEVELS)}")
    for key, value in parameters.items():
        if is_secret_name(key) and key != "max_tokens":
            yield _violation("options", f"{key}: keys belong in the environment, not in files")
        if isinstance(value, float) and not math.isfinite(value):
            yield _violation("options", f"{key}: {value} cannot be sent")
    headers = parameters.get("extra_headers")
    for key, value in headers.items() if isinstance(headers, dict) else ():
        if not isinstance(value, str):
            problem = f"extra_headers.{key}: must be text; put it in quotes"
            yield _violation("options", problem)


def _check_price(price: dict[str, object] | None) -> Iterator[Violation]:
    for key in _PRICES if price is not None else ():
        value = (price or {}).get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            yield _violation("price", f"price.{key}: must be US dollars per token")


def _check_reply_limit(value: object) -> Iterator[Violation]:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 < value <= _MOST_REPLY_MIB
    ):
        text = f"max_reply_mib: must be a number of MiB, more than 0 and at most {_MOST_REPLY_MIB}"
        yield _violation("max_reply_mib", text)


def _check_address(extra: dict[str, object]) -> Iterator[Violation]:
    for key in ADDRESS_KEYS:
        problem = address_problem(key, extra[key]) if key in extra else None
        if problem is not None:
            yield _violation(key, f"{key}: {problem}")


def _unlikely(node: MappingNode, model: Model) -> Iterator[Violation]:
    """Yield what is allowed in a model file, but has no effect or is probably a mistake."""
    for key, value in node.items:
        if key not in MODEL_KEYS | RUNNER_KEYS:
            yield Violation(value.line, key, "model_file", _unknown_key(key))
        elif key == "price" and isinstance(value, MappingNode):
            for name, amount in value.items:
                if name not in _PRICES:
                    hint = did_you_mean(name, _PRICES, "use input and output, US dollars per token")
                    text = f"price.{name}: unknown key, has no effect; {hint}"
                    yield Violation(amount.line, key, "model_file", text)
    for name, usd in (model.price or {}).items():
        if name in _PRICES and usd > _MOST_USD_PER_TOKEN:
            line = dict(node.items)["price"].line
            text = f"price.{name}: {usd:g} US dollars per token; did you mean per million tokens?"
            yield Violation(line, "price", "model_file", text)


def _unknown_key(key: str) -> str:
    if key in _USUAL_PARAMETERS:
        return f"{key}: has no effect here; parameters belong under `parameters`"
    hint = did_you_mean(key, MODEL_KEYS | RUNNER_KEYS, "put notes of your own under `metadata`")
    return f"{key}: unknown key, has no effect; {hint}"


def _violation(key: str, message: str) -> Violation:
    return Violation(1, key, "model_file", message)
