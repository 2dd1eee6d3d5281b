"""Sentences and tables of a trial's report."""

from __future__ import annotations

import math
from dataclasses import replace

from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.field.analysis import Analysis, TargetAnalysis
from sojourn.field.regression import Coefficient
from sojourn.field.verdicts import FEWEST_TO_BE_CLEAR, Reading, ratio_interval, read, seen_from, unasked
from sojourn.headline.compared import Effect, headline_of_trial
from sojourn.headline.said import BigNumber, Headline, number, together

_MINUS = "−"


def titled(found: TargetAnalysis) -> str:
    """Name a target; a latency that no UDP ping measured says so."""
    kinds = [kind for kind in found.latency_kinds if kind != "UDP"]
    return f"{found.target.title} ({' and '.join(kinds)} ping)" if kinds else found.target.title


def signed(value: float, decimals: int = 1) -> str:
    """Write a difference with its sign.

    Examples
    --------
    >>> signed(3.14159), signed(-2.0), signed(-0.01), signed(math.nan)
    ('+3.1', '−2.0', '0.0', '–')
    """
    if not math.isfinite(value):
        return "–"
    text = f"{value:+.{decimals}f}"
    return text[1:] if not text.strip("+-0.") else text.replace("-", _MINUS)


def plain(value: float, decimals: int = 2) -> str:
    """Write a number; unknown ones are a dash."""
    return f"{value:.{decimals}f}".replace("-", _MINUS) if math.isfinite(value) else "–"


def probability(p: float) -> str:
    """Write a p value.

    Examples
    --------
    >>> probability(0.03), probability(1e-9)
    ('0.030', '< 0.001')
    """
    if not math.isfinite(p):
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def headline(analysis: Analysis) -> Headline | None:
    """Say in one sentence what the treatment with the largest effect does to latency, and its cost.

    Homes that are too few to say it of others show it of themselves; tests that are too few for an interval give their values alone.
    """
    latency = analysis.target("upload_latency") or next(
        (found for found in analysis.targets if "latency" in found.target.name), None
    )
    if latency is None:
        return None
    told = [one for one in _main(latency) if read(analysis, latency, one).has_interval]
    if not told:
        return _measured(latency)
    way = latency.target.name.partition("_")[0]
    throughput = analysis.target(f"{way}_throughput")
    coefficient = max(told, key=lambda one: abs(one.estimate))
    effect = _effect(analysis, latency, coefficient)
    cost = [
        _effect(analysis, throughput, one)
        for one in (_main(throughput) if throughput else [])
        if throughput and one.level == coefficient.level
    ]
    names = coefficient.level, coefficient.reference
    if effect.points > 0:  # said of the treatment that helps
        names = names[1], names[0]
        effect = replace(effect, points=-effect.points)
        cost = [replace(one, points=-one.points) for one in cost]
    reading = read(analysis, latency, coefficient)
    if not reading.homes:
        return Headline(
            f"No home had both {names[0]} and {names[1]}: whatever differs between their tests may be the homes.", "tie"
        )
    if reading.homes < FEWEST_TO_BE_CLEAR and reading.leaves_out_zero:
        return _of_these_homes(latency, names, effect, cost[0] if cost else None, reading)
    return headline_of_trial(*names, effect, cost[0] if cost else None, reading.homes)


def _measured(found: TargetAnalysis) -> Headline:
    """Say what was measured of each treatment by tests that do not say how much tests vary."""
    homes = "this home" if found.fit.probes == 1 else f"these {found.fit.probes} homes"
    values = together([f"{number(one.mean)} {found.target.unit} with {one.level}" for one in found.periods])
    return Headline(
        f"In {homes} the {found.target.title.lower()} was {values}; {found.rows.height} tests do not say how much tests vary: "
        f"an interval needs two tests of each {found.factor}, and a verdict {FEWEST_TO_BE_CLEAR} homes.",
        "trial",
    )


