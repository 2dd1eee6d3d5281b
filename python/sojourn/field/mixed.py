"""Effects as ratios: a mixed model of logarithms with a random level per home.

Source: preferred to percent deltas for new trials, since it needs no centring and says ratios:
`log(x) ~ C(treatment) + C(day) + C(hour) + (1 | probe)`, restricted maximum likelihood (statsmodels).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sojourn.field.libraries import formula_models
from sojourn.field.regression import usable_factors

MOST_LOG_ERROR = 10.0
"""Standard error of a logarithm above which none is known. chosen: a factor of 22,000 either way, which tests do not have; too few
tests leave the matrix that errors come from nearly singular, and its inverse is rounding."""


@dataclass(frozen=True, slots=True)
class RatioEffect:
    """A level against the reference, as a ratio; error and interval are NaN where the tests do not tell them."""

    factor: str
    level: str
    reference: str
    log_estimate: float
    log_error: float
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class MixedFit:
    """One fitted model."""

    target: str
    effects: tuple[RatioEffect, ...]
    probe_variance: float
    residual_variance: float
    converged: bool


def fit_mixed(rows: pl.DataFrame, factors: Sequence[tuple[str, Sequence[str]]], *, target: str = "") -> MixedFit | None:
    """Fit the model; `None` with fewer than two probes or no factor.

    Parameters
    ----------
    rows
        Columns `probe`, `value` (positive) and those of the factors.
    factors
        Name and levels of each factor, reference first.
    target
        What is being judged, for the result.
    """
    import pandas as pd

    formulas = formula_models()
    used, _ = usable_factors(rows, factors)
    if rows["probe"].n_unique() < 2 or not used:
        return None
    columns: dict[str, Any] = {"log_value": np.log(rows["value"].to_numpy()), "probe": rows["probe"].to_list()}
    for name, levels in used:
        columns[name] = pd.Categorical(rows[name].cast(pl.String).to_list(), categories=levels)
    terms = " + ".join(f"C({name})" for name, _ in used)
    model = formulas.mixedlm(f"log_value ~ {terms}", pd.DataFrame(columns), groups="probe")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = model.fit(reml=True)
        except np.linalg.LinAlgError:
            return None
    effects: list[RatioEffect] = []
    reference = {name: levels[0] for name, levels in used}
    for name, estimate in result.fe_params.items():
        factor, bracket, level = str(name).partition(")[T.")
        if not bracket:
            continue
        error = float(result.bse_fe[name])
        error = error if error <= MOST_LOG_ERROR else math.nan
        half = 1.959963984540054 * error
        effects.append(
            RatioEffect(
                factor=factor.removeprefix("C("),
                level=level.removesuffix("]"),
                reference=reference[factor.removeprefix("C(")],
                log_estimate=float(estimate),
                log_error=error,
                ratio=math.exp(estimate),
                low=math.exp(estimate - half),
                high=math.exp(estimate + half),
            )
        )
    return MixedFit(
        target=target,
        effects=tuple(effects),
        probe_variance=float(np.asarray(result.cov_re)[0, 0]),
        residual_variance=float(result.scale),
        converged=bool(result.converged),
    )
