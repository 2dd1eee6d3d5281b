"""An independent checker of sentences: reads `summary.csv` and the sentence, and nothing of the package.

A clause is refused if a cell contradicts it in any condition; a number if it is no cell, ratio or share of cells; a "%" without
its whole; a word for a score that one of the named settings does not have in one condition; a rate in front where somebody waits.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from headline.summary import Cell, Summary

CLEARLY, FREE, POINT = 1.15, 0.02, 0.51
"""A difference that is told (spec 3.4), the share up to which nothing is lost (3.5), and half a unit of a rounded percentage."""

STALLED = 0.5
"""Points of time that a video stands still and anybody notices: the end of grade C (spec 2)."""

P99 = {
    "round trip": ("delay_round_trip_p99",),
    "upstream": ("frame_delay_p99", "delay_up_p99"),
    "downstream": ("frame_delay_p99_downstream", "delay_down_p99"),
}
LOSSES = ("frames_late", "frames_late_downstream", "loss_total_up", "loss_total_down", "loss_total")
SCORES = {"good": (4.0, 9.0), "fair": (3.6, 4.0), "poor": (3.1, 3.6), "unusable": (0.0, 3.1)}
METRICS = {
    "MOS": ("mos",),
    "s": ("page_load_time_median",),
    "s behind": ("live_latency",),
    "% of the time": ("underflow_max",),
    "Mb/s": ("goodput", "goodput_downstream"),
}
BIGGER = {"mos", "goodput", "goodput_downstream"}

WORDS: Sequence[str] = "no one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905 - reads better

NUMBER = r"(?:\d+(?:\.\d+)?|never|none)"
RANGE = rf"({NUMBER}(?: (?:to|or) {NUMBER})?)"
WHO = r"((?:the )?[^,;.()%]+?)"


def same(text: str, value: float) -> bool:
    """Return whether a written number is this value, with two or three digits."""
    if text in ("never", "none"):
        return not math.isfinite(value) or (text == "none" and value == 0)
    if not math.isfinite(value):
        return False
    written = float(text)
    digits = (float(f"{value:.{count}e}") for count in (1, 2))
    return any(math.isclose(written, one, rel_tol=1e-9, abs_tol=1e-12) for one in digits)


def _with_units(found: re.Match[str]) -> str:
    """Give each of several amounts the unit that stands behind the last."""
    return re.sub(r"([\d.]+)", rf"\1 {found[2]}", found[1])


def ends_of(text: str) -> tuple[str, str]:
    first, _, last = text.replace(" or ", " to ").partition(" to ")
    return first, last or first


class Checker:
    """All objections to one sentence."""

    def __init__(self, sentence: str, summary: Summary) -> None:
        whole = sentence.partition(" Grades: ")[0]
        self.whole = re.sub(r"(?<=s of )((?:[\d.]+(?:, | and ))+)(?=[\d.]+ (\S+))", _with_units, whole)
        self.summary = summary
        self.objections: list[str] = []
        self.understood = 0
        self.is_of_few = False
        self.left = self.whole
        self.compete, self.settings = self._settings()
        only = re.search(r"[Tt]he numbers are those (?:at|with) ([^.;]+?)\.(?: |$)", self.whole)
        self.only = only[1] if only else ""

    # ---- what is compared ------------------------------------------------------------------------------------------

    def _settings(self) -> tuple[str, dict[str, str]]:
        """Find the label whose values the sentence names outside its conditions."""
        best: tuple[int, str, dict[str, str]] = (0, "", {})
        text = self.whole
        for label in self.summary.labels:
            known = {w: v for w, v in self.summary.words(label).items() if not re.fullmatch(r"[\d.]+", w)}
            units = {
                f"{v} {u}": v
                for v in self.summary.words(label).values()
                for u in ("KB", "MB", "ms", "packets", "B", "kB")
            }
            if self.summary.labels == [label]:
                known |= {row["point"]: row[label] for row in self.summary.rows}
            known |= {f"A{word[1:]}": value for word, value in known.items() if word.startswith(("a ", "an "))}
            known |= units if re.fullmatch(r"[\d.]+", next(iter(self.summary.words(label).values()))) else {}
            found = {w for w in known if re.search(rf"(?<![\w-]){re.escape(w)}(?![\w-])", text)}
            weight = sum(
                1
                for w in found
                if re.search(
                    rf"{re.escape(w)} (?:keep|load|give|stop|lose|cost|is best|are best)|(?:separates|not tell) [^.]*{re.escape(w)}",
                    text,
                )
            )
            if (weight or 0) > best[0]:
                best = (weight, label, known)
        return best[1], best[2]

    @property
    def one(self) -> str:
        """Form of the name of a setting."""
        names = sorted(self.settings, key=len, reverse=True)
        return "(?:" + "|".join(re.escape(name) for name in names) + ")" if names else r"(?!)"

    @property
    def several(self) -> str:
        """Form of the names of settings."""
        return rf"((?:[A-Za-z]+s? of )?{self.one}(?:(?:, | and ){self.one})*)"

    def each(self, text: str) -> list[str]:
        """Return the settings that a text names."""
        return [self.settings[name] for name in re.findall(self.one, text)]

    @cached_property
    def conditions(self) -> list[tuple[str, ...]]:
        """Values of all labels that do not compete."""
        place = self._place
        return list(dict.fromkeys((*at[:place], *at[place + 1 :]) if place >= 0 else at for at in self.summary.cells))

    @property
    def _place(self) -> int:
        return self.summary.labels.index(self.compete) if self.compete else -1

    def cell(self, setting: str, where: tuple[str, ...], key: tuple[str, str]) -> Cell | None:
        """Return a cell; pages that never came are later than any."""
        place = self._place
        at = (*where[:place], setting, *where[place:]) if place >= 0 else where
        here = self.summary.cells.get(at, {})
        waiting = here.get((key[0], "pages_unfinished"))
        if key[1] == "page_load_time_median" and key not in here and waiting is not None and waiting.mean > 0:
            return Cell(math.inf, math.inf, math.inf)
        return here.get(key)

    def is_at(self, where: tuple[str, ...], words: str) -> bool:
        """Return whether the words of a sentence are this condition."""
        parts = [re.sub(r"^[a-z_ ]+? (?=[\d.]+$)", "", part) for part in words.split(" and ")]
        for value in where:
            name = self.summary.names.get(value, value)
            if not any(
                name in part or part.split(" ")[0] == value or part.rsplit(" ", 1)[-1] == value for part in parts
            ):
                return False
        return True

    # ---- values ----------------------------------------------------------------------------------------------------

    def values(self, setting: str, who: str, metrics: Sequence[str]) -> Iterator[list[tuple[tuple[str, ...], Cell]]]:
        """For each subject that the words may mean: the cells of all conditions, of the worst metric in each."""
        for subject in self.summary.named(who):
            found: list[tuple[tuple[str, ...], Cell]] = []
            for where in self.conditions:
                if self.only and not self.is_at(where, self.only):
                    continue
                here = [cell for name in metrics if (cell := self.cell(setting, where, (subject, name)))]
                if here:
                    sign = -1 if metrics[0] == "mos" else 1
                    found.append((where, max(here, key=lambda cell: sign * cell.mean)))
            if found:
                yield found

    def fits(self, text: str, settings: Sequence[str], who: str, metrics: Sequence[str]) -> bool:
        """Return whether a range is that of some subject over all conditions and all these settings."""
        low, high = ends_of(text)
        by_setting = [list(self.values(setting, who, metrics)) for setting in settings]
        for choice in itertools.zip_longest(*by_setting):
            means = [cell.mean for one in choice for _, cell in one or []]
            if not means and text in ("never", "none"):
                return True
            if means and same(low, min(means)) and same(high, max(means)):
                return True
        return not any(by_setting) and "n" in text[:1]

    def refuse(self, why: str) -> None:
        """Note an objection."""
        self.objections.append(why)

    def take(self, pattern: str, check: Callable[[re.Match[str]], None]) -> None:
        """Check all clauses of a form, and take them out of what is left."""
        for found in re.finditer(pattern, self.left):
            self.understood += 1
            check(found)
        self.left = re.sub(pattern, "", self.left)

    # ---- clauses ---------------------------------------------------------------------------------------------------

    def run(self) -> list[str]:
        """Check everything; an empty list if nothing speaks against the sentence."""
        if not self.whole:
            return []
        self._first_clause()
        self._kept()
        self._contests()
        self._costs()
        self._runs()
        self._rest()
        return self.objections

    def _first_clause(self) -> None:
        waiting = {"mos", "page_load_time_median", "underflow_max", "live_latency", "late", "rtt_mean"}
        somebody = [name for name, metrics in self.summary.subjects.items() if metrics & waiting]
        first = re.split(r"[;,.] | where ", self.whole)[0]
        rate = re.search(r" (?:gets?|gives? (?:the )?[a-z][\w/-]*) (?:[\d.]+|twice|hardly)", first)
        if somebody and rate and " waits " not in first:
            self.refuse(f"a rate comes first though {somebody[0]} waits")

    def _metrics(self, unit: str, way: str) -> Sequence[str]:
        if unit != "ms":
            return METRICS[unit]
        return P99.get(way, tuple(itertools.chain.from_iterable(P99.values())))

    def _kept(self) -> None:
        end = r"(?: (upstream|downstream|round trip))?(?: \(P99(?:, ([a-z ]+))?\))?"
        forms = {
            rf"{self.several} keeps? {WHO} at {RANGE} (ms){end}": None,
            rf"{self.several} keeps? {WHO} at (MOS) {RANGE}": None,
            rf"{self.several} loads? {WHO} in {RANGE} (s)(?: \(median\))?": None,
            rf"{self.several} stops? {WHO} {RANGE} (% of the time)": None,
            rf"{self.several} keeps? {WHO} {RANGE} (s behind)": None,
            rf"{self.several} gives? {WHO} {RANGE} (Mb/s)": None,
            rf"{self.several} gives? {WHO}(?= (?:twice|hardly|[\d.]+(?: to [\d.]+)? times))": None,
        }
        self.main: tuple[list[str], str, Sequence[str], str] = ([], "", (), "")
        told_way = re.search(r"\(P99, ([a-z ]+)\)", self.whole)

        def check(found: re.Match[str]) -> None:
            parts = list(found.groups())
            names, who = self.each(parts[0]), parts[1]
            numbers = [part for part in parts[2:] if part and re.match(NUMBER, part)]
            units = [part for part in parts[2:] if part in (*METRICS, "ms")]
            ways = [part for part in parts[2:] if part in (*P99, "the worse way")]
            unit = units[0] if units else "Mb/s"
            way = ways[0] if ways else (told_way[1] if told_way and unit == "ms" else "")
            metrics = self._metrics(unit, way)
            if not self.main[0]:
                self.main = (names, who, metrics, numbers[0] if numbers else "")
            if numbers and not self.fits(numbers[0], names, who, metrics):
                self.refuse(f'"{found[0]}" is not the range of the cells')

        def lossy(found: re.Match[str]) -> None:
            self.main = (self.each(found[1]), found[3], LOSSES, found[2])
            if not self.fits(found[2], self.main[0], found[3], LOSSES):
                self.refuse(f'"{found[0]}" is not the range of the cells')

        self.take(rf"{self.several} loses? {RANGE} % of {WHO}'s? (?:packets|frames)", lossy)
        word = rf"{self.several} keeps? {WHO} (good|fair|poor|unusable) \(MOS {RANGE}\)"
        self.take(word, self._word)
        for form in forms:
            self.take(form, check)

    def _word(self, found: re.Match[str]) -> None:
        names, who = self.each(found[1]), found[2]
        if not self.main[0]:
            self.main = (names, who, ("mos",), found[4])
        low, high = SCORES[found[3]]
        for name in names:
            for cells in self.values(name, who, ("mos",)):
                for where, cell in cells:
                    if not low <= cell.mean < high:
                        self.refuse(f'"{found[3]}" is not the word for {name} at {where}: MOS {cell.mean:.2f}')
        if not self.fits(found[4], names, who, ("mos",)):
            self.refuse(f'"{found[0]}" is not the range of the cells')

    def _contests(self) -> None:
        names, who, metrics, _ = self.main
        with_word = rf"; with {self.several} it is (good|fair|poor|unusable) \({RANGE}\)"

        def rival(found: re.Match[str]) -> None:
            self._word(re.match(r"(.*)\|(.*)\|(.*)\|(.*)", f"{found[1]}|{who}|{found[2]}|{found[3]}"))  # type: ignore[arg-type]

        self.take(with_word, rival)
        tail = r"(?: (?:upstream|downstream|round trip))?"
        where = rf" where ({self.one}) (?:needs|gives|does|loses|loads) {RANGE}{tail}((?:(?:, | and ){self.one} {RANGE}{tail})*)(?: \((?:P99|median)(?:, ([a-z ]+))?\))?"

        def beaten(found: re.Match[str]) -> None:
            pairs = [(found[1], found[2]), *re.findall(rf"(?:, | and )({self.one}) {RANGE}", found[3])]
            ways = P99.get(found[found.re.groups] or "", ())
            for name, text in pairs:
                other = ways if ways and metrics[:1] != ("mos",) and metrics[0] not in METRICS["Mb/s"] else metrics
                every = (*other, *itertools.chain.from_iterable(P99.values())) if "P99" in found[0] else other
                if not self.fits(text, [self.settings[name]], who, other) and not self.fits(
                    text, [self.settings[name]], who, every
                ):
                    self.refuse(f'"{name} … {text}" is not the range of its cells')

        self.take(where, beaten)
        number = rf"{RANGE} (?:ms|s|Mb/s)(?: (upstream|downstream|round trip))?"
        factor = r"(hardly|twice|[\d.]+(?: to [\d.]+)? times)"
        ratio = rf",? {factor} (?:better than|as good as|faster than|as fast as) (?:({self.one})'s? {number}|the {number} of ({self.one}))"
        self.take(
            ratio,
            lambda found: self._ratio(found[1], found[2] or found[7], found[3] or found[5], found[4] or found[6] or ""),
        )
        rate = (
            rf" {factor}(?: more than)? (?:({self.one})'s? rate|the rate of ({self.one})) \({RANGE} for {RANGE} Mb/s\)"
        )

        def rates(found: re.Match[str]) -> None:
            self._ratio(found[1], found[2] or found[3], found[5], "")
            if not self.fits(found[4], names, who, metrics):
                self.refuse(f'"{found[4]} Mb/s" is not the range of the cells')

        self.take(rate, rates)
        self.take(r"\. Best( or as good as any)? in (?:both|all \w+) conditions", lambda _: self._best())
        self.take(rf"[Nn]othing separates {self.several} for {WHO}: (.+?)(?=\. |\.$|$)", self._tie)
        untold = rf"[Tt]he (\w+) runs of each do not tell {self.several} apart for {WHO}: (.+?)(?=\. |\.$|$)"
        self.take(untold, self._untold)
        turn = rf"(?:At|With|at|with) ([^,;()]+?) {self.several} (?:is|are) best for {WHO} \((?:MOS )?{RANGE}(?: (?:ms|s|%|Mb/s))?(?: for ({self.one})'s? {RANGE}|; {RANGE} with ({self.one}))\)"
        self.turned = ""

        def turned(found: re.Match[str]) -> None:
            self.turned = found[3]
            self._turn(found[1], self.each(found[2]), found[3])

        self.take(turn, turned)
        more = rf", (?:at|with) ([^,;()]+?) {self.several} \({RANGE} for {RANGE}\)"
        self.take(more, lambda found: self._turn(found[1], self.each(found[2]), self.turned))
        counted = r"No setting is best for (.+?) everywhere: of (\d+) conditions (.+?)(?=\. |\.$)"
        self.take(counted, self._counted)
        none = rf"(?:None of the \w+|Neither of the two) keeps {WHO} usable: [^;.]*(?:\.\d[^;.]*)*"
        self.take(none, self._none)
        self.take(rf"; none keeps {WHO} usable(?=[.;,]|$)", self._none_else)
        gains = rf"; (?:(?:at|with) ([^,;]+?) )?({self.one}) (?:loads|keeps|stops|loses|gives) {WHO}(?: (?:faster|quicker|better|less|nearer|more))?(?:, |,? in )(?:MOS )?{RANGE}(?: (?:ms|s behind|s|% of the time|%))?(?: for {RANGE})?"
        self.take(gains, self._gain)

    def _ratio(self, factor: str, name: str, text: str, way: str) -> None:
        names, who, metrics, _ = self.main
        theirs = self.settings[name]
        other = P99.get(way, metrics) if metrics[0] not in ("mos", *METRICS["Mb/s"], *METRICS["s"]) else metrics
        if not self.fits(text, [theirs], who, other):
            self.refuse(f'"{name} … {text}" is not the range of its cells')
        found: list[float] = []
        for base in self.values(theirs, who, other):
            for where, cell in base:
                ours = [c.mean for n in names for one in self.values(n, who, metrics) for at, c in one if at == where]
                if ours:
                    rate = metrics[0] in BIGGER
                    found.append(min(ours) / cell.mean if rate else cell.mean / max(ours)) if cell.mean and max(
                        ours
                    ) else None
        if not found:
            return
        low, high = min(found), max(found)
        told = [float(one) for one in re.findall(r"[\d.]+", factor)]
        if factor == "hardly":
            right = high < CLEARLY + 0.02
        elif factor == "twice":
            right = low >= 1.85 and high <= 2.25
        else:
            right = math.isclose(told[0], low, rel_tol=0.06) and math.isclose(told[-1], high, rel_tol=0.06)
        if not right:
            self.refuse(f"{factor}: {low:.2f} to {high:.2f} over all conditions")

    def _clearly(self, better: Cell, worse: Cell, metric: str) -> bool:
        """Return whether one cell is better than another beyond both intervals, by enough to name."""
        if self.is_of_few and not (better.has_interval and worse.has_interval):
            return False
        if metric in BIGGER:
            apart = better.low > worse.high
            return apart and (better.mean - worse.mean > 0.2 if metric == "mos" else better.mean > CLEARLY * worse.mean)
        least = STALLED if metric == "underflow_max" else 0.0
        return better.high < worse.low and better.mean * CLEARLY + least < worse.mean

    def _rivals(
        self, names: Sequence[str], who: str, metrics: Sequence[str], at: str = "", only: tuple[str, ...] | None = None
    ) -> None:
        for where in self.conditions:
            if (at and not self.is_at(where, at)) or (only is not None and where != only):
                continue
            if self.only and not self.is_at(where, self.only):
                continue
            for name, other in itertools.product(names, dict.fromkeys(self.settings.values())):
                pairs = [
                    (metric, self.cell(name, where, (subject, metric)), self.cell(other, where, (subject, metric)))
                    for subject in self.summary.named(who)
                    for metric in metrics
                ]
                found = [one for one in pairs if one[1] and one[2]]
                if other in names or not found:
                    continue
                if all(self._clearly(theirs, ours, metric) for metric, ours, theirs in found if ours and theirs):
                    self.refuse(f"{other} is clearly better than {name} at {where}")

    def _best(self) -> None:
        names, who, metrics, _ = self.main
        self._rivals(names, who, metrics)

    def _turn(self, at: str, names: Sequence[str], who: str, where: tuple[str, ...] | None = None) -> None:
        metrics = ["mos", *itertools.chain.from_iterable(P99.values()), *METRICS["s"], "underflow_max"]
        known = {metric for subject in self.summary.named(who) for metric in self.summary.subjects[subject]}
        self._rivals(names, who, [m for m in metrics if m in known], at, where)

    def _counted(self, found: re.Match[str]) -> None:
        """Check that each setting is beaten clearly in no more conditions than its count leaves."""
        objections, self.objections = self.objections, []
        worse: dict[str, int] = {}
        for name, count in re.findall(rf"({self.one}) in (\d+)", found[3]):
            for where in self.conditions:
                self.objections = []
                self._turn("", [self.settings[name]], found[1], where)
                worse[name] = worse.get(name, 0) + bool(self.objections)
            if worse[name] > len(self.conditions) - int(count):
                objections.append(f"{name} is clearly worse in {worse[name]} conditions")
        self.objections = objections

    def _tie(self, found: re.Match[str]) -> None:
        names, who = self.each(found[1]), found[2]
        text = found[3]
        units = {
            "ms": tuple(itertools.chain.from_iterable(P99.values())),
            "MOS": METRICS["MOS"],
            "Mb/s": METRICS["Mb/s"],
        }
        units |= {"% of the time": METRICS["% of the time"], "behind": METRICS["s behind"], " s": METRICS["s"]}
        metrics = next((m for unit, m in units.items() if unit in text), METRICS["s"])
        way = re.search(r"P99, ([a-z ]+)", text)
        metrics = P99.get(way[1], metrics) if way else metrics
        numbers = re.search(RANGE, text.removeprefix("MOS "))
        if numbers and not self.fits(numbers[1], names, who, metrics):
            self.refuse(f'"{text}" is not the range of the cells')
        for name in names:
            self._rivals([name], who, metrics)

    def _untold(self, found: re.Match[str]) -> None:
        """Check a tie of few runs: what was the same in each of them has no interval, and proves nothing."""
        count = WORDS.index(found[1]) if found[1] in WORDS else int(found[1])
        if count not in self.summary.runs:
            self.refuse(f"no cell has {found[1]} runs")
        self.is_of_few = True
        self._tie(re.match(r"(.*)\|(.*)\|(.*)", "|".join(found.groups()[1:])))  # type: ignore[arg-type]
        self.is_of_few = False

    def _none_else(self, found: re.Match[str]) -> None:
        """Check that no setting keeps another application usable (spec 2), beside calls whose score `_none` reads."""
        self._none(found)
        for subject in self.summary.named(found[1]):
            for setting, where in itertools.product(dict.fromkeys(self.settings.values()), self.conditions):
                here = {m: c.mean for m in P99["round trip"] if (c := self.cell(setting, where, (subject, m)))}
                lost = [c.mean for m in LOSSES if (c := self.cell(setting, where, (subject, m)))]
                page = self.cell(setting, where, (subject, "page_load_time_median"))
                is_usable = bool(here) and max(here.values()) <= 200 and max(lost, default=0) < 25
                if is_usable or (page is not None and page.mean <= 10):
                    self.refuse(f"{setting} keeps {found[1]} usable at {where}")

    def _none(self, found: re.Match[str]) -> None:
        for subject in self.summary.named(found[1]):
            for setting, where in itertools.product(dict.fromkeys(self.settings.values()), self.conditions):
                mos = self.cell(setting, where, (subject, "mos"))
                if mos is not None and mos.mean >= 3.1:
                    delays = [
                        c.mean
                        for m in ("delay_up_p99", "delay_down_p99")
                        if (c := self.cell(setting, where, (subject, m)))
                    ]
                    losses = [c.mean for m in LOSSES if (c := self.cell(setting, where, (subject, m)))]
                    if max(delays, default=0) <= 400 and max(losses, default=0) < 25:
                        self.refuse(f"{setting} keeps it usable at {where}")

    def _gain(self, found: re.Match[str]) -> None:
        at, name, who, first, second = found.groups()
        numbers = [one for one in (first, second) if one]
        cells = [
            cell.mean
            for where in self.conditions
            if (not at or self.is_at(where, at)) and (not self.only or self.is_at(where, self.only))
            for setting in dict.fromkeys(self.settings.values())
            for subject in self.summary.named(who)
            for metric in self.summary.subjects[subject]
            if (cell := self.cell(setting, where, (subject, metric)))
        ]
        for one in numbers:
            if one not in ("never", "none") and not any(same(one, value) for value in cells):
                self.refuse(f'"{one}" of "{found[0]}" is no cell')
        del name

    def _shares(self, names: Sequence[str], who: str) -> list[tuple[tuple[str, ...], float]]:
        """Shares that a transfer loses under each condition against the setting that gives it most."""
        subjects = self.summary.named(who)
        found: list[tuple[tuple[str, ...], float]] = []
        for subject, where in itertools.product(subjects, self.conditions):
            if self.only and not self.is_at(where, self.only):
                continue
            rates: dict[str, float] = {}
            for setting in dict.fromkeys(self.settings.values()):
                here = [c.mean for m in METRICS["Mb/s"] if (c := self.cell(setting, where, (subject, m)))]
                if here:
                    rates[setting] = max(here)
            most = max(rates.values(), default=0.0)
            if most > 0:
                found += [(where, 1 - rates[name] / most) for name in names if name in rates]
        return found

    def _costs(self) -> None:
        names = self.main[0]
        most = r"(?:, most (?:at|with) ([^,;.]+?))?"
        loss = rf"[;,.]? ?([Tt]he [a-z -]+?|[\w/-]+) loses (\d+)(?: to (\d+))? % of its rate{most}(?=[,;.]|$| and the)"

        def check(who: str, low: str, high: str | None, at: str | None, settings: Sequence[str]) -> None:
            shares = self._shares(settings, who)
            if not shares:
                self.refuse(f'no rate of "{who}"')
                return
            values = [100 * max(share, 0.0) for _, share in shares]
            if abs(min(values) - float(low)) > POINT or abs(max(values) - float(high or low)) > POINT:
                self.refuse(f"{who} loses {min(values):.1f} to {max(values):.1f} %, not {low} to {high or low}")
            if at and not self.is_at(max(shares, key=lambda one: one[1])[0], at):
                self.refuse(f"{who} does not lose most at {at}")

        more = rf",? and (the [a-z -]+?|[\w/-]+) (\d+)(?: to (\d+))? %{most}(?=[,;.]|$)"
        if " loses " in self.left or "costs" in self.left:
            one_of = re.search(rf"\. ({self.one}) costs ", self.left)
            whose = [self.settings[one_of[1]]] if one_of else names
            self.take(more, lambda m: check(m[1], m[2], m[3], m[4], whose))
        self.take(loss, lambda m: check(m[1], m[2], m[3], m[4], names))
        costs = rf"\. ({self.one}) costs {WHO} (\d+)(?: to (\d+))? % of its rate{most}(?=[,;.]|$)"
        payer: list[str] = []

        def costed(m: re.Match[str]) -> None:
            payer.append(m[2])
            check(m[2], m[3], m[4], m[5], [self.settings[m[1]]])

        self.take(costs, costed)

        def spared(m: re.Match[str]) -> None:
            payer.append(m[2])
            self._free(m[2], [self.settings[m[1]]])

        self.take(rf"\. ({self.one}) costs {WHO} nothing", spared)
        if payer:
            each = rf", ({self.one}) (the [a-z -]+ )?(\d+)(?: to (\d+))? %{most}(?=[,;.]|$)"
            self.take(each, lambda m: check((m[2] or payer[0]).strip(), m[3], m[4], m[5], [self.settings[m[1]]]))
            self.take(rf", ({self.one}) nothing", lambda m: self._free(payer[0], [self.settings[m[1]]]))

        def free(m: re.Match[str]) -> None:
            for who in re.split(r", | and ", m[1]):
                if who != "any transfer":
                    self._free(who, names)

        self.take(r", at no cost to ((?:the [a-z -]+|[\w/-]+)(?:(?:, | and )(?:the [a-z -]+|[\w/-]+))*)", free)
        self.take(r"; \w+ of \w+ applications do(?:es)? better with another setting: see the table", lambda _: None)
        self.take(r",? with " + RANGE + r" % of (?:its|the|their) (?:packets|frames) lost or late,?", self._lost)

    def _free(self, who: str, names: Sequence[str]) -> None:
        # No cost in any condition, whatever the numbers beside it are of.
        only, self.only = self.only, ""
        worst = max(self._shares(names, who), key=lambda one: one[1], default=None)
        self.only = only
        if worst is not None and worst[1] > FREE + 0.002:
            self.refuse(f"at no cost to {who}, which loses {100 * worst[1]:.1f} % at {worst[0]}")

    def _lost(self, found: re.Match[str]) -> None:
        names, who = self.main[0], self.main[1]
        if not any(self.fits(found[1], names, who, (metric,)) for metric in LOSSES):
            worst = [*LOSSES[2:4]]
            if not self.fits(found[1], names, who, worst) and not self.fits(found[1], names, who, LOSSES[:2]):
                self.refuse(f'"{found[0]}" is not the range of the cells')

    def _runs(self) -> None:
        """Clauses on runs in which nothing competes."""
        end = r"(?: (upstream|downstream|round trip))?(?: \(P99(?:, ([a-z ]+))?\))?"
        least = rf"(?:, (?!MOS|while)((?:the )?[\w/ -]+?) {RANGE}(?=[,;]|\.(?!\d)|$))?"

        def waits(m: re.Match[str]) -> None:
            metrics = self._metrics("ms", m[3] or m[4] or "")
            if not self.fits(m[2], [""], m[1].lower() if m[1].startswith("The ") else m[1], metrics):
                self.refuse(f'"{m[0]}" is not the range of the cells')
            if m[5] and not self.fits(m[6], [""], m[5], metrics):
                self.refuse(f'"{m[5]} {m[6]}" is not the range of the cells')

        if not self.compete:
            self.take(rf"((?:The |the )?[\w/ -]+?) waits {RANGE} ms{end}{least}", waits)
            for form, unit in (
                (rf"(A page|a page) takes {RANGE} s \(median\)", "s"),
                (rf"((?:The |the )?[\w/ -]+?) stands still {RANGE} % of the time", "% of the time"),
                (rf"((?:The |the )?[\w/ -]+?) is {RANGE} s behind", "s behind"),
                (rf"((?:The |the )?[\w/ -]+?) scores MOS {RANGE}", "MOS"),
            ):
                self.take(form, lambda m, unit=unit: self._alone(m, unit))
            self.take(rf"Nothing disturbs {WHO}: {RANGE} ms{end}", lambda m: self._calm(m))
            self.take(rf"Nothing disturbs {WHO}: {RANGE} (s behind|s)\b", lambda m: self._alone(m, m[3]))
            self.take(r"((?:The |the )?[\w/ -]+?) never stands still", self._still)
            self.take(
                rf"(?:,? and|, with) {RANGE} % of its (?:packets|frames) (?:come too late|are lost or come too late|are lost)",
                lambda m: self._cells_of(m[1], LOSSES),
            )
            self.take(rf", MOS {RANGE}", lambda m: self._cells_of(m[1], ("mos",)))
            self.take(r", most (?:at|with) [^,;.]+", lambda _: None)
            self.take(
                rf"(?:, while )?((?:The |the )?[\w/-]+) gets {RANGE}(?: and ((?:the )?[\w/-]+) {RANGE})? Mb/s",
                self._gets,
            )
            self.take(
                rf"((?:The |the )?[\w/-]+) gets (twice|{RANGE} times) (.+?) rate(?: of ([\w/-]+))? \({RANGE} for {RANGE} Mb/s\)",
                self._gets_ratio,
            )

    def _alone(self, m: re.Match[str], unit: str) -> None:
        who = m[1].removeprefix("A ").removeprefix("a ")
        who = who.lower() if who.startswith("The ") else who
        if not self.fits(m[2], [""], who, METRICS[unit]):
            self.refuse(f'"{m[0]}" is not the range of the cells')

    def _calm(self, m: re.Match[str]) -> None:
        metrics = self._metrics("ms", m[3] or m[4] or "")
        if not self.fits(m[2], [""], m[1], metrics):
            self.refuse(f'"{m[0]}" is not the range of the cells')

    def _still(self, m: re.Match[str]) -> None:
        if not self.fits("0", [""], m[1].lower(), ("underflow_max",)):
            self.refuse(f'"{m[0]}" is contradicted')

    def _cells_of(self, text: str, metrics: Sequence[str]) -> None:
        every = [c.mean for at in self.summary.cells.values() for (_, metric), c in at.items() if metric in metrics]
        for one in ends_of(text):
            if not any(same(one, value) for value in every):
                self.refuse(f'"{one}" is no cell of {metrics[0]}')

    def _gets(self, m: re.Match[str]) -> None:
        for who, text in ((m[1], m[2]), (m[3], m[4])):
            name = (who or "").replace("The ", "the ")
            if who and not any(self.fits(text, [""], name, (metric,)) for metric in METRICS["Mb/s"]):
                self.refuse(f'"{who} … {text} Mb/s" is not the range of the cells')

    def _gets_ratio(self, m: re.Match[str]) -> None:
        numbers = [m[m.re.groups - 1], m[m.re.groups]]
        for text in numbers:
            for one in ends_of(text):
                self._cells_of(one, METRICS["Mb/s"])

    def _rest(self) -> None:
        """Look at what no clause has taken: numbers have to be cells, and nothing may be a share of nothing."""
        if not self.understood:
            self.refuse("no clause was understood")
        text = self.left
        for word in sorted([*self.settings, *self.summary.subjects], key=len, reverse=True):
            text = re.sub(rf"(?<![\w-]){re.escape(word)}(?![\w-])", "", text)
        if re.search(r"\d %(?! of | loss)", text):
            self.refuse('a "%" without its whole')
        for label in self.summary.labels:
            for value in self.summary.words(label):
                text = re.sub(
                    rf"(?:most )?(?:at|with)(?: [a-z_]+)? {re.escape(value)}\b", "", text, flags=re.IGNORECASE
                )
        every = [cell.mean for at in self.summary.cells.values() for cell in at.values()]
        text = re.sub(r"P99|L4S|CS\d|\d+ conditions", "", text)
        for one in re.findall(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w.-]*[A-Za-z])", text):
            if not any(same(one, value) for value in every):
                self.refuse(f'"{one}" is no cell')


def objections(sentence: str, summary: Summary) -> list[str]:
    """Return what speaks against a sentence on a result; nothing if no cell contradicts it."""
    return Checker(sentence, summary).run()
