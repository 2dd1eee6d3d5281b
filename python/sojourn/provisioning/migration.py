"""A file before and after a migration: two services, two scenarios, one study of both."""

import itertools
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from sojourn.digits import significant
from sojourn.provisioning.configuration import Configuration
from sojourn.provisioning.expansion import DIRECTIONS, Modem, Service, expand
from sojourn.provisioning.scenarios import access, says_burst, traffic

__all__ = ["SEEDS", "Migration", "migrate", "study_files"]

Row = tuple[str, str, float, float, float, str]

SHOWN = ("delay_p99", "delay_p50")
"""What is compared: the delay over the access link that is felt, and that of a typical packet."""

GAMES = ("marked", "unmarked")
"""Both games, the one that the migration is for first; each direction is a traffic entry of its own."""

SEEDS = 5
"""Runs before and after. chosen: as many as the recipes; one run is one roll of the dice."""


@dataclass(frozen=True)
class Migration:
    """What came of a file before and after a migration."""

    before: Service
    after: Service
    out: Path
    """The result: report, metrics, scenarios."""
    notes: list[str]
    """What is simpler than it would be."""
    seeds: int
    """Runs before and after."""

    @property
    def headline(self) -> str:
        """What customers notice: the P99 of both games in the direction that was worse before."""
        felt = {row[0]: row for row in self.rows() if row[1] == SHOWN[0]}
        told: list[str] = []
        for game in GAMES:
            ways = [row for name, row in felt.items() if name.startswith(f"{game}-")]
            if not ways:
                continue
            name, _, before, after, ratio, unit = max(ways, key=lambda row: row[2])
            way = name.partition("-")[2]
            first, later = significant(before, 2), significant(after, 2)
            change = f"{_verb(ratio)} from {first} to {later} {unit}{_times(ratio)}"
            if first == later:
                change = f"stays at {later} {unit}"
            told.append(f"the {game} game's P99 {way} {change}")
        if not told:
            return ""
        chance = " One seed: differences may be chance." if self.seeds == 1 else ""
        text = "; ".join(told)
        return f"{text[0].upper()}{text[1:]}.{chance}"

    def rows(self) -> list[Row]:
        """Return one row per game and metric: before, after, and how many times less it is after.

        Means over seeds; the marked game and its P99 come first.
        """
        import polars as pl

        frame = pl.read_parquet(self.out / "metrics.parquet").filter(pl.col("metric").is_in(SHOWN))
        means = frame.group_by("subject", "metric", "unit", "point").agg(pl.col("value").mean())
        values = {(r["subject"], r["metric"], r["point"]): r for r in means.iter_rows(named=True)}
        rows: list[Row] = []
        for game, metric, way in itertools.product(GAMES, SHOWN, DIRECTIONS):
            subject = f"{game}-{way}"
            first, later = (values.get((subject, metric, when)) for when in ("before", "after"))
            if first is not None and later is not None:
                ratio = first["value"] / later["value"] if later["value"] else math.inf
                rows.append((subject, metric, first["value"], later["value"], ratio, first["unit"]))
        return rows


def _verb(ratio: float) -> str:
    return "falls" if ratio > 1 else "rises"


def _times(ratio: float) -> str:
    """Say how many times less or more, from twice on."""
    factor, word = (ratio, "less") if ratio > 1 else (1 / ratio if ratio else math.inf, "more")
    return f", {significant(factor, 2)} times {word}" if 2 <= factor < math.inf else ""


def study_files(
    before: Service, after: Service, *, mix: int, duration: str, seeds: int
) -> dict[str, str]:
    """Return a study of two points, `before` and `after`, as texts by file name."""
    base: dict[str, Any] = {
        "schema": 1,
        "name": "before",
        "duration": duration,
        "access": access(before),
        "traffic": traffic(mix),
    }
    study: dict[str, Any] = {
        "schema": 1,
        "name": "migration",
        "title": f"Before and after a migration, traffic mix {mix} of White 2019",
        "scenario": "before.toml",
        "seeds": {"first": 1, "count": seeds},
        "points": {
            "before": {"overlays": [], "labels": {"service": "before"}},
            "after": {"overlays": ["after"], "labels": {"service": "after"}},
        },
        "overlays": {
            "after": {"remove": _paths(base["access"]), "access": access(after)},
        },
    }
    return {"before.toml": tomli_w.dumps(base), "study.toml": tomli_w.dumps(study)}


def _paths(tables: dict[str, dict[str, Any]]) -> list[str]:
    """Return the keys of links and queues, which another service has none of in common."""
    return [
        f"access.{direction}.{part}.{key}"
        for direction, parts in tables.items()
        for part, keys in parts.items()
        for key in keys
        if key != "kind"
    ]


def migrate(
    configuration: Configuration,
    tables: str = "",
    *,
    mix: int = 3,
    before: Modem = "3.1",
    after: Modem = "3.1-lld",
    duration: str = "60 s",
    seeds: int = SEEDS,
    out: str | Path | None = None,
    figures: bool = True,
    store: str | Path | None = None,
    allow_bad_mic: bool = False,
    downstream_without_modem: bool = False,
    file: str = "",
) -> Migration:
    """Simulate a file before and after a migration to Low Latency DOCSIS.

    Before, the tables have no Aggregate QoS Profiles and the modem is of the kind `before`; after, they have them.

    Parameters
    ----------
    configuration
        The file.
    tables
        Service classes, Aggregate QoS Profiles and capabilities, as TOML.
    mix
        Traffic mix of White 2019 Table 2, 1 to 10.
    before, after
        Kinds of modem.
    duration
        Simulated time of a run.
    seeds
        Runs of each.
    out
        Where to write the result; a new place below `results` if left out.
    figures
        Whether to draw the report.
    store
        Where finished runs are kept; the user's own if left out.
    allow_bad_mic, downstream_without_modem, file
        As in `expand`.

    Raises
    ------
    ProvisioningError
        With everything that is wrong with the file or the tables.
    """
    from sojourn.api.study import Study
    from sojourn.store import Store

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
    files = study_files(services[0], services[1], mix=mix, duration=duration, seeds=seeds)
    with tempfile.TemporaryDirectory() as directory:
        for name, text in files.items():
            (Path(directory) / name).write_text(text, encoding="utf-8")
        result = Study.load(Path(directory) / "study.toml").run(
            out=out, report=figures, store=None if store is None else Store(store)
        )
    notes: list[str] = []
    if not all(says_burst(service.content["upstream"]) for service in services):
        notes.append(
            "upstream has no maximum traffic burst (TLV 9): simulated with 100 ms at the rate; with the default of 3044 octets "
            "and MAPs 2 ms apart it would carry 12.2 Mb/s at most"
        )
    return Migration(services[0], services[1], result.directory, notes, seeds)
