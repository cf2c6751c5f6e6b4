"""What a column of a table can be: its role, and the names it usually has."""

from __future__ import annotations

import re
from dataclasses import dataclass

# The kinds of values that a role takes.
TEXT, NUMBER, INTEGER, BOOLEAN = "text", "number", "integer", "boolean"
TIME, DURATION, LIST = "time", "duration", "list"

_UNITS = ("ms", "milliseconds", "s", "sec", "secs", "seconds", "sekunden")


@dataclass(frozen=True, slots=True)
class Role:
    """What a column can be.

    Attributes:
        name: in mappings and in the proposal.
        kind: what its values must be.
        usual: usual names of such columns, as `plain_name` writes them, the likeliest first.
    """

    name: str
    kind: str
    usual: str

    @property
    def names(self) -> list[str]:
        """The usual names; those of durations with a unit first."""
        names = self.usual.split()
        if self.kind == DURATION:
            return [*(f"{name}_{unit}" for name in names for unit in _UNITS), *names]
        return names


ROLES = (
    Role("run", TEXT, "run_id run run_name experiment_id experiment job_id"),
    Role("model", TEXT, "model model_name model_id llm engine modell"),
    Role("provider", TEXT, "provider"),
    Role(
        "task_set",
        TEXT,
        "task_set dataset dataset_name benchmark benchmark_name eval eval_name subset subject",
    ),
    Role(
        "task",
        TEXT,
        "task_id item_id item question_id sample_id example_id prompt_id problem_id doc_id case_id "
        "test_case case task aufgabe fall uid id idx",
    ),
    Role("question", TEXT, "question problem query frage"),
    Role("prompt", TEXT, "prompt input instruction"),
    Role("choices", LIST, "choices options"),
    Role(
        "target",
        TEXT,
        "target reference expected expected_output expected_answer gold gold_answer ground_truth "
        "correct_answer reference_answer label ideal",
    ),
    Role(
        "output",
        TEXT,
        "output response completion generation model_output model_response generated_text answer "
        "antwort",
    ),
    Role("answer", TEXT, "extracted_answer parsed_answer prediction predicted pred answer"),
    Role(
        "passed",
        BOOLEAN,
        "passed pass is_pass has_passed correct is_correct right is_right verdict outcome result "
        "bestanden korrekt richtig",
    ),
    Role("cluster", TEXT, "cluster cluster_id"),
    Role("attempt", INTEGER, "attempt epoch repeat repetition trial replicate"),
    Role("cost", NUMBER, "cost_usd total_cost_usd price_usd usd cost total_cost kosten"),
    Role(
        "latency",
        DURATION,
        "latency e2e duration elapsed response_time runtime latenz dauer laufzeit time",
    ),
    Role("input_tokens", INTEGER, "input_tokens prompt_tokens n_input_tokens tokens_in"),
    Role("output_tokens", INTEGER, "output_tokens completion_tokens n_output_tokens tokens_out"),
    Role(
        "time",
        TIME,
        "started_at start_time timestamp datetime created_at created run_date date time tstamp",
    ),
    # Of tables with a row for each metric.
    Role("metric", TEXT, "metric metric_name measure"),
    Role("value", NUMBER, "value metric_value score"),
)
# Of tables of votes between two models: all that these may have, with some of the others.
VOTE_ROLES = (
    Role("model_a", TEXT, "model_a left model_left left_model model_1"),
    Role("model_b", TEXT, "model_b right model_right right_model model_2"),
    Role("winner", TEXT, "winner preferred preference vote"),
    Role("rater", TEXT, "rater rater_id worker worker_id annotator annotator_id judge user_id"),
    Role("pair", TEXT, "pair_id pair battle_id id"),
    Role("turn", INTEGER, "turn"),
    Role("first", TEXT, "first first_shown shown_first"),
    Role("answer_a", TEXT, "conversation_a answer_a response_a output_a"),
    Role("answer_b", TEXT, "conversation_b answer_b response_b output_b"),
)
BY_NAME = {role.name: role for role in (*ROLES, *VOTE_ROLES)}
NEEDED_OF_VOTES = frozenset({"model_a", "model_b", "winner"})
OF_VOTES = frozenset(
    {"run", "task_set", "task", "question", "prompt", "time"} | {role.name for role in VOTE_ROLES}
)
# Names of columns that say which answer stood left, and was read first.
LEFT = frozenset({"model_a", "left", "model_left", "left_model"})
LONG_ROLES = frozenset({"metric", "value"})

# Numbers that are settings, positions or facts of the task, not scores.
_NO_METRIC = re.compile(
    r"temperature|top_[pk]|seed|(max|num|n)_.*|.*_id|id|idx|index|row|line|unnamed.*|column_\d+"
    r"|index_level_\d+|rank|year|version|human_minutes|equal_task_weight"
)

# Names of models: a family at the start or behind the provider, or a number of parameters.
_MODEL = re.compile(
    r"(?:.*[/:])?(?:(?:chat)?gpt|o[1345](?=[-_ ]|$)|claude|sonnet|opus|haiku|gemini|gemma|palm"
    r"|llama|mistral|mixtral|ministral|magistral|codestral|qwen|qwq|deepseek|grok|phi|command|nova|falcon"
    r"|nemotron|olmo|kimi|glm|granite|jamba|vicuna|pythia|smollm|exaone|aya|internlm|baichuan|zephyr"
    r"|hermes|tulu|reka|ernie|hunyuan|minimax|yi)(?![a-z]).*|[a-z][\w.-]*/[\w.:-]+"
    r"|.*[-_ ]\d+(?:\.\d+)?b(?:[-_ :].*)?"
)
# Words of columns that hold something of a model, or a metric.
_NO_MODEL = re.compile(
    r"(?:.*_)?(?:scores?|acc(?:uracy)?|f1|em|bleu|rouge|recall|precision|rate|latency|time|duration"
    r"|cost|price|tokens|output|response|answer|judge|rating|reason|explanation|errors?|rank|ms|s"
    r"|usd|pass(?:ed)?|correct)(?:_.*)?"
)


def plain_name(column: str) -> str:
    """Return a column's name in lower case, with one underscore for anything but ASCII letters."""
    # Money is in dollars unless its column says otherwise.
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.replace("€", " eur"))
    return re.sub(r"[^a-z0-9]+", "_", spaced.casefold()).strip("_")


def may_be_metric(column: str) -> bool:
    """Return whether a column of numbers may hold scores, judged by its name."""
    return _NO_METRIC.fullmatch(plain_name(column)) is None


def may_be_model(column: str) -> bool:
    """Return whether a column is named like a model."""
    name = column.strip().casefold()
    return _MODEL.fullmatch(name) is not None and _NO_MODEL.fullmatch(plain_name(column)) is None


def unit_of_latency(column: str) -> str | None:
    """Return the unit, `ms` or `s`, that a column's name ends with; None if it does not say."""
    if re.search(r"_(ms|millis(econds)?)$", plain_name(column)):
        return "ms"
    return "s" if re.search(r"_(s|secs?|seconds|sekunden)$", plain_name(column)) else None
