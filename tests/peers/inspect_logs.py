"""Runs tasks with Inspect's offline model, in its environment: `inspect_logs.py QUESTIONS LOGS`."""

import json
import sys
from itertools import cycle
from pathlib import Path

from inspect_ai import Epochs, Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import (
    Score,
    accuracy,
    bootstrap_stderr,
    grouped,
    includes,
    mean,
    scorer,
    std,
    stderr,
    var,
)

QUESTIONS, LOGS = json.loads(Path(sys.argv[1]).read_text("utf-8")), sys.argv[2]
STATISTICS = [accuracy(), mean(), stderr(), std(), var(), bootstrap_stderr()]
REDUCERS = ["mean", "median", "mode", "max", "at_least_2", "pass_at_2"]
SAMPLES = [
    Sample(
        id=each["id"],
        input=each["question"],
        choices=each["choices"],
        target=each["answer"],
        metadata={"subject": each["subject"]},
    )
    for each in QUESTIONS
]


def model():
    """Return the offline model. Its usage is given: to count it, Inspect would load a tokenizer."""
    outputs = []
    for word in ("red", "green", "blue, perhaps red", "no idea", "green or blue"):
        output = ModelOutput.from_content("mockllm/model", word)
        output.usage = ModelUsage(input_tokens=10, output_tokens=2, total_tokens=12)
        outputs.append(output)
    return get_model("mockllm/model", custom_outputs=cycle(outputs), memoize=False)


@scorer(metrics=[mean(), stderr(), var()])
def length():
    """Score the length of an answer; one answer gets no score."""

    async def score(state, _target):
        text = state.output.completion
        return Score(value=float("nan") if text == "no idea" else len(text) / 3)

    return score


@scorer(metrics={"*": [mean(), stderr()]})
def parts():
    """Give several scores, and none to one sample, which fails."""

    async def score(state, target):
        if state.sample_id == "q3":
            raise ValueError("not today")
        text = state.output.completion
        return Score(value={"right": target.text in text, "words": len(text.split())})

    return score


TASKS = [
    Task(SAMPLES, scorer=includes(), metrics=STATISTICS, name="plain"),
    Task(SAMPLES, scorer=[includes(), length()], epochs=Epochs(3, REDUCERS), name="epochs"),
    Task(SAMPLES, scorer=parts(), fail_on_error=False, name="parts"),
    Task(
        SAMPLES,
        scorer=includes(),
        epochs=2,
        metrics=[
            accuracy(),
            stderr(cluster="subject"),
            grouped(accuracy(), "subject"),
            grouped(stderr(), "subject", name_template="error_{group_name}", all=False),
            grouped(mean(), "subject", name_template="{group_name}!", all="groups", all_label="!"),
        ],
        name="groups",
    ),
]
for log in evaluate(TASKS, model=model(), log_dir=LOGS, display="none", max_samples=4):
    assert log.status == "success", log.error
