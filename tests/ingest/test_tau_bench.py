"""tau-bench and tau2: all forms, two models, calls of both sides, what has no verdict."""

import base64
import json
import random
import re

import pytest
from peers import digests_after, query
from support import import_into, queried_store, traces

from ingest.discovery import find_files

START, END = "2026-01-02T03:04:05.5", "2026-01-02T03:05:05.5"


def call(call_id="c1", name="get_order", **fields):
    plain = {"id": call_id, "name": name, "arguments": {"order": 7}, "requestor": "assistant"}
    return {**plain, **fields}


def said(role, content, **fields):
    return {"role": role, "content": content, "tool_calls": None, **fields}


def result(content, call_id="c1", **fields):
    plain = {"id": call_id, "role": "tool", "content": content, "requestor": "assistant"}
    return {**plain, "error": False, **fields}


def usage(prompt, completion):
    return {"prompt_tokens": prompt, "completion_tokens": completion}


MESSAGES = [
    said("assistant", "Hi!", cost=0.0, usage=None, turn_idx=0),
    said("user", "Where is order 7?", cost=0.5, usage=usage(40, 4)),
    said("assistant", None, tool_calls=[call()], cost=0.25, usage=usage(100, 10)),
    result("lost"),
    said("assistant", "It is lost.", cost=0.25, usage=usage(120, 20)),
]


def simulation(n=1, **fields):
    plain = {
        "id": f"sim-{n}",
        "task_id": "0",
        "trial": 0,
        "seed": 3,
        "start_time": START,
        "end_time": END,
        "timestamp": END,
        "duration": 60.0,
        "termination_reason": "user_stop",
        "agent_cost": 0.5,
        "user_cost": 0.5,
        "reward_info": {"reward": 1.0, "reward_basis": ["DB"], "reward_breakdown": {"DB": 1.0}},
        "messages": MESSAGES,
    }
    return {**plain, **fields}


def info(**fields):
    plain = {
        "git_commit": "abc",
        "num_trials": 1,
        "max_steps": 200,
        "seed": 300,
        "user_info": {"implementation": "user_simulator", "llm": "sim", "llm_args": {}},
        "agent_info": {"implementation": "llm_agent", "llm": "gpt", "llm_args": {"t": 0.5}},
        "environment_info": {"domain_name": "retail", "policy": "# Retail policy"},
    }
    return {**plain, **fields}


def results(*simulations, **members):
    task = {
        "id": "0",
        "user_scenario": {"persona": None, "instructions": "Find order 7."},
        "evaluation_criteria": {"actions": []},
    }
    plain = {"timestamp": START, "info": info(), "tasks": [task]}
    return {**plain, "simulations": list(simulations), **members}


def v1_trial(task_id=0, trial=0, reward=1.0, **fields):
    function = {"name": "get_order", "arguments": '{"order": 7}'}
    plain = {
        "task_id": task_id,
        "reward": reward,
        "info": {
            "task": {"user_id": "u", "actions": [], "instruction": "Find it.", "outputs": ["7"]},
            "reward_info": {
                "reward": reward,
                "info": {"r_outputs": 1.0, "outputs": {"7": bool(reward)}},
                "actions": [],
            },
            "user_cost": 0.125,
        },
        "traj": [
            {"role": "system", "content": "# Airline agent policy\n\nBe kind."},
            said("assistant", None, tool_calls=[{"id": "c", "function": function}]),
            {"role": "tool", "tool_call_id": "c", "name": "get_order", "content": "7"},
        ],
        "trial": trial,
    }
    return {**plain, **fields}


