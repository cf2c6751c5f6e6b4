"""A model as a scorer: the judge's prompt, its reply, and the record of its judgement."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runners.providers.base import Reply
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash
from warehouse.engine.scoring.custom.comparisons import parse_answer
from warehouse.engine.scoring.openclaw.verdicts import Verdict, undecided

if TYPE_CHECKING:
    from runners.engine.engine import CallOutcome
    from runners.models.model import Model
    from runners.plan import Cell
    from runners.providers.base import Request
    from warehouse.core.types import JudgementRow, ResultRow
    from warehouse.engine.scoring.custom.scorers import Rule

_FORM = (
    'Reply with a JSON object and nothing else: {"passed": true or false, "reason": "one sentence"}'
)
_PLACEHOLDER = re.compile(r"\{(prompt|answer|reference)\}")
_LONGEST_REASON = 500


def judge_request(rule: Rule, judge: Model, cell: Cell, answer: str) -> Request:
    """Return the call that judges an answer."""
    references = rule.get("references")
    texts = {
        "prompt": cell.task.prompt,
        "answer": answer,
        "reference": "\n".join(map(str, references if isinstance(references, list) else ())),
    }
    # In one pass: an answer may contain `{reference}` itself.
    prompt = _PLACEHOLDER.sub(lambda found: texts[found[1]], str(rule["prompt"]))
    text = f"{prompt}\n\n{_FORM}"
    return judge.request(text, task_id=f"judge {cell.task.task_id}", attempt=cell.attempt)


def read_reply(text: str) -> Verdict:
    """Return the verdict in a judge's reply: an object with `passed` and `reason`, nothing else.

    Any other reply gives no verdict, and the reason says what is wrong with it.
    """
    try:
        document = parse_answer(text)
    except ValueError as error:
        return undecided(f"judge: the reply is not JSON: {error}")
    if not isinstance(document, dict) or document.keys() != {"passed", "reason"}:
        return undecided("judge: the reply is not an object with `passed` and `reason`")
    passes, reason = document["passed"], document["reason"]
    if not isinstance(passes, bool) or not isinstance(reason, str):
        return undecided("judge: `passed` is not true or false, or `reason` is not text")
    if passes:
        return Verdict(objective_pass=True)
    return Verdict(objective_pass=False, violation=f"judge: {reason}"[:_LONGEST_REASON])


def verdict_of(outcome: CallOutcome) -> Verdict:
    """Return the verdict of a judge's call; a failed call gives none."""
    result = outcome.result
    if isinstance(result, Reply):
        return read_reply(utf8(result.text))
    failure = f"judge: {result.failure_type}: {result.text}"
    return undecided(utf8(failure)[:_LONGEST_REASON])


def judgement_row(
    judge: Model, cell: Cell, outcome: CallOutcome, judged: ResultRow
) -> JudgementRow:
    """Return the record of a judgement; a failed call is recorded too."""
    result = outcome.result
    text = utf8(result.text)
    is_verdict = isinstance(result, Reply) and read_reply(text).objective_pass is not None
    meta = {
        "provider": judge.provider,
        "prompt_tokens": result.input_tokens,
        "completion_tokens": result.output_tokens,
        "duration_sec": round(outcome.duration_seconds, 3),
        "cost_source": result.cost_source,
        "failure_type": None if isinstance(result, Reply) else result.failure_type,
    }
    return {
        "content_id": content_hash("judgement", judged["content_id"]),
        "result_id": judged["content_id"],
        "provider": cell.model.provider,
        "model": cell.model.name,
        "task_id": cell.task.task_id,
        "judge": judge.name,
        "document": json_text(parse_answer(text)) if is_verdict else None,
        "cost_usd": result.cost_usd,
        "meta": json_text({key: value for key, value in meta.items() if value is not None}),
        "raw_output": text,
    }
