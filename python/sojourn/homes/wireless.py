"""One household whose devices are behind Wi-Fi: queues of the access point, and a router in front of the line, as a study to go on with.

Source: constants of the access point are those of the profiles that scenario files have; files of debugfs are those of
Linux `net/mac80211/debugfs.c` (`aql_txq_limit`: category, lower and upper limit in microseconds; `airtime_flags`).
Deviations: all stations have the standard of the channel; neighbours are homes with a steady load.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sojourn.advice.arms import Arm
from sojourn.base.toml_text import parse_toml, toml_value
from sojourn.headline.wireless import narrow_sentence, narrow_station
from sojourn.homes.household import ROUTER, SEEDS, Household, lines_to_set, scenario_text

BANDS: Mapping[str, str] = {
    "5ghz": 'band = "5 GHz"\nwidth = "80 MHz"\nstandard = "ax"',
    "2.4ghz": 'band = "2.4 GHz"\nwidth = "20 MHz"\nstandard = "n"\nshort_guard = true',
}
"""Channels by the word of `--wifi`. chosen: the usual width of the band, and what stands in homes there."""

NEAR: Mapping[str, tuple[str, ...]] = {"5ghz": ("mcs9", "mcs7"), "2.4ghz": ("mcs13", "mcs11")}
"""Rates of devices, in turns. chosen: the same room, and a wall further."""

NEIGHBOUR: Mapping[str, str] = {"5ghz": 'load = "30 Mb/s"\nrate = "mcs4"', "2.4ghz": 'load = "6 Mb/s"\nrate = "mcs4"'}
"""Load of a neighbour's home on the channel. chosen: a film in high definition, some rooms away; at 2.4 GHz a tenth of the air."""

TODAY = (
    'profile = "ath10k-2016-normal"\nqueues = "device"\nqueue = { kind = "drop-tail", limit = "1000 packets" }'
    "      # a plain queue above a firmware without a limit"
)
SET = 'profile = "openwrt-2024"'

PING = """
[[traffic]]                             # what a person at the first device would see
name = "ping"
app = { kind = "probe", interval = "50 ms", start_jitter = "50 ms", loaded_from = "1 s" }
rtt = "15 ms"
via = "wifi.home.DEVICE"
"""

READS = """
[[traffic]]                             # a person reads
name = "DEVICE-page"
app = { kind = "web", profile = "white2013", users = 1, think = "10 s" }
stack = "linux-cubic"
rtt = ["12 ms", "18 ms", "35 ms", "90 ms"]
via = "wifi.home.DEVICE"
"""
"""Traffic of devices that nothing else passes. chosen: a page each ten seconds."""

DEVICES = ("laptop", "phone", "tablet", "desk")
"""Names of the first stations; the others have numbers."""

ATTIC = "attic"

_VIA = {"game": 0, "call": 1, "page": 0, "video": 2, "upload": -1, "download": -1}
"""Station of each traffic entry, by its place; the last one sends and fetches much."""


