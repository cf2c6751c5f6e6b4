"""Spans of agents in every form: one trial per trace or task, and what evaluations say of it."""

import base64
import json
import random

import pytest
from peers import query
from support import digests, import_into, new_store

TRACE = "0af7651916cd43dd8448eb211c80319c"
START = 1_763_892_000_000_000_000


def attributes(**values):
    """Return OTLP attributes; `a__b` is written `a.b`."""

    def value(given):
        kinds = {str: "stringValue", bool: "boolValue", float: "doubleValue", int: "intValue"}
        return {kinds[type(given)]: str(given) if type(given) is int else given}

    return [{"key": k.replace("__", "."), "value": value(v)} for k, v in values.items()]


def span(n, parent=None, trace=TRACE, error=None, events=(), **values):
    made = {
        "traceId": trace,
        "spanId": f"{n:016x}",
        "name": f"span {n}",
        "startTimeUnixNano": str(START + n * 10**9),
        "endTimeUnixNano": str(START + (n + 1) * 10**9),
        "attributes": attributes(**values),
        "events": list(events),
        "status": {} if error is None else {"code": "STATUS_CODE_ERROR", "message": error},
    }
    return made if parent is None else {**made, "parentSpanId": f"{parent:016x}"}


def call(n, parent=None, **values):
    return span(
        n,
        parent,
        **{
            "gen_ai__operation__name": "chat",
            "gen_ai__request__model": "gpt",
            "gen_ai__usage__input_tokens": 10,
            "gen_ai__usage__output_tokens": 2,
            **values,
        },
    )


def agent(n, parent=None, name="planner", **values):
    return span(
        n, parent, gen_ai__operation__name="invoke_agent", gen_ai__agent__name=name, **values
    )


def evaluation(name="task_success", **values):
    fields = {f"gen_ai__evaluation__{key}": value for key, value in values.items()}
    return {
        "name": "gen_ai.evaluation.result",
        "attributes": attributes(gen_ai__evaluation__name=name, **fields),
    }


def otlp(*spans, service="bot"):
    resource = {"attributes": attributes(service__name=service)}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}


def write(path, *documents):
    path.write_text("".join(f"{json.dumps(each)}\n" for each in documents), "utf-8")
    return path


@pytest.fixture
def trials(tmp_path):
    """Return a function that imports documents, as lines, and returns the trials."""

    def imported(*documents, name="t.jsonl"):
        store = new_store(tmp_path / "store")
        imported.store = store
        imported.summary = import_into(store, write(tmp_path / name, *documents))
        return query(store, "FROM trials ORDER BY trial_id")

    return imported


@pytest.mark.slow
def test_parents_may_come_late_or_never(trials):
    child, orphan = call(2, parent=1), call(3, parent=99)
    (trial,) = trials(otlp(child), otlp(orphan), otlp(agent(1)))
    assert (trial["agent"], trial["n_steps"], trial["input_tokens"]) == ("planner", 3, 20)
    steps = query(trials.store, "FROM steps ORDER BY seq")
    assert [(s["step_id"][-1], s["parent_id"]) for s in steps] == [
        ("1", None),
        ("2", f"{1:016x}"),
        ("3", f"{99:016x}"),
    ]
    assert [step["agent"] for step in steps] == ["planner", "planner", None]


@pytest.mark.slow
def test_a_sub_agent_is_an_agent_below_an_agent(trials):
    models = {"gen_ai__response__model": "small"}
    (trial,) = trials(otlp(agent(1), call(2, 1), agent(3, 1, name="checker"), call(4, 3, **models)))
    assert json.loads(trial["models"]) == {"agent": "gpt", "subagent": "small"}
    assert trial["system"] == "planner (gpt, subagent small)"
    assert trial["model"] == "gpt"
    assert trial["harness"] == trial["run_id"] == "bot"
    assert trial["token_scope"] == "tree"


@pytest.mark.slow
def test_tokens_are_those_of_calls_only(trials):
    repeated = {"gen_ai__usage__input_tokens": 20, "gen_ai__usage__output_tokens": 4}
    outer = call(2, 1, **repeated)  # another instrumentation of the same calls
    (trial,) = trials(otlp(agent(1, **repeated), outer, call(3, 2), call(4, 2)))
    assert (trial["input_tokens"], trial["output_tokens"]) == (20, 4)


