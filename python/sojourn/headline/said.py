"""The headline with its parts, and the form of its numbers and names."""

from __future__ import annotations

import math
import re

TYPE_CHECKING = False  # as type checkers read it; the modules typing and dataclasses would take their time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypedDict, Unpack

    class Parts(TypedDict, total=False):
        """Parts of a headline that may be replaced."""

        sentence: str
        kind: str
        about: str
        grades: Mapping[str, str]
        reasons: Mapping[str, str]
        big: BigNumber | None
        winner: tuple[str, ...]
        runner_up: str
        cost: str
        cautions: tuple[str, ...]
        rival: str
        facts: tuple[str, ...]
        claims: tuple[Claim, ...]


class Point:
    """One point of a study, or a run.

    Attributes
    ----------
    setting
        What competes, as readers call it; empty if nothing does.
    values
        By subject and metric, the value of each seed that gave one.
    condition
        All else that varies, as readers call it: `20 ms`, `four uploads`.
    name
        Name of the point, to look a number up.
    """

    __slots__ = ("condition", "name", "setting", "values")

    def __init__(
        self, setting: str, values: Mapping[tuple[str, str], Mapping[int, float]], condition: str = "", name: str = ""
    ) -> None:
        self.setting, self.values, self.condition, self.name = setting, values, condition, name

    def __repr__(self) -> str:
        """Show everything."""
        return f"Point({self.setting!r}, {self.values!r}, {self.condition!r}, {self.name!r})"


class Cell:
    """Place of a sentence's number in `summary.csv`: its mean is the number before rounding."""

    __slots__ = ("condition", "metric", "setting", "subject", "text", "value")

    def __init__(self, setting: str, condition: str, subject: str, metric: str, value: float, text: str) -> None:
        self.setting, self.condition, self.subject = setting, condition, subject
        self.metric, self.value, self.text = metric, value, text


