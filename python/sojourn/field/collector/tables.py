"""The tables of the collector's database.

Times have no zone there, and are UTC.
"""

from __future__ import annotations

from typing import Any

import polars as pl
import sqlalchemy as sql

from sojourn.field.records import SCHEMA

METADATA = sql.MetaData()
"""Of all tables of the collector."""

PROBES = sql.Table(
    "probes",
    METADATA,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("name", sql.String(100), nullable=False, unique=True),
    sql.Column("token_hash", sql.String(64), nullable=False, unique=True),
    sql.Column("added", sql.DateTime, nullable=False),
    sql.Column("revoked", sql.DateTime),
)

VIEWERS = sql.Table(
    "viewers",
    METADATA,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("token_hash", sql.String(64), nullable=False, unique=True),
    sql.Column("added", sql.DateTime, nullable=False),
)

UPLOADS = sql.Table(
    "uploads",
    METADATA,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("probe_id", sql.Integer, sql.ForeignKey("probes.id"), nullable=False),
    sql.Column("digest", sql.String(64), nullable=False),
    sql.Column("name", sql.String(200), nullable=False),
    sql.Column("received", sql.DateTime, nullable=False),
    sql.Column("clock_error_s", sql.Float),
    sql.Column("content", sql.LargeBinary, nullable=False),
    sql.UniqueConstraint("probe_id", "digest"),
)

_TYPES: dict[pl.DataType, Any] = {
    pl.String(): sql.Text,
    pl.Float64(): sql.Float,
    pl.Int64(): sql.Integer,
    pl.Datetime("us", "UTC"): sql.DateTime,
}

TESTS = sql.Table(
    "tests",
    METADATA,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("upload_id", sql.Integer, sql.ForeignKey("uploads.id"), nullable=False, index=True),
    *(sql.Column(name, _TYPES[kind]) for name, kind in SCHEMA.items()),
)

TEST_COLUMNS = [TESTS.c[name] for name in SCHEMA]

PERIODS = sql.Table(
    "periods",
    METADATA,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("probe", sql.String(100), nullable=False, index=True),
    sql.Column("week", sql.Integer, nullable=False),
    sql.Column("treatment", sql.String(100), nullable=False),
    *(sql.Column(name, sql.DateTime, nullable=False) for name in ("first", "last", "begins", "until")),
)

CONFIGURATIONS = sql.Table(
    "configurations",
    METADATA,
    sql.Column("treatment", sql.String(100), primary_key=True),
    sql.Column("digest", sql.String(64), nullable=False),
    sql.Column("says", sql.Text, nullable=False),
    sql.Column("content", sql.LargeBinary, nullable=False),
)

CHECKS = sql.Table(
    "checks",
    METADATA,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("content", sql.LargeBinary, nullable=False),
)
"""Empty but for a moment: what is written to see whether anything can be."""
