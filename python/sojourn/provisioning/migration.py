"""Services beside each other: a file before and after a migration, or several files; one study of a point each."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from sojourn.base.files import open_file
from sojourn.provisioning.configuration import Configuration
from sojourn.provisioning.expansion import DIRECTIONS, Modem, Service, expand
from sojourn.provisioning.scenarios import access, left_out, says_burst, traffic

if TYPE_CHECKING:
    from sojourn.headline import Headline

SHOWN = ("delay_p99", "delay_p50")
"""Compared metrics: the delay over the access link that is felt, and that of a typical packet."""

GAMES = ("marked", "unmarked")
"""Both games, the one that the migration is for first; each direction is a traffic entry of its own."""

SEEDS = 5
"""Runs of each service. chosen: as many as the recipes; one run is one roll of the dice."""

MIGRATION = {"before": "today's service", "after": "the migrated service"}
"""How sentences call the services of one file before and after."""


@dataclass(frozen=True)
class Row:
    """A measure of a game, by service."""

    subject: str
    metric: str
    values: Mapping[str, float]
    unit: str


@dataclass(frozen=True)
class Simulated:
    """Results of services beside each other."""

    services: Mapping[str, Service]
    out: Path
    """The result: report, metrics, scenarios."""
    notes: list[str]
    """Simplifications."""

    @cached_property
    def headline(self) -> Headline | None:
        """First sentence of the page."""
        from sojourn.report.first import headline_of_result
        from sojourn.study.result import StudyResult

        return headline_of_result(StudyResult.load(self.out))

    def rows(self) -> list[Row]:
        """Return one row per game and metric, with the mean over seeds of each service.

        The marked game and its P99 come first.
        """
        import polars as pl

        with open_file(self.out / "metrics.parquet") as file:
            frame = pl.read_parquet(file).filter(pl.col("metric").is_in(SHOWN))
        means = frame.group_by("subject", "metric", "unit", "point").agg(pl.col("value").mean())
        found = {(r["subject"], r["metric"], r["point"]): r for r in means.iter_rows(named=True)}
        rows: list[Row] = []
        for game, metric, way in itertools.product(GAMES, SHOWN, DIRECTIONS):
            subject = f"{game}-{way}"
            of_row = [found.get((subject, metric, name)) for name in self.services]
            if all(one is not None for one in of_row):
                values = [(one["value"], one["unit"]) for one in of_row if one is not None]
                by_service = {name: value for name, (value, _) in zip(self.services, values, strict=True)}
                rows.append(Row(subject, metric, by_service, values[0][1]))
        return rows


def study_files(
    services: Mapping[str, Service], *, mix: int, duration: str, seeds: int, names: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return a study of a point for each service, as texts by file name; `names` is how sentences call them."""
    (first, service), *others = services.items()
    base: dict[str, Any] = {
        "schema": 1,
        "name": first,
        "duration": duration,
        "access": access(service),
        "traffic": traffic(mix),
    }
    is_migration = tuple(services) == tuple(MIGRATION)
    what = "Before and after a migration" if is_migration else f"{len(services)} services"
    study: dict[str, Any] = {
        "schema": 1,
        "name": "migration" if is_migration else "services",
        "title": f"{what}, traffic mix {mix} of White 2019",
        "scenario": "scenario.toml",
        "compare": "service",
        "baseline": first,
        "seeds": {"first": 1, "count": seeds},
        "points": {
            name: {"overlays": [] if name == first else [name], "labels": {"service": name}} for name in services
        },
        "overlays": {name: {"remove": _paths(base["access"]), "access": access(other)} for name, other in others},
    }
    if names:
        study["labels"] = {"service": {name: {"name": names[name]} for name in services}}
    return {"scenario.toml": tomli_w.dumps(base), "study.toml": tomli_w.dumps(study)}


def _paths(tables: dict[str, dict[str, Any]]) -> list[str]:
    """Return the keys of links and queues, which another service has none of in common, and whatever stands beside them."""
    paths: list[str] = []
    for direction, parts in tables.items():
        for part, keys in parts.items():
            path = f"access.{direction}.{part}"
            is_kind = part in ("link", "queue")
            paths += [f"{path}.{key}" for key in keys if key != "kind"] if is_kind else [path]
    return paths