def write(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def imported(folder, document=None, name="results.json", **options):
    if document is not None:
        write(folder / "logs" / name, document)
    store = queried_store(folder / "store")
    return store, import_into(store, folder / "logs", **options)


def trial_of(folder, **fields):
    """Return the only trial of a store that has read a simulation."""
    [row] = query(imported(folder, results(simulation(**fields)))[0], "FROM trials")
    return row


def test_a_simulation_is_a_trial_of_an_agent_and_a_user_simulator(tmp_path):
    store, _ = imported(tmp_path, results(simulation()))
    [row] = query(store, "FROM trials")
    expected = {
        "trial_id": "sim-1",
        "task_set": "retail",
        "task_id": "0",
        "attempt": 1,
        "system": "llm_agent (gpt, user sim)",
        "agent": "llm_agent",
        "model": "gpt",
        "passed": True,
        "end_reason": "solved",
        "recorded_end": "user_stop",
        "n_steps": 5,
        "n_tool_calls": 1,
        "n_tool_errors": 0,
        "input_tokens": 220,
        "output_tokens": 30,
        "cost_usd": 0.5,
        "token_scope": "own",
        "duration_ms": 60_000,
    }
    assert {name: row[name] for name in expected} == expected
    [run] = query(store, "FROM runs")
    assert (run["git_commit"], run["seed"], run["task_set"]) == ("abc", 300, "retail")
    [header] = query(store, "SELECT settings, task_hash, prompt FROM results")
    [task] = query(store, "SELECT task_hash, prompt FROM tasks")
    assert header == {"settings": "t 0.5", **task}
    assert task["prompt"] == "Find order 7."


def test_steps_name_their_messages_and_hold_no_text_again(tmp_path):
    store, _ = imported(tmp_path, results(simulation()))
    steps = query(store, "FROM steps ORDER BY seq")
    assert [step["kind"] for step in steps] == ["model", "user", "model", "tool", "model"]
    assert [step["model"] for step in steps] == ["gpt", "sim", "gpt", None, "gpt"]
    assert [(step["first_message"], step["text"]) for step in steps] == [
        (n, None) for n in range(1, 6)
    ]
    tool = steps[3]
    assert (tool["name"], tool["arguments"], tool["parent_id"]) == ("get_order", '{"order":7}', "3")
    texts = query(store, "SELECT text FROM lake.messages ORDER BY seq")
    assert [row["text"] for row in texts] == [each["content"] for each in MESSAGES]


def test_calls_of_the_user_errors_and_calls_without_a_result_are_told_apart(tmp_path):
    messages = [
        said("user", None, tool_calls=[call("u", "reboot", requestor="user")]),
        result("done", "u", requestor="user"),
        said("assistant", None, tool_calls=[call("a"), call("b")]),
        result("Error: no such order", "a", error=True),
    ]
    store, _ = imported(tmp_path, results(simulation(messages=messages)))
    [row] = query(store, "FROM trials")
    assert (row["n_steps"], row["n_tool_calls"], row["n_tool_errors"]) == (4, 3, 1)
    tools = query(store, "FROM steps WHERE kind = 'tool' ORDER BY seq")
    assert [(each["name"], each["role"], each["is_counted"]) for each in tools] == [
        ("reboot", "user", True),
        ("get_order", "agent", True),
        ("get_order", "agent", False),
    ]
    assert [each["error"] for each in tools] == [None, "Error: no such order", None]


def test_a_message_with_several_results_is_one_step(tmp_path):
    both = {"role": "tool", "tool_messages": [result("x", "a"), result("y", "b")]}
    messages = [said("assistant", None, tool_calls=[call("a"), call("b")]), both]
    row = trial_of(tmp_path, messages=messages)
    assert (row["n_steps"], row["n_tool_calls"]) == (2, 2)


def test_calls_with_equal_or_empty_ids_take_their_results_in_order(tmp_path):
    messages = [
        said("assistant", None, tool_calls=[call("", "one"), call("", "two")]),
        result("1", ""),
        result("2", ""),
    ]
    store, _ = imported(tmp_path, results(simulation(messages=messages)))
    assert [row["name"] for row in query(store, "FROM steps WHERE kind = 'tool' ORDER BY seq")] == [
        "one",
        "two",
    ]


@pytest.mark.parametrize(
    ("reason", "reward", "passed", "end"),
    [
        ("agent_stop", 0.0, False, "gave_up"),
        ("agent_stop", 1.0000001, True, "solved"),
        ("user_stop", 0.99, False, "gave_up"),
        ("max_steps", 0.0, False, "limit"),
        ("timeout", 0.0, False, "timeout"),
        ("too_many_errors", 0.0, False, "error"),
        ("agent_error", 0.0, False, "error"),
        ("user_stop", None, None, "unknown"),
        ("infrastructure_error", 0.0, None, "error"),
        (None, 1.0, True, "solved"),
    ],
)
def test_verdict_and_end_follow_from_reward_and_reason(tmp_path, reason, reward, passed, end):
    given = simulation(termination_reason=reason, reward_info={"reward": reward})
    store, _ = imported(tmp_path, results(given))
    [row] = query(store, "FROM trials")
    assert (row["passed"], row["end_reason"], row["recorded_end"]) == (passed, end, reason)
    assert not query(store, "FROM checks.contradictory_outcomes")


def test_a_simulation_without_reward_info_has_no_verdict(tmp_path):
    assert trial_of(tmp_path, reward_info=None)["passed"] is None


@pytest.mark.slow
def test_trials_that_the_infrastructure_ended_count_in_no_rate(tmp_path):
    broken = {"termination_reason": "infrastructure_error", "reward_info": {"reward": 0.0}}
    wrong = {"reward_info": {"reward": 0.0}}
    simulations = [
        simulation(1, trial=0),
        simulation(2, trial=1),
        simulation(3, trial=2, **wrong),
        simulation(4, trial=3, **broken),
    ]
    store, _ = imported(tmp_path, results(*simulations))
    rows = query(store, "SELECT k, pass_hat_k FROM pass_at_k ORDER BY k")
    assert [row["k"] for row in rows] == [1, 2, 3]
    assert [row["pass_hat_k"] for row in rows] == pytest.approx([2 / 3, 1 / 3, 0.0])
    zero = query(store, "FROM lake.result_scores WHERE metric = 'reward' AND value = 0")
    assert len(zero) == 1


@pytest.mark.slow
def test_unknown_tokens_and_costs_are_null_and_not_the_sum_of_what_is_known(tmp_path):
    row = trial_of(tmp_path, agent_cost=None, user_cost=None)
    assert (row["cost_usd"], row["input_tokens"]) == (None, 220)
    only_user = [said("user", "x", cost=0.5, usage=usage(40, 4)), said("assistant", "y")]
    row = trial_of(tmp_path / "user", messages=only_user, agent_cost=None)
    assert row["cost_usd"] is row["input_tokens"] is row["output_tokens"] is None
    assert row["token_scope"] is None


def test_checks_say_whether_they_are_in_the_basis_of_the_reward(tmp_path):
    reward_info = {
        "reward": 0.0,
        "reward_basis": ["DB", "COMMUNICATE"],
        "reward_breakdown": {"DB": 0.0, "COMMUNICATE": 1.0},
        "db_check": {"db_match": False, "db_reward": 0.0},
        "action_checks": [{"action": {"action_id": "a_1"}, "action_match": True}],
        "communicate_checks": [{"info": "7", "met": True, "justification": "said"}],
        "nl_assertions": [{"nl_assertion": "kind", "met": False, "justification": "rude"}],
        "env_assertions": None,
    }
    store, _ = imported(tmp_path, results(simulation(reward_info=reward_info)))
    rows = query(store, "FROM lake.result_scores ORDER BY position")
    found = [(row["metric"], row["check_class"], row["passed"], row["counts"]) for row in rows]
    assert found == [
        ("reward", None, False, None),
        ("reward DB", "reward", None, True),
        ("reward COMMUNICATE", "reward", None, True),
        ("db", "db", False, True),
        ("action a_1", "action", True, False),
        ("communicate 1", "test", True, True),
        ("nl_assertion 1", "test", False, False),
    ]
    assert rows[6]["explanation"] == "rude"


@pytest.mark.slow
def test_a_changed_user_simulator_is_another_system(tmp_path):
    other = info(user_info={"implementation": "user_simulator", "llm": "other"})
    write(tmp_path / "logs" / "a.json", results(simulation(1)))
    write(tmp_path / "logs" / "b.json", results(simulation(2), info=other))
    rows = query(imported(tmp_path)[0], "SELECT system FROM trials ORDER BY system")
    assert [row["system"] for row in rows] == [
        "llm_agent (gpt, user other)",
        "llm_agent (gpt, user sim)",
    ]


def test_without_a_model_no_two_runs_share_a_system(tmp_path):
    unnamed = info(agent_info={"implementation": "llm_agent"})
    write(tmp_path / "logs" / "a.json", results(simulation(1), info=unnamed))
    write(tmp_path / "logs" / "b.json", results(simulation(2), info=unnamed, timestamp=END))
    rows = query(imported(tmp_path)[0], "SELECT system, model FROM trials")
    assert len({row["system"] for row in rows}) == 2
    assert {row["model"] for row in rows} == {None}


def layout(folder):
    """Write a run twice, a run of the folder form, trials of the first version, a submission."""
    twice = results(simulation(1), simulation(2, trial=1))
    for name in ("tau2_output/results.json", "tau2_artifacts/copy.json"):
        write(folder / name, twice)
    index = results(timestamp=END, simulation_index=[{"id": "sim-3"}])
    del index["simulations"]
    write(folder / "voice" / "results.json", index)
    for n in (3, 4):
        write(folder / "voice" / "simulations" / f"sim-{n}.json", simulation(n, trial=n))
    write(folder / "gpt-airline.json", [v1_trial(), v1_trial(1), v1_trial(trial=1, reward=0.0)])
    write(folder / "new" / "submission.json", submission())
    return folder


def submission():
    return {
        "model_name": "M",
        "submitting_organization": "O",
        "submission_date": "2026-01-02",
        "results": {
            "retail": {"pass_1": 50.0, "pass_2": None, "cost": 0.5, "retrieval_config": "bm25"}
        },
        "methodology": {"tau2_bench_version": "1.0.1", "user_simulator": "u"},
    }


@pytest.mark.slow
def test_the_same_run_in_two_files_is_one_and_a_folder_has_all_its_simulations(tmp_path):
    store, summary = imported(layout(tmp_path / "logs").parent)
    assert summary.n_results == 7
    assert summary.n_quarantined == 0
    rows = query(store, "SELECT trial_id FROM trials WHERE task_set = 'retail' ORDER BY trial_id")
    assert [row["trial_id"] for row in rows] == ["sim-1", "sim-2", "sim-3", "sim-4"]


@pytest.mark.slow
def test_any_order_of_imports_gives_the_same_store(tmp_path):
    files = sorted(find_files([layout(tmp_path / "logs")]).readers)
    expected = digests_after(tmp_path / "a", files)
    assert digests_after(tmp_path / "b", *([path] for path in reversed(files))) == expected
    assert digests_after(tmp_path / "c", files[::2], files[1::2], files) == expected


@pytest.mark.slow
def test_a_file_that_grew_adds_trials_and_another_verdict_is_a_conflict(tmp_path):
    path = write(tmp_path / "logs" / "results.json", results(simulation(1)))
    store, _ = imported(tmp_path)
    write(path, results(simulation(1), simulation(2, trial=1)))
    assert import_into(store, path).n_results == 1
    write(path, results(simulation(1)))
    assert import_into(store, path).n_results == 0
    write(path, results(simulation(1, reward_info={"reward": 0.0}), simulation(2, trial=1)))
    assert "conflicts with run" in import_into(store, path).messages[0]
    [row] = query(store, "SELECT count(*) AS n, bool_and(passed) AS passed FROM trials")
    assert row == {"n": 2, "passed": True}


@pytest.mark.parametrize("members", [{"simulations": []}, {}])
def test_results_without_simulations_are_named(tmp_path, members):
    document = {"timestamp": START, "info": info(), "tasks": [], **members}
    store, summary = imported(tmp_path, document)
    assert summary.n_quarantined == 0
    assert any("0 simulations in this file" in each for each in summary.messages)
    assert query(store, "FROM runs") == []


def test_what_is_said_in_ticks_is_the_conversation_of_a_call(tmp_path):
    sound = base64.b64encode(random.Random(1).randbytes(3000)).decode()
    ticks = [
        {"tick_id": 0, "agent_chunk": said("assistant", "Hi", audio_content=sound)},
        {"tick_id": 1, "agent_chunk": said("assistant", None), "user_chunk": None},
        {"tick_id": 2, "user_chunk": said("user", sound, is_audio=True)},
        {
            "tick_id": 3,
            "agent_chunk": None,
            "agent_tool_calls": [call()],
            "agent_tool_results": [result("lost")],
        },
    ]
    document = results(simulation(messages=None, ticks=ticks, mode="full_duplex"))
    store, _ = imported(tmp_path, document)
    [row] = query(store, "FROM trials")
    assert (row["n_steps"], row["n_tool_calls"]) == (4, 1)
    messages = query(store, "FROM lake.messages ORDER BY seq")
    assert [each["text"] for each in messages] == ["Hi", None, None, "lost"]
    assert re.fullmatch(
        r"sha256:[0-9a-f]{64}", json.loads(messages[1]["extra"])["sha256"]["content"]
    )
    [extra] = query(store, "SELECT extra FROM results")
    assert json.loads(extra["extra"])["n_ticks"] == 4
    assert sound not in str(query(store, "FROM lake.messages"))


def test_the_policy_that_each_simulation_repeats_is_kept_once(tmp_path):
    same, other = simulation(1, policy="# Retail policy"), simulation(2, policy="another")
    store, _ = imported(tmp_path, results(same, other))
    rows = query(store, "SELECT trial_id, extra FROM results ORDER BY trial_id")
    assert [json.loads(row["extra"]).get("policy") for row in rows] == [None, "another"]


def test_a_reply_of_the_provider_is_kept_without_what_the_message_says(tmp_path):
    reply = {"id": "r", "choices": [{"message": {"content": "Hello", "refusal": None}}]}
    messages = [said("assistant", "Hello", raw_data=reply)]
    store, _ = imported(tmp_path, results(simulation(messages=messages)))
    [row] = query(store, "SELECT extra FROM lake.messages")
    assert json.loads(row["extra"])["raw_data"] == {"id": "r", "choices": [{"message": {}}]}


def test_trials_of_the_first_version_have_made_ids_and_no_tokens(tmp_path):
    failed = v1_trial(1, reward=0.0, info={"error": "APIError", "traceback": "…"}, traj=[])
    document = [failed, v1_trial(), v1_trial(trial=1, reward=0.0)]
    store, _ = imported(tmp_path, document, name="gpt-airline.json")
    rows = query(store, "FROM trials ORDER BY trial_id")
    assert [row["trial_id"] for row in rows] == [
        "gpt-airline.json/0/0",
        "gpt-airline.json/0/1",
        "gpt-airline.json/1/0",
    ]
    assert [row["passed"] for row in rows] == [True, False, False]
    assert [row["end_reason"] for row in rows] == ["solved", "gave_up", "error"]
    assert [row["n_steps"] for row in rows] == [3, 3, 0]
    assert [row["n_tool_calls"] for row in rows] == [1, 1, 0]
    assert {row["task_set"] for row in rows} == {"airline v1"}
    assert {row["model"] for row in rows} == {row["input_tokens"] for row in rows} == {None}
    [tool] = query(store, "SELECT DISTINCT name, arguments FROM steps WHERE kind = 'tool'")
    assert tool == {"name": "get_order", "arguments": '{"order":7}'}
    [task] = query(store, "FROM tasks")
    assert task["prompt"] == "Find it."
    checks = query(store, "SELECT DISTINCT passed FROM lake.result_scores WHERE metric LIKE 'com%'")
    assert {row["passed"] for row in checks} == {True, False}


@pytest.mark.slow
def test_a_submission_reports_figures_that_no_trial_recomputes(tmp_path):
    store, _ = imported(tmp_path, submission(), name="submission.json")
    rows = query(store, "FROM metric_audit ORDER BY metric")
    found = [(row["metric"], row["reported"], row["recomputed"], row["reason"]) for row in rows]
    reason = "trajectories are not in the repository"
    assert found == [
        ("retail.cost", 0.5, None, reason),
        ("retail.pass_1", 50.0, None, reason),
    ]
    [run] = query(store, "SELECT versions, config FROM runs")
    assert json.loads(run["versions"]) == {"tau2-bench": "1.0.1"}


def test_neither_the_schema_of_submissions_nor_logs_of_other_tools_are_claimed(tmp_path):
    schema = {"properties": {"model_name": {}, "results": {"pass_1": {}}}}
    write(tmp_path / "logs" / "schema.json", schema)
    write(tmp_path / "logs" / "x_enhanced_logs.json", results(simulation()))
    store, summary = imported(tmp_path)
    assert query(store, "FROM results") == []
    assert summary.n_quarantined == 0


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (results(simulation(1), 7), "1 simulations are not objects"),
        (results(simulation(task_id=None)), "simulation 1: has no `task_id`"),
        (json.dumps(results(simulation()))[:-30], "end"),
        ([v1_trial(), 7], "trial 2: not a JSON object"),
        ([v1_trial(), v1_trial(task_id=None)], "trial 2: has no `task_id`"),
        (json.dumps([v1_trial(), v1_trial(1)])[:-30], "not JSON"),
        ('{"model_name": "M", "results": {"retail": {"pass_1": 1}}', "not JSON"),
    ],
)
def test_what_is_damaged_is_quarantined_with_the_reason(tmp_path, document, reason):
    store, summary = imported(tmp_path, document)
    assert summary.n_quarantined == 1
    [row] = query(store, "SELECT reason FROM quarantine")
    assert reason in row["reason"]


