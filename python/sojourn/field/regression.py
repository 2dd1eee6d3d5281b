"""The talk's regression of percent deltas, and the errors that correlated tests of one home call for.

Source: Klatsky 2016, "How did we analyze the data?" (linear regression on week, day of week and time of
day); type II analysis of variance for whole factors. Tests of one home are alike, so intervals clustered
by probe (CR1, t with one degree of freedom less than probes) are the ones to read; plain, HC3 and
bootstrap intervals stand beside them. statsmodels computes.
Deviations: a factor with one level, and one that says the same as another, is left out and named. Errors and tests for which
the degrees of freedom do not suffice, as in a pilot with one test of a treatment, are NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sojourn.field.libraries import formula_models, variance_analysis

LEVEL = 0.95

FEW_PROBES = 30
"""With fewer clusters the wild bootstrap is shown as well (Cameron, Gelbach, Miller 2008)."""

DRAWS = 9999
"""Of the wild bootstrap; chosen: an odd number, p values to 0.01 %."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A level of a factor against the reference level, in percentage points."""

    factor: str
    level: str
    reference: str
    estimate: float
    standard_error: float
    low: float
    high: float
    robust_error: float
    """HC3."""
    cluster_error: float
    """Clustered by probe; NaN with one probe."""
    cluster_low: float
    cluster_high: float
    homes: int
    """With tests of both levels."""
    tests: int
    """Of that level of the two which has fewer."""
    bootstrap_p: float = math.nan
    """Wild cluster bootstrap-t with Webb's weights; NaN where it was not asked for."""


@dataclass(frozen=True, slots=True)
class FactorTest:
    """Test of a whole factor."""

    factor: str
    degrees: int
    sum_squares: float
    f: float
    p: float
    robust_f: float
    robust_p: float
    cluster_f: float
    cluster_p: float
    partial_eta_squared: float
    partial_omega_squared: float


@dataclass(frozen=True)
class Fit:
    """One fitted model."""

    target: str
    observations: int
    probes: int
    residual_degrees: int
    residual_sd: float
    residual_sum_squares: float
    r_squared: float
    centring_factor: float
    """Factor of plain standard errors, since centring per probe uses degrees of freedom."""
    intercept: float
    intercept_error: float
    coefficients: tuple[Coefficient, ...]
    factors: tuple[FactorTest, ...]
    left_out: tuple[tuple[str, str], ...]
    """Factor and why it is not in the model."""
    residuals: np.ndarray
    fitted: np.ndarray

    def coefficient(self, factor: str, level: str) -> Coefficient:
        """Return one coefficient.

        Raises `KeyError` if the model has none of that name.
        """
        for found in self.coefficients:
            if (found.factor, found.level) == (factor, level):
                return found
        raise KeyError((factor, level))


def fit(
    rows: pl.DataFrame, factors: Sequence[tuple[str, Sequence[str]]], *, target: str = "", bootstrap: bool | None = None
) -> Fit:
    """Fit `delta ~ C(factor) + …` by least squares.

    Raises `MissingExtra` if statsmodels is not installed.

    Parameters
    ----------
    rows
        Columns `probe`, `delta` and those of the factors.
    factors
        Name and levels of each factor, reference first; levels that no row has are left out.
    target
        What is being judged, for the result.
    bootstrap
        Whether to add wild-bootstrap p values for the first factor; `None`: if there are few probes.
    """
    formulas = formula_models()
    used, left_out = usable_factors(rows, factors)
    frame = _frame(rows, used)
    terms = " + ".join(f"C({name})" for name, _ in used) or "1"
    model = formulas.ols(f"delta ~ {terms}", frame)
    plain = model.fit()
    groups = rows["probe"].rank("dense").cast(pl.Int64).to_numpy() - 1
    probes = int(groups.max()) + 1
    robust = plain.get_robustcov_results("HC3", use_t=True)
    clustered = plain.get_robustcov_results("cluster", groups=groups, use_t=True) if probes > 1 else None
    anova = variance_analysis().anova_lm(plain, typ=2) if used else None
    names: list[str] = list(plain.model.exog_names)
    if bootstrap is None:
        bootstrap = 1 < probes < FEW_PROBES
    p_values = (
        wild_bootstrap(np.asarray(model.exog), np.asarray(model.endog), groups, _columns(names, used[0][0]))
        if bootstrap and used and probes > 1
        else {}
    )
    return Fit(
        target=target,
        observations=int(plain.nobs),
        probes=probes,
        residual_degrees=int(plain.df_resid),
        residual_sd=math.sqrt(plain.mse_resid),
        residual_sum_squares=float(plain.ssr),
        r_squared=float(plain.rsquared),
        centring_factor=_centring(int(plain.nobs), len(names), probes),
        intercept=float(plain.params.iloc[0]),
        intercept_error=float(plain.bse.iloc[0]),
        coefficients=tuple(
            _coefficient(rows, name, levels, column, names, plain, robust, clustered, p_values)
            for name, levels in used
            for column in _columns(names, name)
        ),
        factors=tuple(_factor_test(name, names, plain, robust, clustered, anova) for name, _ in used),
        left_out=tuple(left_out),
        residuals=np.asarray(plain.resid),
        fitted=np.asarray(plain.fittedvalues),
    )