@pytest.mark.slow
def test_zero_tokens_are_unknown(trials):
    zero = {"gen_ai__usage__input_tokens": 0, "gen_ai__usage__output_tokens": 0}
    (trial,) = trials(otlp(call(1, **zero)))
    assert trial["input_tokens"] is trial["output_tokens"] is None
    assert trial["system"] == trial["model"] == "gpt"
    assert trial["passed"] is None
    assert trial["end_reason"] == "unknown"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("events", "passed"),
    [
        ([evaluation(score__value=1.0, score__label="pass")], True),
        ([evaluation(score__value=0.0)], False),
        ([evaluation("relevance", score__value=1.0)], None),
        ([evaluation("tone", score__label="fail"), evaluation(score__label="pass")], True),
        ([evaluation("a", score__label="fail"), evaluation("b", score__label="pass")], None),
        ([], None),
    ],
)
def test_the_verdict_is_what_evaluations_say(trials, events, passed):
    (trial,) = trials(otlp(agent(1), {**call(2, 1), "events": events}))
    assert trial["passed"] is passed
    scores = query(trials.store, "FROM result_scores WHERE position IS NOT NULL")
    assert len(scores) == len(events)


@pytest.mark.slow
@pytest.mark.parametrize("label", ["pass", "fail", "odd"])
def test_an_error_with_a_verdict_is_no_contradiction(trials, label):
    failed = agent(1, error="lost", events=[evaluation(score__label=label)])
    (trial,) = trials(otlp(failed))
    assert trial["end_reason"] == "error"
    assert trial["passed"] is {"pass": True, "fail": False, "odd": None}[label]
    assert not query(trials.store, "FROM checks.contradictory_outcomes")


@pytest.mark.slow
def test_evaluations_come_as_log_records_too(trials):
    def log(**ids):
        made = evaluation(score__label="fail")
        if "response" in ids:
            made["attributes"] += attributes(gen_ai__response__id=ids.pop("response"))
        record = {"eventName": made["name"], "attributes": made["attributes"], **ids}
        return {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}

    by_response = call(1, gen_ai__response__id="r1")
    other = {**call(2), "traceId": "f" * 32}
    found = trials(
        log(response="r1"), log(traceId="f" * 32), log(response="gone"), otlp(by_response, other)
    )
    assert [trial["passed"] for trial in found] == [False, False]
    (reject,) = query(trials.store, "FROM quarantine")
    assert (reject["line"], reject["reason"]) == (3, "evaluates an answer that the file lacks")


@pytest.mark.slow
def test_an_evaluation_of_a_trace_in_another_file_finds_its_trial(tmp_path):
    made = evaluation("tone", score__value=0.5)
    record = {"traceId": TRACE, "attributes": made["attributes"]}
    resource = {"attributes": attributes(service__name="bot")}
    logs = {"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": [record]}]}]}
    files = [write(tmp_path / "l.jsonl", logs), write(tmp_path / "s.jsonl", otlp(agent(1)))]
    found = []
    for n, order in enumerate((files, files[::-1])):
        store = new_store(tmp_path / f"store{n}")
        for path in order:
            import_into(store, path)
        found.append(digests(store))
        (score,) = query(store, "FROM result_scores JOIN trials USING (result_id)")
        assert (score["metric"], score["value"], score["trial_id"]) == ("tone", 0.5, TRACE)
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_trace_of_several_tasks_has_a_trial_for_each(trials):
    task = {"evals__task__id": "a"}
    found = trials(
        otlp(
            span(1),
            agent(2, 1, **task),
            call(3, 2),
            agent(4, 1, evals__task__id="b"),
            call(5, 4),
            call(6, 4),
        )
    )
    assert [(t["trial_id"], t["task_id"], t["n_steps"], t["input_tokens"]) for t in found] == [
        (f"{TRACE}/a", "a", 2, 10),
        (f"{TRACE}/b", "b", 3, 20),
    ]
    (around,) = query(trials.store, "FROM events")
    assert json.loads(around["document"])["name"] == "span 1"


@pytest.mark.slow
def test_a_root_with_an_error_ends_the_trial_but_a_tool_does_not(trials):
    tool = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "grep"}
    good = [agent(1), span(2, 1, error="no such file", **tool)]
    bad = span(1, trace="e" * 32, error="boom", gen_ai__operation__name="invoke_agent")
    broken, fine = trials(otlp(*good, bad))[::-1]
    assert (fine["recorded_end"], fine["n_tool_errors"], fine["end_reason"]) == (None, 1, "unknown")
    assert (broken["recorded_end"], broken["end_reason"]) == ("ERROR", "error")
    results = query(trials.store, "SELECT success, violation FROM results ORDER BY trial_id")
    assert [(r["success"], r["violation"]) for r in results] == [(True, None), (False, "boom")]
    (step,) = query(trials.store, "FROM steps WHERE kind = 'tool'")
    assert (step["name"], step["error"]) == ("grep", "no such file")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["base64", "long", "zero parent", "names"])