def test_odd_values_do_not_keep_a_trial_out(tmp_path):
    odd = {
        "trial": "x",
        "start_time": 7,
        "duration": "long",
        "agent_cost": [],
        "reward_info": {"reward": "1", "action_checks": [3, {"action": 4}], "db_check": []},
        "termination_reason": {},
        "messages": [7, {"role": 3, "tool_calls": [4, {"function": 5}], "usage": []}],
        "ticks": 4,
    }
    row = trial_of(tmp_path, **odd)
    assert row["passed"] is row["cost_usd"] is row["recorded_end"] is row["started_at"] is None
    assert (row["trial_id"], row["n_steps"], row["n_tool_calls"]) == ("sim-1", 1, 2)


def test_secrets_are_masked_in_quarantine_which_says_where_they_were(tmp_path):
    key = "sk-" + "proj-" + "Ab1" * 16
    broken = {"id": "x", "task_id": [], "note": f"export OPENAI_API_KEY={key}"}
    text = json.dumps(results(simulation(), broken), indent=1)
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "results.json").write_text(text, "utf-8")
    store = queried_store(tmp_path / "store")
    assert import_into(store, folder, redact=True).n_quarantined == 1
    assert traces(store, key) == []
    [row] = query(store, "FROM quarantine")
    begin = text.rindex("{", 0, text.index('"x"'))
    assert row["reason"] == "simulation 2: has no `task_id`"
    assert (row["line"], row["byte_offset"]) == (text[:begin].count("\n") + 1, begin)


@pytest.mark.parametrize("form", ["tau2", "v1"])
def test_secrets_of_all_parts_are_masked(tmp_path, form):
    key = "sk-" + "proj-" + "Ab1" * 16
    text = f"export OPENAI_API_KEY={key}"
    if form == "tau2":
        secret = simulation(messages=[said("assistant", text)])
        environment = {"domain_name": "retail", "policy": text}
        document = results(secret, info=info(environment_info=environment))
    else:
        document = [v1_trial(traj=[said("assistant", text)])]
    store, _ = imported(tmp_path, document, redact=True)
    tables = ("results", "runs", "lake.messages", "lake.steps", "systems")
    found = str([query(store, f"FROM {table}") for table in tables])
    assert key not in found
    assert "OPENAI_API_KEY" in found
