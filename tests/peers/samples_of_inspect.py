"""Prints what Inspect reads in a folder of logs, in its environment: a line for each sample."""

import json
import math
import sys

from inspect_ai.analysis import samples_df
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.scorer import value_to_float

as_float = value_to_float()


def scores_of(sample):
    """Return the scores that are single values, as numbers; None for one that is none."""
    single = {
        name: math.nan if (score.metadata or {}).get("is_text") else as_float(score.value)
        for name, score in (sample.scores or {}).items()
        if not isinstance(score.value, dict | list)
    }
    return {name: value if math.isfinite(value) else None for name, value in single.items()}


scores = {
    (log.eval.eval_id, str(sample.id), sample.epoch): (scores_of(sample), sample.output.completion)
    for log in map(read_eval_log, list_eval_logs(sys.argv[1]))
    for sample in log.samples or []
}
frame = samples_df(sys.argv[1], quiet=True)
assert len(frame) == len(scores)
for row in json.loads(frame.to_json(orient="records", double_precision=15)):
    values, completion = scores[row["eval_id"], row["id"], row["epoch"]]
    key = [row["eval_id"], row["id"], row["epoch"]]
    # Of a sample of unknown usage, Inspect's tokens are 0.
    seconds = None if row["total_time"] is None else round(row["total_time"], 6)
    columns = [row["total_tokens"] or 0, seconds, bool(row["error"])]
    print(json.dumps([*key, completion, *columns, values]))