def test_ids_and_times_of_other_writers(trials, form):
    made = call(7)
    if form == "base64":
        made["traceId"] = base64.b64encode(bytes.fromhex(TRACE)).decode()
        made["spanId"] = base64.b64encode(bytes.fromhex(made["spanId"])).decode()
    elif form == "long":
        nanoseconds = int(made["startTimeUnixNano"])
        low = nanoseconds % 2**32
        made["startTimeUnixNano"] = {"low": low - 2**32 * (low >= 2**31), "high": nanoseconds >> 32}
    elif form == "zero parent":
        made["parentSpanId"] = "0" * 16
    else:
        made["traceId"] = "my-trace"
    (trial,) = trials(otlp(made))
    assert trial["trial_id"] == ("my-trace" if form == "names" else TRACE)
    assert str(trial["started_at"]) == "2025-11-23 10:00:07"
    (step,) = query(trials.store, "FROM steps")
    assert step["step_id"] == f"{7:016x}"


def plain(n=1, parent=None, **values):
    """Return the attributes and ids of a span that is not OTLP."""
    return {
        "name": f"span {n}",
        "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{n:016x}"},
        "parent_id": parent and f"0x{parent:016x}",
        "start_time": "2025-11-23T10:00:07.5Z",
        "end_time": "2025-11-23T10:00:08Z",
        "status": {"status_code": "UNSET"},
        "attributes": values,
        "resource": {"attributes": {"service.name": "bot"}},
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "attributes",
    [
        {"llm.request.type": "chat", "gen_ai.usage.prompt_tokens": 7, "gen_ai.system": "x"},
        {"openinference.span.kind": "LLM", "llm.token_count.prompt": 7},
        {"openinference": {"span": {"kind": "LLM"}}, "llm": {"token_count": {"prompt": 7}}},
        {"gen_ai.operation.name": "call_llm", "gen_ai.usage.input_tokens": "7"},
        {"ai.operationId": "ai.streamText.doStream", "ai.usage.inputTokens": 7},
        {"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 7, "llm.token_count.prompt": 9},
    ],
)
def test_names_of_attributes_by_convention(trials, attributes):
    (trial,) = trials(plain(**attributes))
    assert (trial["input_tokens"], trial["n_steps"]) == (7, 1)
    (step,) = query(trials.store, "FROM steps")
    assert step["kind"] == "model"
    assert json.loads(step["extra"]) == attributes


@pytest.mark.slow
@pytest.mark.parametrize(
    "document",
    [
        {"spans": [plain()], "final_output": "x"},
        [plain()],
        {"a": [plain()], "b": []},
        {"trace": {"id": TRACE}, "observations": [
            {"id": f"{1:016x}", "traceId": TRACE, "type": "SPAN", "startTime": "2025-11-23"}
        ]},
        {"trace": {"id": TRACE}, "observations": [
            {"id": f"{1:016x}", "traceId": TRACE, "type": "SPAN", "startTime": "2025-11-23"}
        ], "other": 1},
    ],
)  # fmt: skip
@pytest.mark.parametrize("indent", [None, 2])
def test_one_value_of_any_form(tmp_path, document, indent):
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(document, indent=indent), "utf-8")
    store = new_store(tmp_path / "store")
    assert import_into(store, tmp_path).n_quarantined == 0
    (trial,) = query(store, "FROM trials")
    assert (trial["trial_id"], trial["n_steps"]) == (TRACE, 1)


@pytest.mark.slow
def test_messages_that_calls_repeat_are_kept_once(trials):
    def message(role, text):
        return {"role": role, "parts": [{"type": "text", "content": text}]}

    asked = [message("user", "hi"), message("assistant", "hm"), message("user", "again")]
    texts = {
        "gen_ai__system_instructions": json.dumps([{"type": "text", "content": "be brief"}]),
        "gen_ai__input__messages": json.dumps(asked[:1]),
        "gen_ai__output__messages": json.dumps(asked[1:2]),
    }
    later = {
        **texts,
        "gen_ai__input__messages": json.dumps(asked),
        "gen_ai__output__messages": json.dumps([message("assistant", "hm")]),
    }
    trials(otlp(agent(1), call(2, 1, **texts), call(3, 1, **later)))
    rows = query(trials.store, "FROM messages ORDER BY seq")
    assert [(row["seq"], row["role"], row["text"]) for row in rows] == [
        (1, "system", "be brief"),
        (2, "user", "hi"),
        (3, "assistant", "hm"),
        (4, "user", "again"),
        (5, "assistant", "hm"),
    ]
    steps = query(trials.store, "FROM steps WHERE kind = 'model' ORDER BY seq")
    assert [(s["first_message"], s["last_message"]) for s in steps] == [(1, 3), (4, 5)]
    assert not any("hi" in step["extra"] for step in steps)


