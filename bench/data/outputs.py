"""Outputs like those of models, generated from a seed, for benchmarks."""

import random

_WORDS = [
    "the",
    "server",
    "reports",
    "memory",
    "usage",
    "of",
    "about",
    "seven",
    "percent",
    "and",
    "disk",
    "is",
    "mostly",
    "idle",
    "so",
    "there's",
    "nothing",
    "to",
    "restart",
    "it's",
    "fine",
    "user's",
    "home",
    "logs",
    "show",
    "nginx",
    "502",
    "upstream",
    "TLS",
    "check",
    "failed",
    "don't",
    "run",
    "that",
    "command",
    "twice",
    "available",
    "total",
    "used",
    "free",
    "cache",
    "high",
    "low",
    "premium",
    "local",
    "route",
]
_SHORT = (
    "HEARTBEAT_OK", "high", "low", "16", "yes", "no", "2026-02-13", "OK", "I can't do that.",
    '{"route": "local", "reason": "quick fix"}',
    '```json\n{"route": "premium", "reason": "x"}\n```',
    "$ free -h", "`du -sh ~`", "<tool>exec</tool>", "- one\n- two\n- three", "The answer is 16.",
)  # fmt: skip
_VALIDATORS = (
    '{"type": "exact", "value": "HEARTBEAT_OK"}',
    '{"type": "one_of", "values": ["high", "low"]}',
    '{"type": "regex_fullmatch", "pattern": "[0-9]+"}',
    '{"type": "max_words", "value": 8}',
    '{"type": "max_sentences", "value": 1}',
    '{"type": "exact_bullets", "value": 3}',
    '{"type": "json_keys", "required_keys": ["route", "reason"]}',
    '{"type": "json_keys", "key_rules": {"route": {"type": "one_of", "values": ["local"]}}}',
    '{"type": "tool_invocation", "expected_tools": ["free", "exec"]}',
    '{"type": "noop"}',
)


def _sentence(rng: random.Random) -> str:
    words = rng.choices(_WORDS, k=rng.randint(4, 18))
    return " ".join(words).capitalize() + rng.choice(".....!?")


def _long_text(rng: random.Random, size: int) -> str:
    lines: list[str] = []
    while sum(map(len, lines)) < size:
        (kind,) = rng.choices(["bullet", "fence", "prose"], [10, 5, 85])
        if kind == "bullet":
            lines.append(f"- `{rng.choice(_WORDS)} -h` {_sentence(rng)}")
        elif kind == "fence":
            lines.append(f"```bash\n$ {rng.choice(_WORDS)} -h\n```")
        else:
            lines.append(" ".join(_sentence(rng) for _ in range(rng.randint(1, 3))))
    return "\n".join(lines)[:size]


def _json_answer(rng: random.Random) -> str:
    route = rng.choice(["local", "premium", "x"])
    return f'{{"route": "{route}", "reason": "{_sentence(rng)}"}}'


def _output(rng: random.Random) -> str:
    (kind,) = rng.choices(["short", "sentence", "json", "400", "4096"], [45, 30, 10, 10, 5])
    if kind == "short":
        return f"{rng.choice(_SHORT)}{' ' * rng.randint(0, 2)}{rng.randint(0, 10**6)}"
    if kind == "sentence":
        return _sentence(rng)
    return _json_answer(rng) if kind == "json" else _long_text(rng, int(kind))


def make_outputs(rows: int, seed: int = 7) -> tuple[list[str], list[str]]:
    """Return outputs, and the validator of each as JSON.

    45 % are a few words, 30 % a sentence, 10 % JSON, 10 % 400 characters, 5 % 4 KB; one in five
    rows repeats an earlier (output, validator).
    """
    rng = random.Random(seed)
    texts: list[str] = []
    validators: list[str] = []
    for _ in range(rows):
        if texts and rng.randrange(5) == 0:
            earlier = rng.randrange(len(texts))
            texts.append(texts[earlier])
            validators.append(validators[earlier])
        else:
            texts.append(_output(rng))
            validators.append(rng.choice(_VALIDATORS))
    return texts, validators
