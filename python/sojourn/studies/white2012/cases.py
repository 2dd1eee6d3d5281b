"""The test cases of White and Padden 2012, and where their runs are.

Source: White and Padden 2012, Table 2 and section 3.2.1.
Deviations: the document calls both drop-tail variants D; the points of the study say which.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.studies.view import StudyView

#: Case numbers in the order of the tables.
CASES = ("01", "02", "03", "04", "05", "06", "07", "08", "09")

#: Cases with an upload.
LOADED = CASES[1:]

#: The three queues of section 3.1.2.
DROPTAIL_417 = "droptail-417"
DROPTAIL_21 = "droptail-21"
CODEL = "codel"
MANAGERS = (DROPTAIL_417, DROPTAIL_21, CODEL)

#: The queue of 50 ms counted in bytes, as section 5 says it should have been.
DROPTAIL_BYTES = "droptail-31250B"

#: How each manager is called in words.
MANAGER_TITLES = {
    DROPTAIL_417: "DropTail, 417 packets (1 s)",
    DROPTAIL_21: "DropTail, 21 packets (50 ms)",
    DROPTAIL_BYTES: "DropTail, 31,250 B (50 ms)",
    CODEL: "CoDel, 5/100 ms, 417 packets",
}

#: The same, for legends and narrow places.
MANAGER_LABELS = {
    DROPTAIL_417: "DropTail 417",
    DROPTAIL_21: "DropTail 21",
    DROPTAIL_BYTES: "DropTail 31,250 B",
    CODEL: "CoDel",
}

#: Sustained and peak rate of the upstream, Mb/s, and the burst in bytes (section 3.1.1).
SUSTAINED_MBPS = 5.0
PEAK_MBPS = 20.0
BURST_BYTES = 10e6

#: Length of the printed runs (section 4.3).
RUN_S = 600.0


@dataclass(frozen=True)
class Load:
    """The upload of a test case (section 3.2.1)."""

    flows: int
    rtt_ms: int | None
    bursty: bool = False
    constant_rate: bool = False

    @property
    def description(self) -> str:
        """The load in words."""
        if self.flows == 0:
            return "no upload"
        kind = "bursty upload" if self.bursty else "upload" if self.flows == 1 else "uploads"
        count = "1" if self.flows == 1 else str(self.flows)
        extra = " + 1 Mb/s UDP" if self.constant_rate else ""
        return f"{count} {kind}{extra}, {self.rtt_ms} ms"


LOADS = {
    "01": Load(0, None),
    "02": Load(1, 20),
    "03": Load(1, 100),
    "04": Load(5, 20),
    "05": Load(5, 100),
    "06": Load(5, 20, constant_rate=True),
    "07": Load(5, 100, constant_rate=True),
    "08": Load(1, 20, bursty=True),
    "09": Load(1, 100, bursty=True),
}


def label_of(case: str, manager: str) -> str:
    """Return the document's own label of a test case, such as `C04`."""
    return f"{'C' if manager == CODEL else 'D'}{case}"


def point_of(case: str, manager: str) -> str:
    """Return the point of the study that a test case is.

    Examples
    --------
    >>> point_of("04", CODEL), point_of("04", DROPTAIL_21)
    ('C04', 'D04-21')
    """
    label = label_of(case, manager)
    return label if manager == CODEL else f"{label}-{manager.removeprefix('droptail-')}"


def alone_point_of(case: str, manager: str) -> str:
    """Return the point of an upload without call and pages, as in Figures 2 to 7.

    Examples
    --------
    >>> alone_point_of("03", CODEL)
    'F03-codel'
    """
    return f"F{case}-{manager.removeprefix('droptail-')}"


def congested_point_of(load: str, manager: str, coupling: str) -> str:
    """Return the point of a test case under borderline congestion (section 3.1.3)."""
    return f"{point_of('1' + load, manager)}-{coupling}"


def call(view: StudyView, case: str, manager: str, metric: str) -> np.ndarray:
    """Return a metric of the telephone call, one value per seed."""
    return view.values(point_of(case, manager), "call", metric)


def page(view: StudyView, case: str, manager: str, metric: str) -> np.ndarray:
    """Return a metric of the web pages, one value per seed."""
    return view.values(point_of(case, manager), "page", metric)


def page_load_times(view: StudyView, case: str, manager: str) -> np.ndarray:
    """Median page load time in s per seed; infinite in a run where no page completed."""
    times = view.values_or_nan(point_of(case, manager), "page", "page_load_time_median")
    return np.where(np.isfinite(times), times, np.inf)


def upload_volume(view: StudyView, case: str, manager: str) -> np.ndarray:
    """Upload in kB of 1000 B per seed, wire bytes through the access link; 0 without upload."""
    point = point_of(case, manager)
    if LOADS[case].flows == 0:
        return np.zeros(len(view.seeds(point)))
    return view.values(point, "bulk", "forwarded_volume")