@pytest.mark.slow
@pytest.mark.parametrize(
    "attributes",
    [
        {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.contents.0.message_content.type": "text",
            "llm.input_messages.0.message.contents.0.message_content.text": "go",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "ls",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"p": 1}',
        },
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": '[{"role": "user", "content": "go"}]',
            "gen_ai.output.messages": json.dumps(
                [{"parts": [
                    {"type": "tool_call", "id": "c1", "name": "ls", "arguments": {"p": 1}}
                ]}]
            ),
        },
        {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.prompt.messages": '[{"role": "user", "content": [{"type": "text", "text": "go"}]}]',
            "ai.response.toolCalls": json.dumps(
                [{"toolCallId": "c1", "toolName": "ls", "input": '{"p": 1}'}]
            ),
        },
        {
            "llm.request.type": "chat",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "go",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "ls",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"p": 1}',
        },
    ],
)  # fmt: skip
def test_messages_by_convention(trials, attributes):
    trials(plain(**attributes))
    asked, answered = query(trials.store, "FROM messages ORDER BY seq")
    assert (asked["role"], asked["text"]) == ("user", "go")
    assert answered["role"] == "assistant"
    assert json.loads(answered["tool_calls"]) == [
        {"id": "c1", "function": "ls", "arguments": {"p": 1}}
    ]


@pytest.mark.slow
def test_parts_are_kept_where_text_and_calls_do_not_say_all(trials):
    text = {"type": "text", "content": "I look."}
    calls = [{"type": "tool_call", "id": f"c{n}", "name": "ls", "arguments": {}} for n in (1, 2)]
    odd = [calls[0] | {"index": 3}, {**calls[1], "type": "server_tool_call"}]
    for number, parts in enumerate(([text, *calls], [calls[0], text], [text, odd[0]], [odd[1]])):
        said = json.dumps([{"role": "assistant", "parts": parts}])
        trials(otlp(call(1, trace=f"{number:032x}", gen_ai__output__messages=said)))
    kept = query(trials.store, "SELECT parts FROM messages ORDER BY result_id, seq")
    found = {row["parts"] and json.dumps(json.loads(row["parts"])) for row in kept}
    assert found == {None, *map(json.dumps, ([calls[0], text], [text, odd[0]], [odd[1]]))}


@pytest.mark.slow
def test_messages_may_be_events(trials):
    events = [
        {"name": "gen_ai.user.message", "attributes": attributes(content="go", id="e1")},
        {"name": "gen_ai.choice", "attributes": attributes(message='{"content": "done"}')},
    ]
    trials(otlp({**call(1), "events": events}))
    rows = query(trials.store, "FROM messages ORDER BY seq")
    assert [(row["role"], row["text"], row["extra"]) for row in rows] == [
        ("user", "go", '{"id":"e1"}'),
        ("assistant", "done", None),
    ]


@pytest.mark.slow
def test_a_call_of_a_tool_has_arguments_and_result(trials):
    trials(otlp(agent(1), span(
        2, 1, gen_ai__operation__name="execute_tool", gen_ai__tool__name="ls",
        gen_ai__tool__call__id="c1", gen_ai__tool__call__arguments='{"p": 1}',
        gen_ai__tool__call__result="a\nb", input__value="ls p",
    )))  # fmt: skip
    (step,) = query(trials.store, "FROM steps WHERE kind = 'tool'")
    assert (step["name"], step["call_id"], step["text"]) == ("ls", "c1", "a\nb")
    assert json.loads(step["arguments"]) == {"p": 1}
    assert "result" not in step["extra"]
    assert json.loads(step["extra"])["input.value"] == "ls p"


@pytest.mark.slow
def test_pictures_are_kept_by_hash(trials):
    picture = "data:image/png;base64," + "A" * 200
    content = [{"type": "image_url", "image_url": {"url": picture}}]
    texts = json.dumps([{"role": "user", "content": content}])
    trials(otlp(call(1, gen_ai__input__messages=texts)))
    kept = str(query(trials.store, "FROM messages")) + str(query(trials.store, "FROM steps"))
    assert "sha256:" in kept
    assert "AAAA" not in kept