def _of_these_homes(
    found: TargetAnalysis, names: tuple[str, str], effect: Effect, cost: Effect | None, reading: Reading
) -> Headline:
    """Say what a treatment did in homes that are too few to say it of others."""
    is_one = reading.homes <= 1
    homes = "this home" if is_one else f"these {reading.homes} homes"
    over = "over its tests" if is_one else "by home"
    helps, other = names
    size = number(abs(effect.points))
    latency = found.target.title.lower()
    text = f"In {homes} {helps} has {size} points less {latency} than {other} (± {number(effect.half)} {over})"
    if cost is not None and abs(cost.points) > cost.half:
        text += f" and {number(abs(cost.points))} points {'less' if cost.points < 0 else 'more'} throughput"
    few = "one home says" if is_one else f"{reading.homes} homes say"
    return Headline(
        f"{text}; {few} nothing about others: it takes {FEWEST_TO_BE_CLEAR} homes.",
        "trial",
        big=BigNumber(size, "points", f"{latency}, {homes}"),
    )


def _effect(analysis: Analysis, found: TargetAnalysis, coefficient: Coefficient) -> Effect:
    reading = read(analysis, found, coefficient)
    half = 0.5 * (reading.high - reading.low)
    return Effect(coefficient.estimate, half if math.isfinite(half) else math.inf, reading.is_clear)


def headlines(analysis: Analysis) -> list[str]:
    """Return the answer: one sentence per target, then the sweet spot."""
    sentences = [_sentence(analysis, found) for found in analysis.targets]
    spot = sweet_spot(analysis)
    return [*sentences, *([spot] if spot else [])]


def sweet_spot(analysis: Analysis) -> str:
    """Say what a middle treatment keeps of throughput and avoids of latency, if there is one."""
    throughput, latency = analysis.target("upload_throughput"), analysis.target("upload_latency")
    if throughput is None or latency is None or len(latency.periods) != 3:
        return ""
    names = [period.level for period in latency.periods]
    if [period.level for period in throughput.periods] != names:
        return ""
    ends = [(found, one) for found in (throughput, latency) for one in _main(found)[-1:]]
    if len(ends) < 2 or not all(read(analysis, found, one).is_clear for found, one in ends):
        return ""
    low, middle, high = latency.periods
    gain = throughput.periods[2].delta_mean - throughput.periods[0].delta_mean
    kept = throughput.periods[1].delta_mean - throughput.periods[0].delta_mean
    rise = high.delta_mean - low.delta_mean
    avoided = high.delta_mean - middle.delta_mean
    if gain <= 0 or rise <= 0:
        return ""
    return (
        f"{names[1]} keeps {100 * kept / gain:.0f} % of the upload throughput that {names[2]} gains over "
        f"{names[0]}, and avoids {100 * avoided / rise:.0f} % of the latency that it adds."
    )


def tables(analysis: Analysis) -> list[PlainTable]:
    """Return all tables of a report, the effects first."""
    found = [_effects(analysis), _factors(analysis), _periods(analysis)]
    if any(target.mixed for target in analysis.targets):
        found.append(_ratios(analysis))
    if any(target.power for target in analysis.targets):
        found.append(_power(analysis))
    if analysis.comparisons:
        found.append(_comparability(analysis))
    return found


def _sentence(analysis: Analysis, found: TargetAnalysis) -> str:
    parts: list[str] = []
    for coefficient in _main(found):
        reading = read(analysis, found, coefficient)
        interval = f" ({signed(reading.low)} to {signed(reading.high)})" if reading.has_interval else ""
        parts.append(f"{coefficient.level} {signed(coefficient.estimate)} points{interval}{reading.doubt}")
    if not parts:
        values = "; ".join(f"{one.level} {plain(one.mean)} {found.target.unit}" for one in found.periods)
        return f"{titled(found)}: {values}. Nothing more: {dict(found.fit.left_out)[found.factor]}."
    if not all(read(analysis, found, one).has_interval for one in _main(found)):
        parts[-1] += "; one test of a treatment does not say how much tests vary"
    reference = found.periods[0].level
    return f"{titled(found)}, against {found.factor} {reference}: {'; '.join(parts)}."


def _main(found: TargetAnalysis) -> list[Coefficient]:
    return [c for c in found.fit.coefficients if c.factor == found.factor]