class Claim:
    """One statement: a subject, a relation, a value, and the cells that it was computed from; the documentation has all relations."""

    __slots__ = ("over", "relation", "subject", "value")

    def __init__(self, subject: str, relation: str, over: Sequence[Cell] = (), **value: Any) -> None:  # noqa: ANN401 - as JSON
        self.subject, self.relation, self.over = subject, relation, tuple(over)
        self.value: Mapping[str, Any] = value

    def __repr__(self) -> str:
        """Show everything but the cells."""
        return f"Claim({self.subject!r}, {self.relation!r}, {_plain(self.value)!r})"

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        over = [
            {"setting": one.setting, "condition": one.condition, "subject": one.subject, "metric": one.metric}
            | {"mean": one.value}
            for one in self.over
        ]
        return {"subject": self.subject, "relation": self.relation, "value": _plain(self.value), "over": over}


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value as JSON has it."""
    if (as_json := getattr(value, "as_json", None)) is not None:
        return as_json()
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]  # pyright: ignore[reportUnknownVariableType]
    return value


class BigNumber:
    """The number that a page sets large, its unit, and its description: `game, P99, round trip`."""

    __slots__ = ("text", "unit", "what")

    def __init__(self, text: str, unit: str, what: str) -> None:
        self.text, self.unit, self.what = text, unit, what


MOST_NAMED = 4
"""Settings that a grade names, the rest by number: chosen, a line of a terminal."""


class Headline:
    """Sentence about the runs, with all that it rests on.

    Attributes
    ----------
    sentence
        The whole text; cautions that belong to it stand at its end.
    kind
        Which form it has: `winner`, `good`, `trade`, `where`, `tie`, `none`, `run`, `idle`, `turns`, `only`, `rate`, `moved`,
        `same`, `trial` or `own`.
    about
        Application of the first number: `the game`; empty if there are only transfers.
    grades
        By setting, the grade of what is felt worst, A to F; two where seeds differ: `B to C`.
    reasons
        By setting below A, the measure that gives its worst grade: of which application, how much, and where.
    winner
        Settings that nothing beats, and that the sentence names first; empty if chance cannot be judged.
    runner_up
        The best of the others.
    cost
        Cost of the winner, in words; empty if there is none to name.
    cautions
        What has to be known beside it.
    rival
        The setting nearest to the winner, where a study says what its settings need; empty elsewhere.
    facts
        Sentences below it: what the rival keeps, and what must be true for the winner.
    felt
        By setting, who feels what its grade is of: `the page`.
    claims
        What the sentence states, each with the cells that it was computed from.
    """

    def __init__(
        self,
        sentence: str,
        kind: str,
        *,
        about: str = "",
        grades: Mapping[str, str] | None = None,
        reasons: Mapping[str, str] | None = None,
        big: BigNumber | None = None,
        winner: tuple[str, ...] = (),
        runner_up: str = "",
        cost: str = "",
        cautions: tuple[str, ...] = (),
        rival: str = "",
        facts: tuple[str, ...] = (),
        felt: Mapping[str, tuple[str, ...]] | None = None,
        claims: tuple[Claim, ...] = (),
    ) -> None:
        self.sentence, self.kind, self.about, self.big = sentence, kind, about, big
        self.grades: Mapping[str, str] = grades or {}
        self.reasons = {name: why for name, why in (reasons or {}).items() if name in self.grades}
        self.winner, self.runner_up = winner, runner_up
        self.rival, self.facts = rival, facts
        self.felt: Mapping[str, tuple[str, ...]] = felt or {}
        self.cost, self.cautions, self.claims = cost, cautions, claims

    def __eq__(self, other: object) -> bool:
        """Return whether both say the same."""
        return isinstance(other, Headline) and self.as_json() == other.as_json()

    def __hash__(self) -> int:
        """Go by the sentence."""
        return hash(self.sentence)

    def __repr__(self) -> str:
        """Show the sentence."""
        return f"<Headline: {self.sentence}>"

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Places of its measured numbers."""
        return tuple(cell for claim in self.claims for cell in claim.over)

    def but(self, **parts: Unpack[Parts]) -> Headline:
        """Return the same with other parts."""
        known: dict[str, Any] = {**vars(self), **parts}
        return Headline(**known)

    def worded(self, sentence: str) -> Headline:
        """Return the same in a study's own words; its number stays if they tell it with its unit.

        Examples
        --------
        >>> pages = Headline("", "winner", big=BigNumber("2.8", "s", "pages, median"))
        >>> [pages.worded(text).big is None for text in ("Pages in 2.8 s.", "2.8 points more.", "In 12.8 s.")]
        [False, True, True]
        """
        big = self.big
        told = big is not None and re.search(rf"(?<!\S){re.escape(f'{big.text} {big.unit}'.strip())}(?!\w)", sentence)
        return self.but(sentence=sentence, kind="own", claims=(), big=big if told else None)

    def by_grade(self) -> list[tuple[str, list[str]]]:
        """Return the settings by grade, the best first, many of them by number; nothing if nothing competes.

        Examples
        --------
        >>> grades = {f"{size} KB": "A" if size < 32 else "F" for size in range(16, 36)}
        >>> Headline("", "winner", grades=grades).by_grade()
        [('A', ['16 KB', '17 KB', '18 KB', '19 KB', '12 others']), ('F', ['32 KB', '33 KB', '34 KB', '35 KB'])]
        """
        if len(self.grades) < 2:
            return []
        found: dict[str, list[str]] = {}
        for setting, grade in self.grades.items():
            found.setdefault(grade, []).append(setting)
        for names in found.values():
            if (others := len(names) - MOST_NAMED) > 1:
                names[MOST_NAMED:] = [f"{others} others"]
        return sorted(found.items(), key=lambda one: (one[0][-1], one[0]))

    def felt_by(self, grade: str) -> str:
        """Return who feels what a grade is of, with each setting that has it, or with one of them where that differs.

        Examples
        --------
        >>> felt = {"PIE": ("the page",), "today": ("the game", "the page")}
        >>> said = Headline("", "winner", grades={"PIE": "B", "today": "F"}, felt=felt)
        >>> said.felt_by("B"), said.felt_by("F")
        ('the page', 'the game and the page')
        """
        of_grade = [self.felt.get(setting, ()) for setting, one in self.grades.items() if one == grade]
        found = list(dict.fromkeys(name for names in of_grade for name in names))
        return together([name for name in found if all(name in names for names in of_grade)] or found)

    def failing(self, grade: str) -> list[tuple[str, str]]:
        """Return why settings of a grade that ends with F have it, many of them by the first."""
        found = [
            (name, self.reasons[name]) for name, own in self.grades.items() if own == grade and name in self.reasons
        ]
        return found[:MOST_NAMED] if grade.endswith("F") else []

    @property
    def graded(self) -> str:
        """The settings by grade, in a line; empty if nothing competes.

        Examples
        --------
        >>> grades = {"today": "F", "PIE": "B to C", "CoDel": "C", "LLD": "A"}
        >>> Headline("", "winner", grades=grades).graded
        'Grades: A LLD; B to C PIE; C CoDel; F today.'
        """
        groups = [f"{grade} {together(names)}" for grade, names in self.by_grade()]
        return f"Grades: {'; '.join(groups)}." if groups else ""

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        big = self.big
        return {
            "sentence": self.sentence,
            "kind": self.kind,
            "about": self.about,
            "grades": dict(self.grades),
            "reasons": dict(self.reasons),
            "number": None if big is None else {"value": big.text, "unit": big.unit, "what": big.what},
            "winner": list(self.winner),
            "runner_up": self.runner_up,
            "cost": self.cost,
            "cautions": list(self.cautions),
            "rival": self.rival,
            "facts": list(self.facts),
            "claims": [claim.as_json() for claim in self.claims],
        }