@dataclass(frozen=True)
class WirelessHome(Household):
    """Question about a household behind Wi-Fi.

    Attributes
    ----------
    band
        One of `BANDS`.
    stations
        Devices, at least one.
    neighbours
        Homes on the channel.
    attic
        Rate of the last device, such as `mcs0`, if it is far away.
    """

    band: str = "5ghz"
    stations: int = 4
    neighbours: int = 0
    attic: str = ""

    @property
    def name(self) -> str:
        """Name of the study."""
        return f"{super().name}-wifi"

    @cached_property
    def devices(self) -> list[str]:
        """Names of the stations; the attic is the last."""
        names = [*DEVICES, *(f"device-{number}" for number in range(len(DEVICES) + 1, self.stations + 1))][
            : self.stations
        ]
        return [*names[:-1], ATTIC] if self.attic else names

    @cached_property
    def arms(self) -> dict[str, Arm]:
        """Settings of the line that compete with today's."""
        return {"CAKE": ROUTER}

    @property
    def settings(self) -> list[str]:
        """All settings: the shaper on the line changes least that a reader has heard of, so it stands first."""
        return ["today", "CAKE", "access-point", "both"]

    def words(self, setting: str) -> str:
        """Return what a setting is, in words."""
        cake = super().words("CAKE")
        access_point = "FQ-CoDel for each station in the access point, equal airtime, 2 ms of airtime in its firmware"
        return {
            "today": "an access point with a plain queue above a firmware without a limit",
            "CAKE": f"{cake}; the access point stays",
            "access-point": access_point,
            "both": f"{access_point}; and {cake}",
        }[setting]

    def called(self, setting: str) -> str:
        """Return how sentences call a setting."""
        return {"CAKE": "CAKE in a router", "access-point": "airtime fairness in the access point", "both": "both"}.get(
            setting, setting
        )

    def needs(self, setting: str) -> str:
        """Return what must be true for a setting to do what was simulated."""
        if setting == "CAKE":
            return super().needs(setting)
        return "The access point must have queues by station and a limit of airtime below them, as OpenWrt has."

    def file_for(self, winner: str) -> None:
        """No setting here has a configuration file of a modem."""

    def lines(self, setting: str) -> str:
        """Return what has to be written where."""
        cake = lines_to_set(self, "CAKE").rstrip() if setting in ("CAKE", "both") else ""
        return (
            "\n".join(part for part in (ACCESS_POINT if setting in ("access-point", "both") else "", cake) if part)
            + "\n"
        )

    def study_files(self) -> dict[str, str]:
        """Return the study as texts by file name; it runs as it is."""
        return {"study.toml": self._study(), "scenario.toml": self._scenario(), "notes.md": self._notes()}

    def _notes(self) -> str:
        parts = ["## What to set", ""]
        for setting in self.settings[1:]:
            parts += [
                f"{self.called(setting)}: {self.words(setting)}",
                "",
                "```",
                self.lines(setting).rstrip(),
                "```",
                "",
            ]
        return "\n".join(parts)

    def _scenario(self) -> str:
        text = scenario_text(self)
        for traffic, place in _VIA.items():
            via = f'via = "wifi.home.{self.devices[min(place, self.stations - 1)]}"'
            text = re.sub(rf'^name = "{traffic}"$', f'name = "{traffic}"\n{via}', text, flags=re.MULTILINE)
        text += PING.replace("DEVICE", self.devices[0])
        for device in self.devices:
            if f'via = "wifi.home.{device}"' not in text:
                text += READS.replace("DEVICE", device)
        channel = ["[wifi.home]                             # a channel: its devices share the air", BANDS[self.band]]
        channel += ["", "[wifi.home.ap]", TODAY]
        for place, device in enumerate(self.devices):
            near = NEAR[self.band]
            rate = self.attic if device == ATTIC else near[place % len(near)]
            channel += ["", f"[wifi.home.station.{device}]", f'rate = "{rate}"']
        for number in range(1, self.neighbours + 1):
            channel += ["", f"[wifi.home.neighbour.next-{number}]", NEIGHBOUR[self.band]]
        return text.replace("\n[[traffic]]", "\n" + "\n".join(channel) + "\n\n[[traffic]]", 1)

    def _study(self) -> str:
        names = "".join(
            f"{name} = {{ name = {toml_value(self.called(name))}, title = {toml_value(self.words(name))} }}\n"
            for name in self.settings
        )
        router = f"path = {toml_value(self.line.router_path)}\n"

        def shaped(name: str) -> str:
            return router + self.line.router_tables(ROUTER, f"overlays.{name}.link")

        access_point = f'remove = ["wifi.home.ap"]\nwifi.home.ap = {toml_value(parse_toml(SET))}\n'
        return f"""\
# Is the line or the Wi-Fi the narrow place, and what helps? Run it again, with more seeds and longer if need be:
#   sojourn study run .
schema = 1
name = "{self.name}"
title = "A household behind Wi-Fi, {self.down_mbps:g} Mb/s down and {self.up_mbps:g} up"
scenario = "scenario.toml"
seeds = {SEEDS}
notes = "notes.md"

[axes]
setting = {toml_value(self.settings)}

[labels.setting]
{names}
[overlays.today]                        # the scenario as it is

[overlays.CAKE]                         # a router in front of the modem, a little slower than the line
{shaped("CAKE")}
[overlays.access-point]                 # queues by station, turns by airtime, little in the firmware
{access_point}
[overlays.both]
{access_point}{shaped("both")}
[measures.ping]
subject = "ping"
metric = "rtt_loaded_p95"
title = "ping of the {self.devices[0]}, 95 %"
unit = "ms"
seeds = "mean"
decimals = 0

[[headline]]
text = "{_HEADLINE.replace("DEVICE", self.devices[0])}"
values.today = {{ measure = "ping", where = {{ setting = "today" }} }}
values.line = {{ measure = "ping", where = {{ setting = "CAKE" }} }}
values.access_point = {{ measure = "ping", where = {{ setting = "access-point" }} }}
values.both = {{ measure = "ping", where = {{ setting = "both" }} }}

[[numbers]]
name = "settings"
title = "What each setting does"
rows = ["setting"]
names = ["{{setting_title}}"]
headings = ["setting"]
columns = [{{ measure = "ping", title = "ping, 95 %, ms", decimals = 0 }}{self._goodputs()}]
{self._goodput_measures()}"""

    def _fetches(self) -> dict[str, str]:
        """Traffic entries that others feel as throughput, by their name, with the device."""
        return {name: self.devices[min(_VIA[name], self.stations - 1)] for name in ("download", "upload")}

    def _goodputs(self) -> str:
        return "".join(f', {{ measure = "{name}", title = "{name}, Mb/s", decimals = 1 }}' for name in self._fetches())

    def _goodput_measures(self) -> str:
        return "".join(
            f"""
[measures.{name}]
subject = "{name}"
metric = "{metric}"
title = "{name} of the {device}"
unit = "Mb/s"
seeds = "mean"
better = "more"
"""
            for (name, device), metric in zip(self._fetches().items(), ("goodput_downstream", "goodput"), strict=True)
        )

    def answer(self, result: Path) -> Answer:
        """Return what the runs say: the narrow place, what to set, and what the others pay for it."""
        import polars as pl

        from sojourn.study.result import StudyResult

        means = StudyResult.load(result).metrics.group_by("point", "subject", "metric").agg(pl.col("value").mean())
        found = {(point, subject, metric): value for point, subject, metric, value in means.iter_rows()}
        pings = {setting: found[setting, "ping", "rtt_loaded_p95"] for setting in self.settings}
        # The first of those that cannot be told apart: settings stand in the order of what they change.
        least = min(pings.values())
        best = next(setting for setting in self.settings if pings[setting] <= least * SAME_SHARE + SAME_MS)
        ping = f"A ping of the {self.devices[0]} takes"
        of_today = {
            (subject, metric): value for (setting, subject, metric), value in found.items() if setting == "today"
        }
        station = narrow_station(of_today)
        sentences = [narrow_sentence(station)]
        if best == "today":
            sentences.append(f"{ping} {pings[best]:.0f} ms (95 %) as it is; no setting helps.")
        else:
            sentences.append(
                f"{ping} {pings['today']:.0f} ms (95 %) today, and {pings[best]:.0f} ms with {self.called(best)}: {self.words(best)}."
            )
        if station and pings["CAKE"] > 0.9 * pings["today"]:
            sentences.append(
                f"A shaper on the line does not help behind a slow Wi-Fi: {pings['CAKE']:.0f} ms with {self.called('CAKE')}."
            )
        costs = [
            f"the {name} of the {device} {_rate(found, best, name)} for {_rate(found, 'today', name)} Mb/s"
            for name, device in self._fetches().items()
        ]
        sentences.append(f"The others get: {', '.join(costs)}.")
        return Answer(sentences, "" if best == "today" else best)


SAME_SHARE, SAME_MS = 1.1, 1.0
"""Pings that make no difference: a tenth, and a millisecond. chosen: no person feels it."""

_HEADLINE = (
    "A ping of the DEVICE takes {today:3 ms} today (95 %), {line:3 ms} with CAKE in a router, {access_point:3 ms} with queues by "
    "station in the access point, {both:3 ms} with both."
)


@dataclass(frozen=True)
class Answer:
    """Answer about a household behind Wi-Fi: sentences, and the setting to take; empty if none helps."""

    sentences: Sequence[str]
    setting: str


def _rate(found: Mapping[tuple[str, str, str], float], setting: str, name: str) -> str:
    metric = "goodput" if name == "upload" else "goodput_downstream"
    value = found.get((setting, name, metric), found.get((setting, name, "goodput"), 0.0))
    return f"{value:.3g}"


ACCESS_POINT = """\
# On the access point, with OpenWrt: queues by station are the default of mac80211; these are limits of what waits below them.
for phy in /sys/kernel/debug/ieee80211/phy*; do
  echo 3 > $phy/airtime_flags                      # air counts both ways
  for category in 0 1 2 3; do echo $category 2000 4000 > $phy/aql_txq_limit; done
done"""
