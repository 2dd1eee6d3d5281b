"""`sojourn run`: one scenario, one seed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sojourn.simulation import Run

__all__ = ["run"]


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Scenario file.")],
    *,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="A.B.C=V",
            help="Change the scenario, for example traffic.bulk.rtt=100ms. May be repeated.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="N",
            min=0,
            max=2**64 - 1,
            help="Seed of all that is random.",
            show_default="the file's first, or 1",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write all record tables into a new directory."),
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="DIR", help="Where finished runs are kept.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Simulate one scenario and print its metrics."""
    from sojourn.cli.console import note, print_json, print_table, warn
    from sojourn.output import refuse_used
    from sojourn.scenario import load_scenario
    from sojourn.simulation import run as run_scenario
    from sojourn.store import Store

    scenario = load_scenario(file, settings or [])
    if out is not None:
        refuse_used(out)
    finished = run_scenario(scenario, seed, Store(store, on_damage=warn))
    if out is not None:
        _write(finished, out)
    statistics = finished.statistics
    metrics = finished.metrics
    if as_json:
        print_json(
            {
                "scenario": scenario.name,
                "seed": finished.seed,
                "key": finished.key,
                "out": str(out) if out is not None else None,
                "from_store": finished.from_store,
                **statistics,
                "metrics": metrics.to_dicts(),
            }
        )
        return
    source = "from the store; it took" if finished.from_store else "in"
    note(
        f"{scenario.name}, seed {finished.seed}: {statistics['simulated_s']:g} s simulated "
        f"{source} {statistics['wall_s']:.2f} s, {statistics['packet_hops']:,} packet-hops"
    )
    print_table(metrics.columns, metrics.rows())
    if seed is None and scenario.seed_count > 1:
        note(
            f"the file asks for {scenario.seed_count} seeds; this was the first, --seed runs others"
        )
    if out is not None:
        note(f"records: {out}")


def _write(finished: "Run", out: Path) -> None:
    from sojourn.output import new_directory, writing
    from sojourn.study.manifest import describe_machine, describe_source, write_json
    from sojourn.study.write import write_table

    manifest: dict[str, Any] = {
        "schema": 1,
        "scenario": finished.scenario.name,
        "seed": finished.seed,
        "key": finished.key,
        **describe_source(),
        "machine": describe_machine(),
        "statistics": dict(finished.statistics),
    }
    with new_directory(out) as directory, writing(out):
        for name, table in finished.tables.items():
            write_table(table, directory / f"{name}.parquet")
        (directory / "scenario.toml").write_text(finished.scenario.text, encoding="utf-8")
        write_json(directory / "manifest.json", manifest)
