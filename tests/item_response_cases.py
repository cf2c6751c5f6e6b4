"""Answers of systems to items: from a matrix, or drawn from known abilities."""

import numpy as np

from warehouse.engine.statistics.item_response import Cells


def cells_of(matrix, attempts=1.0):
    """Return the cells of a matrix of shares (systems, items), NaN where there is no answer."""
    system, item = np.nonzero(~np.isnan(matrix))
    n = np.full(len(system), attempts)
    return Cells(system, item, matrix[system, item] * n, n, *matrix.shape)


def drawn(n_systems, n_items, *, missing=0.0, slope_sd=0.0, seed=1):
    """Return abilities with a mean of 0, difficulties, slopes, and answers drawn from them."""
    draw = np.random.default_rng(seed)
    ability = draw.normal(0, 1, n_systems)
    ability -= ability.mean()
    difficulty = draw.normal(0, 1.5, n_items)
    log_slope = draw.normal(0, slope_sd, n_items)
    slope = np.exp(log_slope - log_slope.mean())
    chance = 1 / (1 + np.exp(-slope * (ability[:, np.newaxis] - difficulty)))
    answers = (draw.random(chance.shape) < chance).astype(float)
    answers[draw.random(chance.shape) < missing] = np.nan
    return ability, difficulty, slope, cells_of(answers)
