"""Logs of agents' trials of any size; what the agents read are pieces of Python's sources."""

import json
import random
import sysconfig
import zipfile
from functools import cache
from pathlib import Path
from uuid import UUID

MODEL = "acme-large-2026"
SYSTEM = "You are an agent that solves tasks in a terminal. " * 8


@cache
def _sources():
    folder = Path(sysconfig.get_path("stdlib"))
    texts = [path.read_text("utf-8", "ignore") for path in sorted(folder.glob("*/*.py"))]
    return "\n".join(texts)


class Agent:
    """What an agent does, drawn by chance: its thoughts, commands, and what it reads."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def text(self, low, high):
        """Return some text: lines of sources."""
        size = self._random.randint(low, high)
        start = self._random.randrange(len(_sources()) - size)
        return _sources()[start : start + size]

    def thought(self):
        return self.text(100, 500)

    def command(self):
        return f"sed -n '{self.number(900)},{self.number(900)}p' {self.word()}/{self.word()}.py"

    def seen(self):
        return self.text(200, 3_000)

    def word(self):
        return "".join(self._random.choices("abcdefghijklmnopqrst", k=7))

    def number(self, high):
        return self._random.randint(1, high)

    def hex(self, n=32):
        return f"{self._random.getrandbits(n * 4):0{n}x}"

    def uuid(self):
        return str(UUID(self.hex()))

    def time(self, step, zone="Z"):
        """Return a time; steps take about half a minute."""
        at = step * 31 + self.number(20)
        hour, minute, second = at // 3600 % 24, at // 60 % 60, at % 60
        micro = self.number(999_999)
        return f"2026-03-01T{hour:02}:{minute:02}:{second:02}.{micro:06}{zone}"


def _write(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1), "utf-8")


def write_tau(folder, trials, steps):
    """Write results of tau2: a user and an agent that calls tools."""
    agent = Agent("tau")
    tasks = [
        {
            "id": str(n),
            "description": {"purpose": agent.text(50, 200), "notes": None},
            "user_scenario": {"persona": None, "instructions": agent.text(200, 600)},
            "evaluation_criteria": {"actions": [], "reward_basis": ["DB"]},
        }
        for n in range(trials)
    ]
    info = {
        "git_commit": agent.hex(40),
        "num_trials": 1,
        "user_info": {"implementation": "user_simulator", "llm": MODEL, "llm_args": {}},
        "agent_info": {"implementation": "llm_agent", "llm": MODEL, "llm_args": {}},
        "environment_info": {"domain_name": "airline", "policy": SYSTEM},
    }
    simulations = [
        {
            "id": agent.uuid(),
            "task_id": task["id"],
            "start_time": agent.time(0, ""),
            "end_time": agent.time(steps, ""),
            "duration": 31.0 * steps,
            "termination_reason": "user_stop",
            "agent_cost": 0.1,
            "user_cost": 0.1,
            "reward_info": {"reward": 1.0, "db_check": {"db_match": True, "db_reward": 1.0}},
            "messages": [one for at in range(steps) for one in _tau_step(agent, at)],
            "trial": 0,
        }
        for task in tasks
    ]
    document = {"timestamp": agent.time(0, ""), "info": info, "tasks": tasks}
    _write(folder / "airline.json", {**document, "simulations": simulations})


def _tau_step(agent, at):
    call_id, command = f"call_{agent.hex(28)}", {"command": agent.command()}
    call = {"id": call_id, "name": "read_file", "arguments": command, "requestor": "assistant"}
    function = {"arguments": json.dumps(command), "name": "read_file"}
    message = {"content": None, "role": "assistant", "function_call": None}
    message["tool_calls"] = [{"index": 0, "function": function, "id": call_id, "type": "function"}]
    yield {
        "role": "assistant",
        "content": agent.thought(),
        "tool_calls": [call],
        "turn_idx": 2 * at,
        "timestamp": agent.time(at, ""),
        "cost": agent.number(9_999) / 1e6,
        "usage": {"completion_tokens": agent.number(900), "prompt_tokens": agent.number(9_000)},
        "raw_data": {"finish_reason": "tool_calls", "index": 0, "message": message},
    }
    yield {
        "id": call_id,
        "role": "tool",
        "content": agent.seen(),
        "requestor": "assistant",
        "error": False,
        "turn_idx": 2 * at + 1,
        "timestamp": agent.time(at, ""),
    }


def write_mini_swe_agent(folder, trials, steps):
    """Write trajectories of mini-swe-agent."""
    agent = Agent("mini-swe-agent")
    for n in range(trials):
        name = f"django__django-{10_000 + n}"
        messages = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": agent.text(500, 2_000)},
        ]
        for at in range(steps):
            command, raw, moment = agent.command(), agent.seen(), 1.795e9 + at + agent.number(9) / 7
            seen = f"<returncode>0</returncode>\n<output>\n{raw}</output>"
            extra = {"actions": [{"command": command}], "cost": 0.01, "timestamp": moment}
            content = f"{agent.thought()}\n```bash\n{command}\n```"
            messages.append({"role": "assistant", "content": content, "extra": extra})
            extra = {"raw_output": raw, "returncode": 0, "timestamp": moment, "exception_info": ""}
            messages.append({"role": "user", "content": seen, "extra": extra})
        patch = agent.text(300, 2_000)
        final = {"exit_status": "Submitted", "submission": patch}
        messages.append({"role": "exit", "content": patch, "extra": final})
        info = {
            "model_stats": {"instance_cost": 0.01 * steps, "api_calls": steps},
            "config": {"agent": {"system_template": SYSTEM}, "model": {"model_name": MODEL}},
            "mini_version": "2.4.6",
            **final,
        }
        document = {"info": info, "messages": messages, "instance_id": name}
        document["trajectory_format"] = "mini-swe-agent-1.1"
        _write(folder / name / f"{name}.traj.json", document)


def write_atif(folder, trials, steps):
    """Write trajectories in ATIF."""
    agent = Agent("atif")
    for n in range(trials):
        _write(folder / f"trajectory_{n}.json", _trajectory(agent, steps))


def _trajectory(agent, steps):
    return {
        "schema_version": "ATIF-v1.5",
        "session_id": agent.uuid(),
        "agent": {"name": "openhands", "version": "1.1.0", "model_name": MODEL},
        "steps": [
            {"step_id": 1, "source": "system", "message": SYSTEM},
            {"step_id": 2, "source": "user", "message": agent.text(500, 2_000)},
            *(_atif_step(agent, at) for at in range(3, steps + 3)),
        ],
    }


def _atif_step(agent, at):
    call_id = f"call_{agent.hex(24)}"
    arguments = {"command": agent.command()}
    return {
        "step_id": at,
        "timestamp": agent.time(at),
        "source": "agent",
        "model_name": MODEL,
        "message": agent.thought(),
        "tool_calls": [
            {"tool_call_id": call_id, "function_name": "execute_bash", "arguments": arguments}
        ],
        "observation": {"results": [{"source_call_id": call_id, "content": agent.seen()}]},
        "metrics": {
            "prompt_tokens": agent.number(9_000),
            "completion_tokens": agent.number(900),
            "cost_usd": agent.number(9_999) / 1e6,
        },
    }


def write_harbor(folder, trials, steps):
    """Write a job of Harbor: trials with their trajectories."""
    agent = Agent("harbor")
    job = folder / "job"
    _write(job / "config.json", {"job_name": "job", "jobs_dir": "jobs", "n_attempts": 1})
    for n in range(trials):
        trial, task = f"task-{n}__{agent.word()}", {"path": f"tasks/task-{n}"}
        config = {"task": task, "trial_name": trial, "agent": {"name": "openhands"}}
        result = {
            "id": agent.uuid(),
            "task_name": f"task-{n}",
            "trial_name": trial,
            "task_id": task,
            "config": config,
            "agent_info": {"name": "openhands", "version": "1.1.0", "model_info": {"name": MODEL}},
            "agent_result": {"n_input_tokens": 9, "n_output_tokens": 8, "cost_usd": 0.5},
            "verifier_result": {"rewards": {"reward": 1.0}},
            "exception_info": None,
            "started_at": agent.time(0),
            "finished_at": agent.time(steps),
        }
        _write(job / trial / "config.json", config)
        _write(job / trial / "result.json", result)
        _write(job / trial / "agent" / "trajectory.json", _trajectory(agent, steps))


def write_otel(folder, trials, steps):
    """Write spans of OpenTelemetry GenAI, a trace a line; a call repeats the last messages only."""
    agent = Agent("otel")
    folder.mkdir(parents=True)
    with (folder / "traces.jsonl").open("w", encoding="utf-8") as file:
        for _ in range(trials):
            trace, root = agent.hex(), agent.hex(16)
            spans = [_span(agent, (trace, root, None), 0, "invoke_agent planner", "invoke_agent")]
            for at in range(1, steps + 1):
                spans += _otel_step(agent, trace, root, at)
            name = {"key": "service.name", "value": {"stringValue": "bot"}}
            scope = {"scope": {"name": "agents", "version": "1.2"}, "spans": spans}
            resource = {"resource": {"attributes": [name]}, "scopeSpans": [scope]}
            file.write(json.dumps({"resourceSpans": [resource]}) + "\n")


def _otel_step(agent, trace, root, at):
    call_id, arguments = f"call_{agent.hex(24)}", {"command": agent.command()}
    call = {"type": "tool_call", "id": call_id, "name": "bash", "arguments": arguments}
    said = [{"role": "assistant", "parts": [{"type": "text", "content": agent.thought()}, call]}]
    answer = {
        "gen_ai.request.model": MODEL,
        "gen_ai.usage.input_tokens": agent.number(9_000),
        "gen_ai.usage.output_tokens": agent.number(900),
        "gen_ai.output.messages": json.dumps(said),
    }
    yield _span(agent, (trace, agent.hex(16), root), at, f"chat {MODEL}", "chat", **answer)
    result = {
        "gen_ai.tool.name": "bash",
        "gen_ai.tool.call.id": call_id,
        "gen_ai.tool.call.arguments": json.dumps(arguments),
        "gen_ai.tool.call.result": agent.seen(),
    }
    ids = trace, agent.hex(16), root
    yield _span(agent, ids, at, "execute_tool bash", "execute_tool", **result)


def _span(agent, ids, at, name, operation, **values):
    trace, span_id, parent = ids
    start = 1_795_000_000_000_000_000 + at * 31 * 10**9 + agent.number(10**9)
    values = {"gen_ai.operation.name": operation, **values}
    return {
        "traceId": trace,
        "spanId": span_id,
        "parentSpanId": parent or "",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + agent.number(10**10)),
        "attributes": [
            {"key": k, "value": {"intValue": str(v)} if type(v) is int else {"stringValue": v}}
            for k, v in values.items()
        ],
        "status": {},
    }


def write_sessions(folder, trials, steps):
    """Write sessions of Claude Code."""
    agent = Agent("sessions")
    folder.mkdir(parents=True)
    for _ in range(trials):
        session, parent = agent.uuid(), None
        head = {"isSidechain": False, "userType": "external", "cwd": "/home/a/project"}
        head |= {"sessionId": session, "version": "2.0.76", "gitBranch": "main", "slug": "a-b-c"}
        with (folder / f"{session}.jsonl").open("w", encoding="utf-8") as file:
            for at in range(steps):
                for kind, message in _session_step(agent, at):
                    uuid = agent.uuid()
                    line = {"uuid": uuid, "parentUuid": parent, **head, "type": kind}
                    line |= {"message": message, "timestamp": agent.time(at)}
                    file.write(json.dumps(line) + "\n")
                    parent = uuid


def _session_step(agent, at):
    if at == 0:
        yield "user", {"role": "user", "content": agent.text(500, 2_000)}
    call_id, command = f"toolu_{agent.hex(24)}", {"command": agent.command()}
    text = {"type": "text", "text": agent.thought()}
    use = {"type": "tool_use", "id": call_id, "name": "Bash", "input": command}
    usage = {"input_tokens": agent.number(9_000), "output_tokens": agent.number(900)}
    message = {"id": f"msg_{agent.hex(24)}", "model": MODEL, "type": "message"}
    message |= {"role": "assistant", "content": [text, use], "stop_reason": "tool_use"}
    yield "assistant", {**message, "usage": usage}
    result = {"type": "tool_result", "tool_use_id": call_id, "content": agent.seen()}
    yield "user", {"role": "user", "content": [result]}


def write_inspect(folder, trials, steps):
    """Write an archive of Inspect: samples with the messages and events of an agent."""
    agent = Agent("inspect")
    folder.mkdir(parents=True)
    spec = {
        "eval_id": agent.hex(22),
        "run_id": agent.hex(22),
        "created": agent.time(0),
        "task": "agents",
        "task_id": agent.hex(22),
        "task_version": 0,
        "dataset": {"samples": trials, "sample_ids": list(range(trials))},
        "model": f"acme/{MODEL}",
        "config": {},
        "packages": {"inspect_ai": "0.3.285"},
    }
    start = {"version": 2, "eval": spec, "plan": {"name": "plan", "steps": [], "config": {}}}
    counts = {"total_samples": trials, "completed_samples": trials}
    stats = {"started_at": agent.time(0), "completed_at": agent.time(steps)}
    end = {**start, "status": "success", "results": counts, "stats": stats}
    path = folder / "2026-03-01T10-00-00_agents_x.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps(start))
        for n in range(trials):
            sample = json.dumps(_inspect_sample(agent, n, steps))
            archive.writestr(f"samples/{n}_epoch_1.json", sample)
        archive.writestr("header.json", json.dumps(end))


def _inspect_sample(agent, n, steps):
    question = {"id": agent.hex(22), "role": "user", "content": agent.text(500, 2_000)}
    messages, events, usage = [{**question, "source": "input"}], [], {}
    for at in range(steps):
        call_id, arguments = f"call_{agent.hex(24)}", {"cmd": agent.command()}
        call = {"id": call_id, "function": "bash", "arguments": arguments, "type": "function"}
        reply = {"id": agent.hex(22), "role": "assistant", "content": agent.thought()}
        reply |= {"source": "generate", "model": MODEL, "tool_calls": [call]}
        seen = {"id": agent.hex(22), "role": "tool", "content": agent.seen()}
        usage = {"input_tokens": agent.number(9_000), "output_tokens": agent.number(900)}
        usage["total_tokens"] = sum(usage.values())
        output = {"model": MODEL, "choices": [{"message": reply, "stop_reason": "tool_calls"}]}
        head = {"span_id": agent.hex(22), "timestamp": agent.time(at), "working_start": at * 31.0}
        model = {**head, "uuid": agent.hex(22), "event": "model", "model": f"acme/{MODEL}"}
        # As Inspect writes them: messages by reference, in a pool of the sample.
        model |= {"input": [], "input_refs": [[0, len(messages)]], "tools": [], "config": {}}
        model |= {"output": {**output, "usage": usage, "time": 3.5}, "completed": agent.time(at)}
        tool = {**head, "uuid": agent.hex(22), "event": "tool", "type": "function", "id": call_id}
        tool |= {"function": "bash", "arguments": arguments, "result": seen["content"]}
        events += [model, {**tool, "completed": agent.time(at)}]
        messages += [reply, {**seen, "tool_call_id": call_id, "function": "bash"}]
    final = {"model": MODEL, "choices": [{"message": messages[-2], "stop_reason": "stop"}]}
    return {
        "id": n,
        "epoch": 1,
        "input": question["content"],
        "target": "1",
        "messages": messages,
        "output": {**final, "completion": messages[-2]["content"], "time": 3.5},
        "scores": {"match": {"value": "C", "answer": "1"}},
        "metadata": {},
        "store": {},
        "events": events,
        "model_usage": {f"acme/{MODEL}": usage},
        "total_time": 31.0 * steps,
        "working_time": 30.0 * steps,
        "uuid": agent.hex(22),
        "attachments": {},
    }


WRITERS = {
    "tau": write_tau,
    "swe": write_mini_swe_agent,
    "atif": write_atif,
    "harbor": write_harbor,
    "otel": write_otel,
    "sessions": write_sessions,
    "inspect": write_inspect,
}
