"""How well a judge finds a label, against gold labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from warehouse.engine.statistics.proportions import Interval
from warehouse.engine.statistics.shares import ShareEstimate, share_of_counts

if TYPE_CHECKING:
    from warehouse.engine.statistics.arrays import Floats


class LabelDetection(NamedTuple):
    """Shares, each with its 95 % interval, of one label against all others.

    Attributes:
        sensitivity: of items with the label, those to which the judge gave it (recall).
        specificity: of items without it, those to which the judge did not give it.
        precision: of items to which the judge gave it, those that have it.
        f1: the harmonic mean of sensitivity and precision; None where nobody gave the label.
    """

    sensitivity: ShareEstimate
    specificity: ShareEstimate
    precision: ShareEstimate
    f1: ShareEstimate


def label_detection(table: Floats, label: int) -> LabelDetection:
    """Return how well a judge finds a label; intervals are Wilson's.

    F1 is 2s / (1 + s) of the share s of items with the label in both among those with it in either
    (Hand, Christen and Kirielle 2021, Machine Learning 110, 451), and so are its ends.

    Args:
        table: items by gold label, in rows, and the judge's: shape (labels, labels). A reply that
            could not be read is a label of its own, and thus wrong.
        label: the number of the label.
    """
    hits = float(table[label, label])
    n_gold, n_judged = float(table[label].sum()), float(table[:, label].sum())
    n, n_either = float(table.sum()), n_gold + n_judged - hits
    return LabelDetection(
        sensitivity=share_of_counts(hits, n_gold),
        specificity=share_of_counts(n - n_either, n - n_gold),
        precision=share_of_counts(hits, n_judged),
        f1=_f1(share_of_counts(hits, n_either)),
    )


def _f1(overlap: ShareEstimate) -> ShareEstimate:
    if overlap.value is None or overlap.interval is None:
        return ShareEstimate(None, None)
    value, low, high = (2 * share / (1 + share) for share in (overlap.value, *overlap.interval))
    return ShareEstimate(value, Interval(low, high))
