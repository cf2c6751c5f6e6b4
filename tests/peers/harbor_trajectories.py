"""Harbor's own models, in its environment: `harbor_trajectories.py read FOLDER` or `write FOLDER`.

Each prints a line for each trajectory, of what Harbor itself has in it.
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from harbor.models.agent.context import AgentContext
from harbor.models.task.id import LocalTaskId
from harbor.models.trajectories import (
    Agent,
    FinalMetrics,
    Metrics,
    Observation,
    ObservationResult,
    Step,
    SubagentTrajectoryRef,
    ToolCall,
    Trajectory,
)
from harbor.models.trial.config import TaskConfig, TrialConfig
from harbor.models.trial.result import AgentInfo, ModelInfo, TrialResult
from harbor.models.verifier.result import VerifierResult
from harbor.utils.trajectory_utils import format_trajectory_json

START = datetime(2026, 1, 1, tzinfo=UTC)


def facts(trajectory):
    """Return what a trajectory has, with its sub-agents."""
    every = [trajectory, *(trajectory.subagent_trajectories or ())]
    own = [step for step in trajectory.steps if not step.is_copied_context]
    steps = [step for each in every for step in each.steps if not step.is_copied_context]
    metrics = [step.metrics for step in steps if step.metrics is not None]
    results = [each for step in steps if step.observation for each in step.observation.results]
    return {
        "trial_id": trajectory.trajectory_id,
        "n_steps": len(own),
        "n_tool_calls": sum(len(step.tool_calls or ()) for step in steps),
        "n_tool_errors": sum(bool((each.extra or {}).get("is_error")) for each in results),
        "input_tokens": sum(each.prompt_tokens or 0 for each in metrics),
        "output_tokens": sum(each.completion_tokens or 0 for each in metrics),
    }


def step(number, source="agent", seconds=0, **fields):
    """Return a step."""
    moment = START + timedelta(seconds=seconds)
    return Step(
        step_id=number,
        timestamp=moment.isoformat(),
        source=source,
        message=f"Za\u0308hle {number}",
        **fields,
    )


def trajectory(trial):
    """Return the trajectory of a trial with a sub-agent, repeated context and a failed call."""
    metrics = Metrics(
        prompt_tokens=100 + trial, completion_tokens=9, cached_tokens=50, cost_usd=0.5
    )
    calls = [
        ToolCall(tool_call_id=f"c{n}", function_name="bash", arguments={"cmd": ["ls", n]})
        for n in range(trial + 1)
    ]
    results = [
        ObservationResult(source_call_id="c0", content="gone", extra={"is_error": True}),
        ObservationResult(
            content="by itself",
            subagent_trajectory_ref=[SubagentTrajectoryRef(trajectory_id="sub")],
        ),
    ]
    sub = Trajectory(
        trajectory_id="sub",
        agent=Agent(name="helper", version="1", model_name="nano"),
        steps=[step(1, "user"), step(2, metrics=metrics, tool_calls=calls[:1])],
    )
    return Trajectory(
        session_id="session",
        trajectory_id=f"root-{trial}",
        agent=Agent(name="crab", version="2", model_name="acme/gpt"),
        steps=[
            step(1, "system"),
            step(2, "user", is_copied_context=True),
            step(3, metrics=metrics, tool_calls=calls, observation=Observation(results=results)),
            step(4, llm_call_count=0, seconds=9),
        ],
        final_metrics=FinalMetrics(
            total_prompt_tokens=2 * (100 + trial), total_completion_tokens=18, total_cost_usd=1.0
        ),
        subagent_trajectories=[sub],
    )


def write(folder):
    """Write the trials of a job, and yield their trajectories."""
    for trial in range(3):
        made = trajectory(trial)
        final = made.final_metrics
        result = TrialResult(
            task_name=f"task-{trial}",
            trial_name=f"task-{trial}__x",
            trial_uri=f"file:///jobs/j/task-{trial}__x",
            task_id=LocalTaskId(path=Path(f"tasks/task-{trial}")),
            task_checksum="0" * 64,
            config=TrialConfig(
                task=TaskConfig(path=Path(f"tasks/task-{trial}")), trials_dir=Path("jobs/j")
            ),
            agent_info=AgentInfo(
                name="crab", version="2", model_info=ModelInfo(name="gpt", provider="acme")
            ),
            agent_result=AgentContext(
                n_input_tokens=final.total_prompt_tokens,
                n_output_tokens=final.total_completion_tokens,
                cost_usd=final.total_cost_usd,
            ),
            verifier_result=VerifierResult(rewards={"reward": float(trial == 0)}),
            started_at=START,
            finished_at=START + timedelta(seconds=60),
        )
        inside = folder / result.trial_name
        (inside / "agent").mkdir(parents=True)
        (inside / "result.json").write_text(result.model_dump_json(indent=4), "utf-8")
        text = format_trajectory_json(made.to_json_dict())
        (inside / "agent/trajectory.json").write_text(text, "utf-8")
        yield str(result.id), made


if sys.argv[1] == "write":
    for trial_id, made in write(Path(sys.argv[2])):
        print(json.dumps({**facts(made), "trial_id": trial_id}))
else:
    for path in sorted(Path(sys.argv[2]).rglob("*.json")):
        print(json.dumps(facts(Trajectory.model_validate_json(path.read_bytes()))))
