"""Rows of a poster run: a result for each prediction, and the judgements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.formats.posters.dataset import SUITE
from ingest.formats.posters.files import number, whole
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from ingest.formats.posters.dataset import Dataset
    from ingest.formats.posters.files import PosterArtifacts
    from warehouse.core.types import JsonObject, JudgementRow, ResultRow

_PROVIDERS = ("openrouter", "ollama", "gemini")
_RATE_LIMITED = re.compile(r"\b429\b|rate.?limit", re.IGNORECASE)


def result_rows(
    dataset: Dataset, model: str, by_poster: dict[str, PosterArtifacts]
) -> list[ResultRow]:
    """Return a model's rows in the order of the manifest, followed by unlisted posters."""
    listed = [poster for poster in dataset.posters if poster in by_poster]
    others = [poster for poster in by_poster if poster not in set(listed)]
    return [
        _result_row(dataset, model, poster, by_poster[poster])
        for poster in (*listed, *others)
        if not by_poster[poster].is_empty
    ]


def _result_row(dataset: Dataset, model: str, poster: str, artifacts: PosterArtifacts) -> ResultRow:
    record, meta = artifacts.record, artifacts.meta
    failure = _failure(artifacts)
    return {
        "suite": SUITE,
        "content_id": content_hash("prediction", model, poster, artifacts.content()),
        "provider": _provider(model, meta),
        "model": utf8(model),
        "task_set": utf8(dataset.name),
        "task_id": utf8(poster),
        "requested": json_text({"model": meta["requested_model"]})
        if "requested_model" in meta
        else None,
        "sent": _sent(meta),
        "availability_status": failure or "ok",
        "success": record.state in {"object", "no_object"},
        "failure_type": _failure_type(artifacts),
        "duration_seconds": number(meta.get("duration_sec")),
        "input_tokens": whole(meta.get("prompt_tokens")),
        "output_tokens": whole(meta.get("completion_tokens")),
        "cost_usd": artifacts.cost_usd,
        "cost_source": "recorded" if artifacts.cost_usd is not None else None,
        "raw_output": _text(artifacts),
        "parsed_output": record.json,
        "output_state": record.state,
        "extra": artifacts.extra,
        "source": utf8(record.source) if record.source is not None else None,
    }


def _text(artifacts: PosterArtifacts) -> str | None:
    text = artifacts.raw if artifacts.raw is not None else artifacts.record.text
    return None if text is None else utf8(text)


def _provider(model: str, meta: JsonObject) -> str | None:
    requested = meta.get("requested_model")
    kind = requested.partition(":")[0] if isinstance(requested, str) else model.partition("-")[0]
    return kind if kind in _PROVIDERS else None


def _sent(meta: JsonObject) -> str | None:
    names = ("model", "temperature", "seed", "max_tokens", "timeout_sec", "num_ctx")
    sent = {name: meta[name] for name in names if meta.get(name) is not None}
    return json_text(sent) if sent else None


def _failure(artifacts: PosterArtifacts) -> str | None:
    """Distinguish a failed request from an answer that is not JSON."""
    if artifacts.record.state != "missing" or not isinstance(artifacts.error, dict):
        return None
    reason = artifacts.error.get("request_error")
    if reason is None:
        return None
    return "rate_limited" if _RATE_LIMITED.search(str(reason)) else "error"


def _failure_type(artifacts: PosterArtifacts) -> str | None:
    """Return why there is no record, by the names that runs of `evalstore run` have."""
    if artifacts.record.state != "missing" or not isinstance(artifacts.error, dict):
        return None
    names = {"request_error": "request_error", "parse_error": "invalid_json"}
    return next((names[key] for key in names if artifacts.error.get(key) is not None), None)


def judgement_row(run_id: str, model: str, poster: str, artifacts: PosterArtifacts) -> JudgementRow:
    """Return the row of a judgement."""
    record = artifacts.record
    value = record.value if isinstance(record.value, dict) else {}
    judge = artifacts.meta.get("model")
    return {
        "suite": SUITE,
        "run_id": run_id,
        "content_id": content_hash("judgement", model, poster, artifacts.content()),
        "provider": _provider(model, {}),
        "model": utf8(model),
        "task_id": utf8(poster),
        "judge": utf8(judge) if isinstance(judge, str) else None,
        "overall_score": number(value.get("overall_score")),
        "document": record.json,
        "errors": json_text(value["errors"]) if "errors" in value else None,
        "cost_usd": artifacts.cost_usd,
        "meta": json_text(artifacts.meta) if artifacts.meta else None,
        "raw_output": _text(artifacts),
        "extra": json_text({"error": artifacts.error}) if artifacts.error is not None else None,
        "source": utf8(record.source) if record.source is not None else None,
    }