def usable_factors(
    rows: pl.DataFrame, factors: Sequence[tuple[str, Sequence[str]]]
) -> tuple[list[tuple[str, list[str]]], list[tuple[str, str]]]:
    """Return the factors that a model can use with the levels that occur, and the others with a reason."""
    used: list[tuple[str, list[str]]] = []
    left_out: list[tuple[str, str]] = []
    for name, levels in factors:
        present = set(rows[name].cast(pl.String).drop_nulls().to_list())
        occurring = [str(level) for level in levels if str(level) in present]
        occurring += sorted(present - set(occurring))
        if len(occurring) < 2:
            only = f': "{occurring[0]}"' if occurring and occurring[0] else ""
            left_out.append((name, f"it has one level{only}"))
            continue
        twin = next((other for other, _ in used if _says_the_same(rows, name, other)), None)
        if twin is not None:
            left_out.append((name, f"it follows from {twin}; this design cannot tell them apart"))
            continue
        columns = _dummies(rows, [*used, (name, occurring)])
        if columns.shape[1] >= rows.height:
            left_out.append((name, f"{rows.height} tests are too few for it"))
        elif np.linalg.matrix_rank(columns) < columns.shape[1]:
            left_out.append((name, "it follows from the others; this design cannot tell them apart"))
        else:
            used.append((name, occurring))
    return used, left_out


