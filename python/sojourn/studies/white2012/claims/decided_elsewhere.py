"""Claims that this study cannot decide by runs, or decides by arithmetic on the print.

Source: White and Padden 2012, sections 1.2, 4.2.1, Tables 3, 4, 7 and 8.
Deviations: none known.
"""

from __future__ import annotations

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.view import StudyView
from sojourn.studies.white2012.tables import printed_rows

claim = ClaimBook()


@claim("W12-15")
def _oversized_under_congestion(_: StudyView) -> Outcome:
    return Outcome.not_run("belongs to the 2013 study, whose congestion lowers the rate itself")


@claim("W12-87")
def _scores_from_losses(_: StudyView) -> Outcome:
    """Recompute all 36 printed scores from the printed losses, without the delay term."""
    from sojourn._engine import mean_opinion_score, voice_rating

    losses = {
        (row["source"][-1], row["test_case"]): float(row["total_plr_pct"]) / 100
        for row in printed_rows("voip")
    }
    fitting = 0
    rows = printed_rows("summary")
    for row in rows:
        # Both summaries print the scores of the CoDel runs of Table 3.
        table = "4" if row["source"].endswith("8") and row["queue_manager"] != "CoDel" else "3"
        score = mean_opinion_score(voice_rating(0.0, losses[table, row["test_case"]]))
        fitting += f"{score:.1f}" == row["voip_mos"]
    return Outcome.of(
        fitting == len(rows), f"{fitting} of {len(rows)}", "recomputed from the print"
    )
