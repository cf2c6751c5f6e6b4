"""Runs an agent with tools by Inspect's offline model, or reads logs, in its environment.

`agents_of_inspect.py write FOLDER` or `read FOLDER`; each prints a line for each sample.
"""

import json
import sys

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.agent import as_tool, react
from inspect_ai.dataset import Sample
from inspect_ai.event import EventTreeSpan, ModelEvent, ToolEvent, event_tree, event_tree_walk
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.tool import ToolError, tool


@tool
def add():
    """Return a tool that fails for numbers below 0."""

    async def execute(x: int, y: int) -> int:
        """Add.

        Args:
            x: A number.
            y: A number.
        """
        if x < 0:
            raise ToolError("no numbers below 0")
        return x + y

    return execute


def model(calls):
    """Return the offline model, which calls tools; to count usage, it would load a tokenizer."""
    outputs = []
    for number, (name, arguments) in enumerate(calls):
        output = ModelOutput.for_tool_call("mockllm/model", name, arguments)
        output.usage = ModelUsage(
            input_tokens=100 + number, output_tokens=7, total_tokens=107 + number
        )
        outputs.append(output)
    return get_model("mockllm/model", custom_outputs=outputs, memoize=False)


def write(folder):
    """Run a sample of an agent with a sub-agent."""
    helper = react(name="helper", description="Helps.", tools=[add()])
    calls = [
        ("add", {"x": 1, "y": 2}),
        ("add", {"x": -1, "y": 2}),
        ("helper", {"input": "add"}),
        ("add", {"x": 2, "y": 2}),
        ("submit", {"answer": "4"}),
        ("submit", {"answer": "3"}),
    ]
    task = Task(
        [Sample(id="sum", input="What is 1 + 2?", target="3")],
        solver=react(tools=[add(), as_tool(helper)]),
        scorer=includes(),
        name="agents",
    )
    [log] = evaluate(task, model=model(calls), log_dir=folder, display="none")
    assert log.status == "success", log.error


if sys.argv[1] == "write":
    write(sys.argv[2])
for log in map(read_eval_log, list_eval_logs(sys.argv[2])):
    for sample in log.samples or ():
        models = [event for event in sample.events if isinstance(event, ModelEvent)]
        calls = [event for event in sample.events if isinstance(event, ToolEvent)]
        used = [event.output.usage for event in models if event.output.usage]
        tree = event_tree(sample.events)
        spans = event_tree_walk(tree, EventTreeSpan)
        found = {
            "trial_id": sample.uuid,
            "n_model_calls": len(models),
            "n_tool_calls": len(calls),
            "n_tool_errors": sum(event.error is not None for event in calls),
            "input_tokens": sum(usage.input_tokens for usage in used),
            "output_tokens": sum(usage.output_tokens for usage in used),
            "agents": sorted(span.name for span in spans if span.type == "agent"),
        }
        print(json.dumps(found))
