"""What the spans of a trace say of its trials, once all of them were seen.

Parents come after their children, or never; so the spans are read twice. The first reading keeps
a few hundred bytes of each span; what follows from all of them is then known to the second.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.formats.common.trials import outcome, system_label, system_row
from ingest.formats.otel.attributes import count, first, integer, text
from ingest.formats.otel.messages import message_rows
from ingest.formats.otel.spans import langfuse_scores, moment, nanoseconds
from ingest.formats.otel.verdicts import verdict
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.common.trials import Models
    from ingest.formats.otel.spans import Evaluation, Span
    from warehouse.core.types import Json, JsonObject, MessageRow, ResultRow, SystemRow

_UNKNOWN_SERVICE = "unknown_service"
_NO_RUN = "traces"
_LAST = 2**63
_ZEROS = "0" * 16


@dataclass(slots=True)
class SpanFacts:
    """What the trial needs of a span.

    Attributes:
        n_messages: how many messages it has that no earlier span of the file has.
    """

    parent_id: str | None
    position: int
    start: int | None
    end: int | None
    kind: str
    name: str | None
    agent: str | None
    model: str | None
    tokens: tuple[int | None, int | None]
    task: str | None
    error: str | None
    n_messages: int = 0


@dataclass(slots=True, kw_only=True)
class Step:
    """Where a span is in its trial.

    Attributes:
        trial: the trial; None for a span around several trials.
        seq: position in the trial, from 1.
        first_message: seq of its first message.
        role: whose model made the call.
        repeats: whether it is a call that its child records too, with the same tokens.
    """

    trial: Trial | None
    seq: int
    first_message: int
    agent: str | None
    role: str | None
    repeats: bool


@dataclass(slots=True)
class Trial:
    """A trial: a trace, or the part of one that is about one task."""

    trial_id: str
    task: str | None
    spans: list[str] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)


@dataclass(slots=True)
class TraceFacts:
    """The spans of a trace in a file.

    Attributes:
        trace_id: the trace.
        facts: what is kept of each span, by its id.
        harness: service that made the outermost span, and its version.
        stated: what attributes say of the run, the task set and the attempt.
        steps: where each span is, once all were seen.
    """

    trace_id: str
    facts: dict[str, SpanFacts] = field(default_factory=dict)
    evaluations: list[Evaluation] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    steps: dict[str, Step] = field(default_factory=dict)
    harness: tuple[str | None, str | None] = (None, None)
    started: int | None = None
    trace_name: str | None = None
    agent_version: str | None = None
    prompt: Json = None
    answer: Json = None
    stated: dict[str, Json] = field(default_factory=dict)
    _outermost: tuple[bool, int] = (True, _LAST)
    _seen: set[int] = field(default_factory=set)

    def add(self, span: Span, position: int) -> None:
        """Add a span; one that comes again does not count."""
        if span.span_id in self.facts:
            return
        attributes = span.attributes
        if not self.facts and span.trace:
            self.started = nanoseconds(span.trace.get("timestamp"))
            name = span.trace.get("name")
            self.trace_name = name if isinstance(name, str) and name else None
            self.evaluations += langfuse_scores(span.trace, self.trace_id)
        self.facts[span.span_id] = SpanFacts(
            parent_id=span.parent_id,
            position=position,
            start=span.start,
            end=span.end,
            kind=span.kind,
            name=span.name,
            agent=text(attributes, "agent"),
            model=text(attributes, "model") if span.kind == "model" else None,
            tokens=tokens(span),
            task=text(attributes, "task"),
            error=span.error,
            n_messages=len(self.new_messages(span)),
        )
        self.evaluations += span.evaluations()
        for name in ("task_set", "run", "attempt"):
            if (value := first(attributes, name)) is not None:
                self.stated.setdefault(name, value)
        self._add_outermost(span)

    def add_evaluation(self, evaluation: Evaluation) -> None:
        """Add an evaluation that came apart from its span."""
        self.evaluations.append(evaluation)
        if not self.facts:
            self._name_service(evaluation.resource)

    def restart(self) -> None:
        """Forget which messages were seen, before the spans are read again."""
        self._seen = set()

    def _name_service(self, resource: JsonObject) -> None:
        service, version = (resource.get(f"service.{name}") for name in ("name", "version"))
        if isinstance(service, str) and not service.startswith(_UNKNOWN_SERVICE):
            self.harness = (service, version if isinstance(version, str) else None)

    def _add_outermost(self, span: Span) -> None:
        """Take from the outermost span what it says of the whole."""
        rank = (span.parent_id is not None, span.start or 0)
        if rank >= self._outermost:
            return
        self._outermost = rank
        self._name_service(span.resource)
        self.agent_version = text(span.attributes, "agent_version")
        is_call = span.kind == "model"
        self.prompt = None if is_call else first(span.attributes, "input")
        self.answer = None if is_call else first(span.attributes, "output")

    def new_messages(self, span: Span) -> list[MessageRow]:
        """Return the messages of a call that no earlier call of the trace has at their place."""
        if span.kind != "model":
            return []
        new = []
        for place, row in enumerate(message_rows(span)):
            shown = (row["role"], row["text"], row["tool_calls"], row["tool_call_id"])
            key = int(content_hash(place, *shown)[:16], 16)
            if key not in self._seen:
                self._seen.add(key)
                new.append(row)
        return new

    def finish(self) -> None:
        """Find the trials and the place of each span, now that all spans are known."""
        self.restart()
        tasks = {fact.task for fact in self.facts.values() if fact.task is not None}
        if len(tasks) > 1:
            self.trials = [Trial(f"{self.trace_id}/{task}", task) for task in sorted(tasks)]
        elif self.facts:
            self.trials = [Trial(self.trace_id, next(iter(tasks), None))]
        by_task = {trial.task: trial for trial in self.trials}
        alone = self.trials[0] if len(self.trials) == 1 else None
        n_steps: dict[str, int] = {}
        n_messages: dict[str, int] = {}
        repeated = self._repeated()
        for span_id in self._in_order():
            fact = self.facts[span_id]
            trial = alone or by_task.get(self._inherited(span_id))
            key = trial.trial_id if trial else ""
            n_steps[key] = n_steps.get(key, 0) + 1
            before = n_messages.get(key, 0)
            n_messages[key] = before + fact.n_messages
            agents = self._agents(span_id)
            self.steps[span_id] = Step(
                trial=trial,
                seq=n_steps[key],
                first_message=before + 1,
                agent=agents[0] if agents else None,
                role=None if fact.kind != "model" else "subagent" if len(agents) > 1 else "agent",
                repeats=span_id in repeated,
            )
            if trial is not None:
                trial.spans.append(span_id)
        for each in self.evaluations:
            step = self.steps.get(each.span_id or "")
            trial = (step.trial if step else None) or alone
            if trial is not None:
                trial.evaluations.append(each)

    def _in_order(self) -> list[str]:
        """Return the spans by their start, a span before those inside it."""

        def key(span_id: str) -> tuple[int, int, str]:
            fact = self.facts[span_id]
            return (fact.start or 0, -(fact.end or 0), span_id)

        return sorted(self.facts, key=key)

    def _above(self, span_id: str) -> Iterator[str]:
        """Yield a span and those around it, as far as the log has them."""
        seen: set[str] = set()
        at: str | None = span_id
        while at is not None and at in self.facts and at not in seen:
            seen.add(at)
            yield at
            at = self.facts[at].parent_id

    def _inherited(self, span_id: str) -> str | None:
        return next(filter(None, (self.facts[each].task for each in self._above(span_id))), None)

    def _agents(self, span_id: str) -> list[str | None]:
        """Return the agents around a span, the innermost first."""
        above = (self.facts[each] for each in self._above(span_id))
        return [fact.agent or fact.name for fact in above if fact.kind == "agent"]

    def _repeated(self) -> set[str]:
        """Return the calls of models whose children are calls with the same tokens in all."""
        below: dict[str, list[tuple[int, int]]] = {}
        for fact in self.facts.values():
            if fact.kind == "model" and fact.parent_id in self.facts and fact.tokens[0]:
                sums = (fact.tokens[0] or 0, fact.tokens[1] or 0)
                below.setdefault(str(fact.parent_id), []).append(sums)
        return {
            span_id
            for span_id, parts in below.items()
            if self.facts[span_id].kind == "model"
            and self.facts[span_id].tokens == (sum(p[0] for p in parts), sum(p[1] for p in parts))
        }

    @property
    def run_id(self) -> str:
        """The run: as stated, else the service and its version."""
        stated = self.stated.get("run")
        return (
            str(stated) if stated is not None else " ".join(filter(None, self.harness)) or _NO_RUN
        )

    def system(self, trial: Trial) -> SystemRow | None:
        """Return the system that a trial tested; None where it is a model without an agent."""
        roots = self._roots(trial)
        kinds = {self.facts[each].kind for each in trial.spans}
        models = self.models(trial)
        agents = (
            self.facts[each].agent for each in trial.spans if self.facts[each].kind == "agent"
        )
        agent = self.trace_name or next(filter(None, agents), None)
        if agent is None and models and "agent" not in kinds:
            return None
        label = None
        if agent is None:
            name = self.facts[roots[0]].name if roots else None
            label = system_label(name or "agent not recorded", None, models)
        return system_row(
            agent=agent,
            agent_version=self.agent_version,
            harness=self.harness[0],
            harness_version=self.harness[1],
            models=models,
            label=label,
        )

    def models(self, trial: Trial) -> Models:
        """Return the models of a trial's calls, by whose they are."""
        found: dict[str, list[str]] = {}
        for span_id in trial.spans:
            model, role = self.facts[span_id].model, self.steps[span_id].role
            if model is not None and role is not None and model not in found.setdefault(role, []):
                found[role].append(model)
        return {role: each[0] if len(each) == 1 else each for role, each in found.items()}

    def _roots(self, trial: Trial) -> list[str]:
        """Return the outermost spans of a trial: those without a parent, else those of agents."""
        own = set(trial.spans)
        is_part = len(self.trials) > 1
        inside = [each for each in trial.spans if self.facts[each].parent_id not in own]
        true = [each for each in inside if is_part or self.facts[each].parent_id in (None, _ZEROS)]
        return true or [each for each in inside if self.facts[each].kind == "agent"] or inside[:1]

    def outcome(self, trial: Trial) -> ResultRow:
        """Return what a result says of how its trial went, and when."""
        facts = [self.facts[each] for each in trial.spans]
        errors = (self.facts[each].error for each in self._roots(trial))
        error = next(filter(None, errors), None)
        row = outcome(
            passed=verdict(trial.evaluations),
            cause=None if error is None else "error",
            recorded_end=None if error is None else "ERROR",
            failure=None if error is None else "error",
            violation=error,
        )
        starts = [fact.start for fact in facts if fact.start is not None]
        ends = [fact.end for fact in facts if fact.end is not None]
        attempt = integer(self.stated.get("attempt"))
        return row | {
            "seq": len(facts),  # of two files with the trace, that with more of it says what it is
            "task_id": trial.task,
            "attempt": attempt if attempt is not None and 0 <= attempt < 2**31 else None,
            "trial_id": trial.trial_id,
            "token_scope": "tree",
            "started_at": moment(self.started or min(starts, default=None)),
            "ended_at": moment(max(ends, default=None)),
        }


def tokens(span: Span) -> tuple[int | None, int | None]:
    """Return the tokens of a call's prompt and answer; unknown if both are 0."""
    if span.kind != "model":
        return (None, None)
    found = count(span.attributes, "input_tokens"), count(span.attributes, "output_tokens")
    return found if any(found) else (None, None)
