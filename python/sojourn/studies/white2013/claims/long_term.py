"""Claims about uploads in the long run, and about what shares the line with them.

Source: White 2013, Executive summary, sections 1.3, 1.5 and 4.5, Figure 31.
Deviations: the throughput of an upload is what the link forwarded over the whole run, headers and
retransmissions included, as Tables 7 and 8 of the study of 2012 count it; its goodput stands beside it.
"""

from __future__ import annotations

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.numbers import by_group as by_case
from sojourn.studies.numbers import number
from sojourn.studies.view import StudyView
from sojourn.studies.white2013 import cases
from sojourn.studies.white2013.cases import BUFFERBLOAT, LOADED, MANAGERS, RF_LEVELS, SFQ_CODEL
from sojourn.studies.white2013.claims.measures import (
    mean,
    median_over_seeds,
)

claim = ClaimBook()


def throughput(view: StudyView, manager: str) -> dict[str, float]:
    """Upload in Mb/s by household, wire bytes, mean over the levels of congestion."""
    return {
        load: mean(
            [median_over_seeds(cases.upload_rate(view, load, rf, manager)) for rf in RF_LEVELS]
        )
        for load in LOADED
    }


def goodput(view: StudyView, manager: str) -> dict[str, float]:
    """Upload in Mb/s by household, bytes delivered in order, mean over the levels of congestion."""
    return {
        load: mean(
            [
                median_over_seeds(cases.upload(view, load, rf, manager, "goodput"))
                for rf in RF_LEVELS
            ]
        )
        for load in LOADED
    }


@claim("W13-05")
def _almost_nothing(view: StudyView) -> Outcome:
    ours, theirs = throughput(view, SFQ_CODEL), throughput(view, BUFFERBLOAT)
    ratio = {load: ours[load] / theirs[load] for load in LOADED}
    delivered, others = goodput(view, SFQ_CODEL), goodput(view, BUFFERBLOAT)
    least = min(delivered[load] / others[load] for load in LOADED)
    return Outcome.of(
        min(ratio.values()) >= 0.96, by_case(ratio, 3), f"least ratio of goodput {number(least)}"
    )


@claim("W13-102")
def _similar(view: StudyView) -> Outcome:
    by_manager = {manager: throughput(view, manager) for manager in MANAGERS}
    spread: dict[str, float] = {}
    ahead: list[str] = []
    for load in LOADED:
        rates = {manager: values[load] for manager, values in by_manager.items()}
        spread[load] = max(rates.values()) / min(rates.values())
        if rates[BUFFERBLOAT] >= max(rates.values()):
            ahead.append(load)
    wide = {load: v for load, v in spread.items() if v > 1.08}
    note = f"above 1.08: {by_case(wide, 3)}" if wide else ""
    return Outcome.of(
        not wide and len(ahead) >= 12,
        f"largest ratio {number(max(spread.values()))}; BufferBloat ahead in {len(ahead)} of 16",
        note,
    )


def download(view: StudyView, point: str) -> float:
    """Goodput of the download in Mb/s."""
    return median_over_seeds(view.values(point, "download", "goodput_downstream"))


@claim("W13-18")
def _acknowledgements(view: StudyView) -> Outcome:
    alone = download(view, "download-no-upload")
    plain = download(view, "download-with-upload")
    first = download(view, "download-with-upload-acknowledgements-first")
    held = plain <= 0.7 * alone and first >= 0.95 * alone
    rates = {"alone": alone, "beside": plain, "with priority": first}
    return Outcome.of(held, by_case(rates, 3, "Mb/s"))


@claim("W13-27")
def _yields(view: StudyView) -> Outcome:
    ours, theirs = (
        median_over_seeds(view.values("ledbat-against-cubic", subject, "goodput"))
        for subject in ("ledbat", "upload")
    )
    share = ours / (ours + theirs)
    return Outcome.of(share <= 0.2, f"{number(100 * share, 2)} %")
