"""What a subset of tasks is worth, as rows and as sentences that the rows support."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.analysis.items.subsets import N_DRAWS

if TYPE_CHECKING:
    from warehouse.analysis.items.set_answers import SetAnswers
    from warehouse.analysis.items.subsets import Judgements

COLUMNS = (
    *("tasks", "n_tasks", "mean_absolute_error", "half_width", "coverage", "n_models", "n_draws"),
)
_NAMES = ("chosen", "random, same estimator", "random, plain mean")


def subset_rows(n_tasks: int, judged: Judgements) -> list[tuple[str | int | float, ...]]:
    """Return the chosen tasks and the two baselines; errors and half-widths from 0 to 1."""
    draws = (1, N_DRAWS, N_DRAWS)
    return [
        (
            *(name, n_tasks, round(each.mae, 4), round(each.half_width, 4)),
            *(round(each.coverage, 3), judged.n_models, n_draws),
        )
        for name, each, n_draws in zip(_NAMES, judged[:3], draws, strict=True)
    ]


def subset_sentences(n_tasks: int, judged: Judgements, answers: SetAnswers) -> list[str]:
    """Return what follows: how close the tasks come, and whether their choice helps."""
    apart = "family of models" if answers.has_families else "model"
    chosen, random, plain, _, n_models = judged
    first = (
        f"{n_tasks} of {len(answers.task_ids):,} tasks give the full score within "
        f"{_points(chosen.mae)} on average; the 90 % interval reaches {_points(chosen.half_width)} "
        f"to either side ({n_models} models, each {apart} predicted from the others)."
    )
    if answers.n_adaptive:
        runs = (
            "1 adaptive run" if answers.n_adaptive == 1 else f"{answers.n_adaptive} adaptive runs"
        )
        first += f" Answers of {runs} are left out: their tasks were chosen by the answers."
    if chosen.gain_over(plain)[0] <= 0:
        second = (
            "They are not shown to be better than as many random tasks with the plain mean, which "
            f"is off by {_points(plain.mae)}: draw tasks at random, and trust the plain mean."
        )
        return [first, second]
    second = f"Random tasks with the plain mean are off by {_points(plain.mae)}: more than these."
    if chosen.gain_over(random)[0] > 0:
        return [first, second]
    third = (
        f"Random tasks with the same estimator are off by {_points(random.mae)}; that the choice "
        "itself helps is not shown: it is the estimator that does."
    )
    return [first, f"{second} {third}"]


def _points(share: float) -> str:
    return f"{100 * share:.1f} points"