def number(value: float, half: float | None = None) -> str:
    """Write a number with two significant digits, or with three above 100 where the third is known.

    Parameters
    ----------
    value
        The number.
    half
        Half the width of its interval, if it has one.

    Examples
    --------
    >>> number(0.94), number(446.3, 9.0), number(446.3, 20.0), number(45.6), number(12_345.0)
    ('0.94', '446', '450', '46', '12300')
    """
    if not math.isfinite(value):
        return "never" if value > 0 else "–"
    if value == 0:
        return "0"
    return digits(value, 3 if _is_third_known(value, half) else 2)


def _is_third_known(value: float, half: float | None) -> bool:
    size = abs(float(f"{value:.2e}"))
    return size >= 100 and (half is None or half < 10 ** (math.floor(math.log10(size)) - 1))


def digits(value: float, count: int = 2) -> str:
    """Write a number with `count` significant digits and without an exponent.

    Examples
    --------
    >>> digits(474.0), digits(1.61), digits(0.00047), digits(6.0)
    ('470', '1.6', '0.00047', '6')
    """
    rounded = float(f"{value:.{count - 1}e}")
    if rounded == 0:
        return "0"
    places = max(0, count - 1 - math.floor(math.log10(abs(rounded))))
    text = f"{rounded:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def many(count: int) -> str:
    """Write a small count in words.

    Examples
    --------
    >>> many(4), many(17)
    ('four', '17')
    """
    words = "no one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905 - reads better
    return words[count] if count < len(words) else str(count)


def together(names: Sequence[str]) -> str:
    """Join names.

    Examples
    --------
    >>> together(["CoDel", "PIE", "FQ-CoDel"])
    'CoDel, PIE and FQ-CoDel'
    """
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


_AMOUNT = re.compile(r"(\d+(?:\.\d+)?) (\S+)")


def amount(name: str) -> tuple[str, str] | None:
    """Split a name that is an amount, such as `8 KB`."""
    found = _AMOUNT.fullmatch(name)
    return (found[1], found[2]) if found else None


def named(names: Sequence[str], noun: str = "") -> str:
    """Name settings; amounts of one unit share it, followed by their noun.

    Examples
    --------
    >>> named(["8 KB", "64 KB"], "buffer"), named(["64 KB"], "buffer"), named(["CoDel", "PIE"])
    ('buffers of 8 and 64 KB', 'a buffer of 64 KB', 'CoDel and PIE')
    """
    parts = [amount(name) for name in names]
    amounts = [part for part in parts if part is not None]
    if len(amounts) < len(names):
        return together(names)
    units = {unit for _, unit in amounts}
    listed = together(names)
    if len(units) == 1:
        listed = f"{together([value for value, _ in amounts])} {amounts[0][1]}"
    if not noun:
        return listed
    article = "an" if noun[0].lower() in "aeiou" else "a"
    return f"{noun}s of {listed}" if len(names) > 1 else f"{article} {noun} of {listed}"


def possessive(name: str) -> str:
    """Return the possessive of a name of one word; empty for others, which stand behind.

    Examples
    --------
    >>> possessive("today"), possessive("drops"), possessive("LLD with PGS")
    ("today's", "drops'", '')
    """
    if " " in name:
        return ""
    return f"{name}'" if name.endswith("s") else f"{name}'s"
