"""Common parts of all tables of a study file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

LabelValue = str | int | float | bool
Where = dict[str, LabelValue | list[LabelValue]]
"""Points by label: one value, or any of several."""

Number = int | float


class Strict(BaseModel):
    """A table of a study file: unknown keys are problems."""

    # Built when the first file is read, and then in one go: tables within tables need no validators of their own.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)
