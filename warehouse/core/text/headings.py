"""Headers of columns in words: what a column of a view is called on a page, with its unit."""

from __future__ import annotations

# Units at the end of a name.
_UNITS = {
    "_usd": "US$",
    "_ms": "ms",
    "_seconds": "s",
    "_bytes": "bytes",
}
_WORDS = {
    "n": "number",
    "run_id": "run",
    "task_id": "task",
    "result_id": "result",
    "run_date": "date",
    "last_date": "latest run",
    "seq": "place",
    "path": "file",
    "sha256": "SHA-256",
    "raw_bytes": "size, bytes",
    "byte_offset": "offset, bytes",
    "task_set": "task set",
    "n_results": "results",
    "n_cost_known": "results of known cost",
    "n_timed": "results with a time",
    "n_reported": "reported of",
    "n_scored": "scored tasks",
    "n_unanswered": "without an answer",
    "total_cost_usd": "total cost, US$",
    "mean_cost_usd": "mean cost, US$",
    "cost_per_passed_usd": "cost of a passed result, US$",
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "p50_ms": "median latency, ms",
    "p95_ms": "95th percentile, ms",
    "p99_ms": "99th percentile, ms",
    "value": "figure",
    "value_low": "low end of the 95 % interval",
    "value_high": "high end of the 95 % interval",
    "ran_at": "time of the run",
    "label": "name in the picture",
    "band": "band of tasks, 1 the easiest",
    "task_mean": "mean of the task",
    "model_mean": "mean of the model",
    "ttft_p50_ms": "median time to the first token, ms",
    "is_replay": "replay",
    "availability_status": "status",
    "failure_type": "kind of failure",
    "reported_text": "reported, as written",
    "recomputed_text": "recomputed, in full",
    "reducer_parameters": "parameters of the reducer",
}


def heading(name: str) -> str:
    """Return the header of a column: `n_models` is `models`, `wall_clock_ms` `wall clock, ms`."""
    if name in _WORDS:
        return _WORDS[name]
    for end, unit in _UNITS.items():
        if name.endswith(end) and name != end:
            return f"{_spaced(name.removesuffix(end))}, {unit}"
    return _spaced(name)


def _spaced(name: str) -> str:
    return name.removeprefix("n_").removeprefix("is_").replace("_", " ").strip() or name