def wild_bootstrap(
    x: np.ndarray, y: np.ndarray, groups: np.ndarray, columns: Sequence[int], draws: int = DRAWS, seed: int = 1
) -> dict[int, float]:
    """Return p values of coefficients by the wild cluster bootstrap-t with the null imposed.

    Parameters
    ----------
    x, y
        Regressors of shape (n, k) and outcomes (n).
    groups
        Cluster of each row, from 0.
    columns
        Which coefficients.
    draws, seed
        Number of resamples and seed of their generator.

    Notes
    -----
    Webb's six-point weights (Webb 2014), for designs with few clusters.
    """
    inverse = np.linalg.inv(x.T @ x)
    clusters = [np.flatnonzero(groups == group) for group in range(int(groups.max()) + 1)]
    sums = np.zeros((len(clusters), len(y)))
    for number, members in enumerate(clusters):
        sums[number, members] = 1.0
    generator = np.random.default_rng(seed)
    webb = np.array([-math.sqrt(1.5), -1.0, -math.sqrt(0.5), math.sqrt(0.5), 1.0, math.sqrt(1.5)])
    weights = generator.choice(webb, size=(draws, len(clusters)))
    found: dict[int, float] = {}
    for column in columns:
        direction = inverse[column]
        # Scores of a coefficient: a row's part in it.
        part = x @ direction
        others = [k for k in range(x.shape[1]) if k != column]
        restricted = x[:, others]
        fitted = restricted @ np.linalg.lstsq(restricted, y, rcond=None)[0]
        residual = y - fitted
        t = _t_values(y[None, :], x, inverse, part, sums, column)[0]
        if not math.isfinite(t):
            continue  # homes that agree to the last digit do not say how much homes differ
        count = 0
        for chunk in np.array_split(weights, max(1, draws // 1000)):
            outcomes = fitted + residual * chunk[:, groups]
            count += int((np.abs(_t_values(outcomes, x, inverse, part, sums, column)) >= abs(t)).sum())
        found[column] = (count + 1) / (draws + 1)
    return found


def _t_values(
    outcomes: np.ndarray, x: np.ndarray, inverse: np.ndarray, part: np.ndarray, sums: np.ndarray, column: int
) -> np.ndarray:
    """Cluster-robust t of one coefficient for each row of outcomes (draws, n)."""
    estimates = outcomes @ x @ inverse
    scores = (outcomes - estimates @ x.T) * part
    variance = ((scores @ sums.T) ** 2).sum(axis=1)
    return estimates[:, column] / np.sqrt(variance)


def _says_the_same(rows: pl.DataFrame, one: str, other: str) -> bool:
    """Return whether each level of `other` has but one level of `one`."""
    return rows.select(one, other).unique().height == rows[other].n_unique()


def _dummies(rows: pl.DataFrame, factors: Sequence[tuple[str, Sequence[str]]]) -> np.ndarray:
    """Return the regressors of a model: a constant, and one column per level but the first."""
    columns = [np.ones(rows.height)]
    for name, levels in factors:
        values = rows[name].cast(pl.String)
        columns += [(values == level).to_numpy().astype(float) for level in levels[1:]]
    return np.column_stack(columns)


def _frame(rows: pl.DataFrame, used: Sequence[tuple[str, Sequence[str]]]) -> Any:  # noqa: ANN401 - pandas
    import pandas as pd

    columns: dict[str, Any] = {"delta": rows["delta"].to_numpy()}
    for name, levels in used:
        columns[name] = pd.Categorical(rows[name].cast(pl.String).to_list(), categories=list(levels))
    return pd.DataFrame(columns)


def _columns(names: Sequence[str], factor: str) -> list[int]:
    return [k for k, name in enumerate(names) if name.startswith(f"C({factor})[")]


def _coefficient(
    rows: pl.DataFrame,
    factor: str,
    levels: Sequence[str],
    column: int,
    names: Sequence[str],
    plain: Any,  # noqa: ANN401 - statsmodels is not typed
    robust: Any,  # noqa: ANN401
    clustered: Any,  # noqa: ANN401
    p_values: dict[int, float],
) -> Coefficient:
    low, high = plain.conf_int(1 - LEVEL).iloc[column]
    cluster_low, cluster_high = clustered.conf_int(1 - LEVEL)[column] if clustered is not None else (math.nan, math.nan)
    level = names[column].partition("[T.")[2].removesuffix("]")
    tests = [rows.filter(pl.col(factor).cast(pl.String) == one)["probe"].to_list() for one in (level, levels[0])]
    return Coefficient(
        factor=factor,
        level=level,
        reference=levels[0],
        estimate=float(plain.params.iloc[column]),
        standard_error=float(plain.bse.iloc[column]),
        low=float(low),
        high=float(high),
        robust_error=float(robust.bse[column]),
        cluster_error=float(clustered.bse[column]) if clustered is not None else math.nan,
        cluster_low=float(cluster_low),
        cluster_high=float(cluster_high),
        homes=len(set(tests[0]) & set(tests[1])),
        tests=min(len(one) for one in tests),
        bootstrap_p=p_values.get(column, math.nan),
    )


def _factor_test(
    factor: str,
    names: Sequence[str],
    plain: Any,  # noqa: ANN401 - statsmodels is not typed
    robust: Any,  # noqa: ANN401
    clustered: Any,  # noqa: ANN401
    anova: Any,  # noqa: ANN401
) -> FactorTest:
    columns = _columns(names, factor)
    contrast = np.eye(len(names))[columns]
    row = anova.loc[f"C({factor})"]
    degrees, f = int(row["df"]), float(row["F"])
    squares, residual = float(row["sum_sq"]), float(anova.loc["Residual", "sum_sq"])
    robust_f, robust_p = _wald(robust, contrast)
    is_enough = clustered is not None and len(columns) < clustered.df_resid_inference + 1
    cluster_f, cluster_p = _wald(clustered, contrast) if is_enough else (math.nan, math.nan)
    return FactorTest(
        factor=factor,
        degrees=degrees,
        sum_squares=squares,
        f=f,
        p=float(row["PR(>F)"]),
        robust_f=robust_f,
        robust_p=robust_p,
        cluster_f=cluster_f,
        cluster_p=cluster_p,
        partial_eta_squared=squares / (squares + residual) if squares + residual > 0 else math.nan,
        partial_omega_squared=degrees * (f - 1) / (degrees * (f - 1) + plain.nobs),
    )


def _wald(found: Any, contrast: np.ndarray) -> tuple[float, float]:  # noqa: ANN401 - statsmodels is not typed
    """Return F and p of a Wald test; NaN where the covariance does not have the rank that the test needs."""
    covariance = contrast @ found.cov_params() @ contrast.T
    if not np.isfinite(covariance).all() or np.linalg.matrix_rank(covariance) < len(contrast):
        return math.nan, math.nan
    test = found.f_test(contrast)
    return float(np.squeeze(test.fvalue)), float(np.squeeze(test.pvalue))


def _centring(observations: int, parameters: int, probes: int) -> float:
    left = observations - parameters - probes + 1
    return math.sqrt((observations - parameters) / left) if left > 0 else math.inf
