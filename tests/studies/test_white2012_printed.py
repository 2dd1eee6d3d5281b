"""The printed values, tolerances and claims of the study are complete and agree with themselves."""

import re
import tomllib

import pytest

from studies import synthetic
from studies.named_tests import missing_tests
from studies.synthetic import HOME, STUDY, printed, score

CLAIMS = STUDY.definition.claim
TESTS = STUDY.definition.tests


def test_every_table_has_eighteen_rows() -> None:
    for name, tables in (("voip", "34"), ("web", "56"), ("summary", "78")):
        for table in tables:
            rows = [r for r in printed(name) if r["source"] == f"white2012 Table {table}"]
            assert len(rows) == 18, (name, table)
            assert len({(r["test_case"], r["queue_manager"]) for r in rows}) == 18


def test_lost_and_late_add_up_to_the_total() -> None:
    for row in printed("voip"):
        total = float(row["lost_pct"]) + float(row["late_pct"])
        # Each of the three is rounded to 0.01.
        assert float(row["total_plr_pct"]) == pytest.approx(total, abs=0.0151), row["test_case"]


def test_the_printed_deltas_and_ratios_follow_from_the_printed_values() -> None:
    summary = {(r["source"], r["test_case"]): r for r in printed("summary")}
    for row in printed("summary_comparison"):
        number = row["case_number"]
        tail = summary[row["source"], f"D{number}"]
        codel = summary[row["source"], f"C{number}"]
        gain = float(codel["voip_mos"]) - float(tail["voip_mos"])
        assert float(row["voip_mos_codel_minus_droptail"]) == pytest.approx(gain, abs=0.101)
        if row["ftp_codel_over_droptail_pct"]:
            ratio = 100 * float(codel["ftp_kbytes_in_600s"]) / float(tail["ftp_kbytes_in_600s"])
            assert float(row["ftp_codel_over_droptail_pct"]) == pytest.approx(ratio, abs=0.51)


def test_the_printed_scores_follow_from_the_printed_losses_without_delay() -> None:
    losses = {(r["source"][-1], r["test_case"]): float(r["total_plr_pct"]) for r in printed("voip")}
    for row in printed("summary"):
        own = "4" if row["source"].endswith("8") and row["queue_manager"] == "DropTail" else "3"
        assert f"{score(losses[own, row['test_case']]):.1f}" == row["voip_mos"], row["test_case"]


def test_no_printed_volume_exceeds_what_the_shaper_lets_through() -> None:
    for row in printed("summary"):
        assert float(row["ftp_kbytes_in_600s"]) <= 385_000


def test_the_claims_are_ninety_five_in_order() -> None:
    assert [claim.identifier for claim in CLAIMS] == [f"W12-{n:02d}" for n in range(1, 96)]
    assert {claim.use for claim in CLAIMS} == {"gate", "unit", "report"}
    assert {claim.trust for claim in CLAIMS} <= set("ABCD")


def test_every_claim_that_runs_can_decide_has_a_function() -> None:
    judged = set(synthetic.CLAIMS)
    assert [c.identifier for c in CLAIMS if c.use != "unit" and c.identifier not in judged] == []


def test_a_closed_form_claim_is_held_by_a_test_that_exists() -> None:
    assert missing_tests(TESTS) == []


def test_only_closed_form_claims_are_left_to_tests() -> None:
    uses = {claim.identifier: claim.use for claim in CLAIMS}
    assert {uses[claim] for claim in TESTS} <= {"unit"}
    assert not set(TESTS) & set(synthetic.CLAIMS)


def test_every_tolerance_names_a_claim_or_an_inconsistency() -> None:
    known = {claim.identifier for claim in CLAIMS}
    for rule in STUDY.rules:
        for name in rule.claim.split(", "):
            assert name in known or re.fullmatch(r"KI-\d\d", name), rule
        if rule.claim.startswith("KI"):
            assert rule.reason, f"{rule.claim}: a rule of our own says why"


def test_the_trust_of_a_tolerance_is_that_of_its_claim() -> None:
    trust = {claim.identifier: claim.trust for claim in CLAIMS}
    for rule in STUDY.rules:
        if rule.claim in trust:
            assert rule.trust == trust[rule.claim], rule


def test_assumptions_say_where_they_come_from() -> None:
    assert len(STUDY.definition.assumption) >= 10
    assert {item.origin for item in STUDY.definition.assumption} <= {"documented", "chosen", "fitted"}
    assert all(item.reason for item in STUDY.definition.assumption)


def test_data_files_are_free_of_stray_keys() -> None:
    document = tomllib.loads((HOME / "printed" / "claims.toml").read_text(encoding="utf-8"))
    assert set(document) == {"claim"}