@dataclass(frozen=True)
class Simulation:
    """How services are simulated: as the options of the command say."""

    mix: int = 3
    """Traffic mix of White 2019 Table 2, 1 to 10."""
    duration: str = "60 s"
    seeds: int = SEEDS
    out: str | Path | None = None
    """Directory of the result; a new place below `results` if left out."""
    figures: bool = True
    """True if to draw the report."""
    store: str | Path | None = None
    """Store of finished runs; the user's own if left out."""


def migrate(
    configuration: Configuration,
    tables: str = "",
    *,
    before: Modem = "3.1",
    after: Modem = "3.1-lld",
    simulation: Simulation = Simulation(),
    allow_bad_mic: bool = False,
    downstream_without_modem: bool = False,
    file: str = "",
) -> Simulated:
    """Simulate a file before and after a migration to Low Latency DOCSIS.

    Before, the tables have no Aggregate QoS Profiles and the modem is of the kind `before`; after, they have them.

    Parameters
    ----------
    configuration
        The file.
    tables
        Service classes, Aggregate QoS Profiles and capabilities, as TOML.
    before, after
        Kinds of modem.
    simulation
        How both are simulated.
    allow_bad_mic, downstream_without_modem, file
        As in `expand`.

    Raises
    ------
    ProvisioningError
        With everything that is wrong with the file or the tables.
    """
    modems: tuple[tuple[Modem, bool], ...] = ((before, False), (after, True))
    services = [
        expand(
            configuration,
            tables,
            modem=modem,
            profiles=profiles,
            allow_bad_mic=allow_bad_mic,
            downstream_without_modem=downstream_without_modem,
            file=file,
        )
        for modem, profiles in modems
    ]
    return run_beside(dict(zip(MIGRATION, services, strict=True)), simulation, MIGRATION)


def run_beside(
    services: Mapping[str, Service], simulation: Simulation = Simulation(), names: Mapping[str, str] | None = None
) -> Simulated:
    """Simulate services beside each other; `names` is how sentences call them.

    Raises
    ------
    UsageError
        If a service cannot be simulated.
    """
    from sojourn.api.study import Study
    from sojourn.store import Store

    files = study_files(services, mix=simulation.mix, duration=simulation.duration, seeds=simulation.seeds, names=names)
    with tempfile.TemporaryDirectory() as directory:
        for name, text in files.items():
            (Path(directory) / name).write_text(text, encoding="utf-8")
        result = Study.load(Path(directory) / "study.toml").run(
            out=simulation.out,
            report=simulation.figures,
            store=None if simulation.store is None else Store(simulation.store),
        )
    notes = list(dict.fromkeys(itertools.chain(*map(left_out, services.values()))))
    if not all(says_burst(service.content["upstream"]) for service in services.values()):
        notes.append(
            "upstream has no maximum traffic burst (TLV 9): simulated with 100 ms at the rate; with the default of 3044 octets "
            "and MAPs 2 ms apart it would carry 12.2 Mb/s at most"
        )
    return Simulated(services, result.directory, notes)


def services_of(
    files: Mapping[str, Configuration],
    tables: str = "",
    *,
    modem: Modem = "3.1-lld",
    allow_bad_mic: bool = False,
    downstream_without_modem: bool = False,
) -> dict[str, Service]:
    """Return the service of each file by its name: that of its path, or the path where two have the same.

    Raises
    ------
    ProvisioningError
        With everything that is wrong with a file or the tables.
    """
    stems = [Path(path).stem for path in files]
    are_words = len(set(stems)) == len(stems)
    return {
        stem if are_words else path: expand(
            configuration,
            tables,
            modem=modem,
            allow_bad_mic=allow_bad_mic,
            downstream_without_modem=downstream_without_modem,
            file=path,
        )
        for stem, (path, configuration) in zip(stems, files.items(), strict=True)
    }
