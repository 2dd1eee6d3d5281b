"""Statistics packages that carry no types, imported when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from sojourn.base.errors import MissingExtra


def scipy_stats() -> Any:  # noqa: ANN401 - a module without types
    """Return `scipy.stats`."""
    return importlib.import_module("scipy.stats")


def formula_models() -> Any:  # noqa: ANN401 - a module without types
    """Return statsmodels' formula interface.

    Raises `MissingExtra` if statsmodels is not installed.
    """
    return _statsmodels("formula.api")


def variance_analysis() -> Any:  # noqa: ANN401 - a module without types
    """Return statsmodels' analysis of variance.

    Raises `MissingExtra` if statsmodels is not installed.
    """
    return _statsmodels("stats.anova")


def _statsmodels(module: str) -> Any:  # noqa: ANN401 - a module without types
    try:
        return importlib.import_module(f"statsmodels.{module}")
    except ImportError as error:
        raise MissingExtra("the analysis of field trials", "statsmodels", "field") from error