def _effects(analysis: Analysis) -> PlainTable:
    rows: list[tuple[PlainCell, ...]] = []
    for found in analysis.targets:
        for coefficient in found.fit.coefficients:
            reading = read(analysis, found, coefficient)
            is_main = coefficient.factor == found.factor
            rows.append(
                (
                    PlainCell(titled(found)),
                    PlainCell(f"{coefficient.factor} {coefficient.level}"),
                    PlainCell(f"{coefficient.factor} {coefficient.reference}"),
                    PlainCell(
                        f"{signed(coefficient.estimate)} points",
                        "best" if reading.is_clear else "muted",
                        f"{signed(reading.low)} to {signed(reading.high)} ({reading.kind})"
                        if reading.has_interval
                        else reading.kind,
                    ),
                    PlainCell(_percent(found.ratio(coefficient.level)) if is_main else ""),
                    PlainCell(reading.verdict),
                    PlainCell(plain(coefficient.standard_error)),
                    PlainCell(plain(coefficient.robust_error)),
                    PlainCell(plain(coefficient.cluster_error)),
                    PlainCell(probability(coefficient.bootstrap_p)),
                )
            )
    left = "; ".join(
        f"{found.target.title.lower()}: {factor} is left out: {reason}"
        for found in analysis.targets[:1]
        for factor, reason in found.fit.left_out
    )
    return PlainTable(
        "effects",
        "Effects",
        "Regression of percent deltas. Points are percentage points of each home's own mean, not ratios; the "
        f"next column says the same as a ratio of mean deltas. {_intervals(analysis)} "
        "Errors: plain, robust (HC3), clustered; the last column is the wild cluster bootstrap, "
        f"shown for fewer than 30 homes.{f' Not in the model: {left}.' if left else ''}",
        ("target", "level", "against", "effect", "ratio", "verdict", "plain", "HC3", "by home", "bootstrap p"),
        tuple(rows),
    )


def _intervals(analysis: Analysis) -> str:
    """Say what the intervals of the effects are."""
    readings = [read(analysis, found, c) for found in analysis.targets for c in found.fit.coefficients]
    said: list[str] = []
    if any(one.is_by_home and one.has_interval for one in readings):
        said.append("Intervals are 95 %, clustered by home, since tests of one home are alike.")
    if not all(one.has_interval for one in readings):
        said.append("Where a level has one test, nothing says how much tests vary, and there is no interval.")
    if any(one.has_interval and not one.is_by_home for one in readings):
        said.append(
            "Where one home alone has both levels, the 95 % interval is over its tests: it ignores homes and says "
            "nothing of others."
        )
    rows = unasked(analysis)
    if rows > 1:
        said.append(
            f"Weeks, days and hours were not questions of the trial's plan: intervals of these {rows} rows are wider, so that "
            "by chance one or more of all of them is clear in 5 % of trials at most (Bonferroni)."
        )
    return " ".join(said)


def _factors(analysis: Analysis) -> PlainTable:
    rows = tuple(
        (
            PlainCell(found.target.title),
            PlainCell(test.factor),
            PlainCell(f"{test.f:.2f}", detail=f"p {probability(test.p)}"),
            PlainCell(plain(test.robust_f), detail=f"p {probability(test.robust_p)}"),
            PlainCell(plain(test.cluster_f), detail=f"p {probability(test.cluster_p)}"),
            PlainCell(plain(test.partial_eta_squared, 3)),
            PlainCell(plain(test.partial_omega_squared, 3)),
            PlainCell(
                plain(max(seen_from(analysis, found, c) for c in found.fit.coefficients if c.factor == test.factor), 1)
            ),
        )
        for found in analysis.targets
        for test in found.fit.factors
    )
    return PlainTable(
        "factors",
        "Does a factor matter at all?",
        "Type II analysis of variance, then Wald tests with robust and with clustered errors. Partial η² and ω²: share "
        "of what the other factors leave that this one explains. Last column: 80 % of such trials would call a difference "
        "of this size between two levels clear.",
        ("target", "factor", "F", "F, HC3", "F, by home", "partial η²", "partial ω²", "seen from, points"),
        rows,
    )


