"""The version of the package; `Cargo.toml` and `pyproject.toml` say the same."""

VERSION = "0.2.0"