@pytest.mark.slow
def test_order_halves_and_repeats_change_nothing(tmp_path):
    documents = [
        otlp({**agent(1), "traceId": f"{n:032x}"}, {**call(2, 1), "traceId": f"{n:032x}"})
        for n in range(1, 9)
    ]
    whole = write(tmp_path / "whole.jsonl", *documents)
    half = write(tmp_path / "half.jsonl", *documents[:4])
    rest = write(tmp_path / "rest.jsonl", *documents[4:])
    found = []
    for n, files in enumerate(([whole], [half, whole, half], [rest, half, whole])):
        store = new_store(tmp_path / f"store{n}")
        for path in files:
            import_into(store, path)
        found.append(digests(store, without={"main.files"}))
    assert found[0] == found[1] == found[2]


@pytest.mark.slow
def test_a_trace_that_was_cut_off_grows(tmp_path):
    spans = [agent(1), call(2, 1), {**call(3, 1), "events": [evaluation(score__label="pass")]}]
    whole = write(tmp_path / "whole.jsonl", *map(otlp, spans))
    split = write(tmp_path / "split.jsonl", *map(otlp, spans[:1]))
    found = []
    for n, files in enumerate(([whole], [split, whole], [whole, split])):
        store = new_store(tmp_path / f"store{n}")
        for path in files:
            import_into(store, path)
        found.append(
            [query(store, "SELECT * EXCLUDE (batch, file_sha256) FROM steps ORDER BY seq")]
        )
        found[-1].append(query(store, "FROM trials"))
    assert found[0] == found[1] == found[2]
    assert found[0][1][0]["passed"] is True


@pytest.mark.slow
def test_what_cannot_be_used_is_rejected_with_its_place(trials):
    deep = "[" * 2000 + "]" * 2000
    nested = {"key": "x", "value": {"stringValue": deep}}
    good = {**call(1), "attributes": [*call(1)["attributes"], nested]}
    found = trials(otlp(good), 7, {"resourceSpans": [{"scopeSpans": [{"spans": [{"a": 1}]}]}]})
    assert len(found) == 1
    rejects = query(trials.store, "SELECT line, reason FROM quarantine ORDER BY line")
    assert [(row["line"], row["reason"]) for row in rejects] == [
        (line, "not a span: it has no ids of trace and span") for line in (2, 3)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "broken",
    [
        {"resourceSpans": [7]},
        {"resourceSpans": "x"},
        {"resourceSpans": [{"scopeSpans": {"a": 1}}]},
        {"resourceSpans": [{"scopeSpans": [None]}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": "x"}]}]},
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [7]}]}]},
    ],
)
def test_what_stands_where_spans_belong_is_rejected(trials, broken):
    assert len(trials(otlp(call(1)), broken)) == 1
    (reject,) = query(trials.store, "FROM quarantine")
    assert (reject["line"], reject["reason"][:5]) == (2, "not a")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_damage_is_never_a_crash(tmp_path, seed):
    rng = random.Random(seed)
    junk = [None, 7, -1.5, "x", [], {}, [1], {"a": [{}]}, True, "9" * 40, 1e300, ["a", "b"]]

    def damaged(value):
        if rng.random() < 0.08:
            return rng.choice(junk)
        if isinstance(value, dict):
            return {key: damaged(each) for key, each in value.items()}
        return list(map(damaged, value)) if isinstance(value, list) else value

    texts = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "x"}]}])
    one = otlp(
        agent(1, evals__task__id="a"),
        call(2, 1, gen_ai__input__messages=texts),
        span(3, 1, error="x", events=[evaluation(score__value=1.0)], tool__name="t"),
    )
    observation = {
        "id": "o",
        "traceId": "t",
        "type": "GENERATION",
        "startTime": "2025-01-01T00:00:00Z",
        "usageDetails": {"input": 1},
        "costDetails": {"total": 1.0},
        "metadata": {"a": 1},
    }
    trace = {"id": "t", "name": "n", "scores": [{"name": "s", "value": 1, "comment": "c"}]}
    export = {"trace": trace, "observations": [observation]}
    documents = [damaged(each) for each in (one, export, [plain(**{"llm.input_messages": [{}]})])]
    whole = tmp_path / "spans.jsonl"
    write(whole, one, *documents)
    store = new_store(tmp_path / "store")
    import_into(store, whole)
    assert query(store, "SELECT count(*) AS n FROM trials")[0]["n"] >= 1
