"""Claims about games that share a sub-flow of SFQ-CoDel with uploads.

Source: White 2013, sections 4.1.1 and 4.1.2.
Deviations: the document gives no numbers; all games count alike, whatever their household and congestion.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.numbers import by_group as by_case
from sojourn.studies.numbers import number
from sojourn.studies.view import StudyView
from sojourn.studies.white2013.cases import BITTORRENT, RF_LEVELS, SFQ_CODEL, point_of

claim = ClaimBook()


def shared(view: StudyView, point: str) -> pl.DataFrame:
    """Return `uploads` in the same sub-flow and `lost` packets in %, one row per game and seed.

    An upload is a connection that is open when the run ends: the next one of its loop keeps its port, and
    so its sub-flow.
    """
    flows = view.table("flows", point).filter(pl.col("direction") == "upstream")
    uploads = flows.filter((pl.col("traffic") == "upload") & pl.col("ended_ns").is_null())
    counted = uploads.group_by("seed", "sub_flow").agg(uploads=pl.len())
    return (
        flows.filter(pl.col("traffic") == "game")
        .join(counted, on=["seed", "sub_flow"], how="left", maintain_order="left")
        .select(
            pl.col("uploads").fill_null(0),
            lost=100 * pl.col("lost_datagrams") / pl.col("datagrams"),
        )
    )


@claim("W13-72")
def _same_cause(view: StudyView) -> Outcome:
    points = [point_of(load, rf, SFQ_CODEL) for load in BITTORRENT for rf in RF_LEVELS]
    games = pl.concat([shared(view, point) for point in points])
    if games["uploads"].n_unique() == 1:
        return Outcome.not_run(
            f"needs games that share with different numbers of uploads; all share with {games['uploads'][0]}"
        )
    correlation = float(np.corrcoef(games["uploads"].to_numpy(), games["lost"].to_numpy())[0, 1])
    by_number = games.group_by("uploads").agg(pl.col("lost").mean()).sort("uploads")
    return Outcome.of(
        correlation > 0.7,
        f"{number(correlation)} over {len(games)} games; lost beside so many uploads: "
        f"{by_case({str(uploads): lost for uploads, lost in by_number.iter_rows()}, 3, '%')}",
    )