def _periods(analysis: Analysis) -> PlainTable:
    rows = tuple(
        (
            PlainCell(found.target.title),
            PlainCell(period.level),
            PlainCell(str(period.tests), detail=f"{period.probes} homes"),
            PlainCell(f"{plain(period.mean)} {found.target.unit}"),
            PlainCell(signed(period.delta_mean)),
            PlainCell(signed(period.delta_median)),
            PlainCell(plain(period.delta_sd, 1)),
            PlainCell(plain(period.delta_iqr, 1)),
            PlainCell(f"p {probability(found.ranks.brown_forsythe_p)}" if number == 0 else ""),
            PlainCell(f"p {probability(found.ranks.friedman_p)}" if number == 0 else ""),
        )
        for found in analysis.targets
        for number, period in enumerate(found.periods)
    )
    return PlainTable(
        "periods",
        "What was measured",
        "Percent deltas from each home's mean. Equal spread: Brown and Forsythe; equal level within homes: Friedman, "
        "on the medians of homes with all treatments.",
        (
            "target", "level", "tests", "mean", "mean delta, %", "median", "standard deviation",
            "interquartile range", "equal spread", "equal level",
        ),
        rows,
    )  # fmt: skip


def _ratios(analysis: Analysis) -> PlainTable:
    effects = [
        (found, found.mixed, effect)
        for found in analysis.targets
        if found.mixed is not None
        for effect in found.mixed.effects
    ]
    others = sum(effect.factor != found.factor for found, _, effect in effects)
    rows: list[tuple[PlainCell, ...]] = []
    for found, mixed, effect in effects:
        low, high = ratio_interval(effect, 1 if effect.factor == found.factor else others)
        rows.append(
            (
                PlainCell(found.target.title),
                PlainCell(f"{effect.factor} {effect.level}"),
                PlainCell(f"{effect.factor} {effect.reference}"),
                PlainCell(_percent(effect.ratio), detail=f"{_percent(low)} to {_percent(high)}"),
                PlainCell(plain(mixed.probe_variance, 4)),
                PlainCell(plain(mixed.residual_variance, 4)),
            )
        )
    return PlainTable(
        "ratios",
        "The same as ratios",
        "Mixed model of logarithms with a random level per home: effects as changes in percent of the reference, which "
        "is what most readers understand by “higher”; intervals as above. Variances of logarithms: between homes, "
        "within a home.",
        ("target", "level", "against", "change", "between homes", "within a home"),
        tuple(rows),
    )


def _power(analysis: Analysis) -> PlainTable:
    rows = tuple(
        (
            PlainCell(found.target.title),
            *(PlainCell(str(row.probes) if row.probes else "> 100,000") for row in found.power),
            PlainCell(plain(100 * math.sqrt(found.variance.between_homes), 1)),
            PlainCell(plain(100 * math.sqrt(found.variance.within_home), 1)),
        )
        for found in analysis.targets
        if found.power and found.variance is not None
    )
    weeks = next(found.power for found in analysis.targets if found.power)
    return PlainTable(
        "power",
        "How many homes would see a change of 10 %",
        "Homes needed by weeks per treatment (three tests a day), for a power of 80 % at a level of 5 %, each home "
        "compared with itself; from the variances of this trial: what differs between homes in the effect, and within a "
        "home from test to test.",
        (
            "target",
            *(f"{row.weeks} week{'s' if row.weeks > 1 else ''}" for row in weeks),
            "effect differs, %",
            "tests differ, %",
        ),
        rows,
    )


def _comparability(analysis: Analysis) -> PlainTable:
    rows = tuple(
        (
            PlainCell(name),
            PlainCell(target.title),
            PlainCell(f"week {one.second} against week {one.first}"),
            PlainCell(str(one.probes)),
            PlainCell(signed(one.difference), detail=f"{signed(one.low)} to {signed(one.high)}"),
            PlainCell("alike" if one.equivalent else "not shown to be alike"),
            PlainCell(probability(one.p)),
        )
        for name, target, comparisons in analysis.comparisons
        for one in comparisons
    )
    return PlainTable(
        "comparability",
        "Were these weeks like others?",
        "Homes without a treatment: weeks are alike if both one-sided tests put their difference within 3 points.",
        ("data", "target", "weeks", "homes", "difference, points", "verdict", "p"),
        rows,
    )


def _percent(ratio: float) -> str:
    return f"{signed(100 * (ratio - 1))} %" if math.isfinite(ratio) else "–"
