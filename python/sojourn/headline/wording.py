"""From claims to words: how each relation is said. Nothing here knows a result; all numbers stand in the claims and values."""

from __future__ import annotations

import math
import re

from sojourn.headline.applications import GRADES, WAYS
from sojourn.headline.ranges import Range
from sojourn.headline.said import amount, digits, many, named, possessive, together
from sojourn.headline.wireless import narrow_sentence

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sojourn.headline.board import Value
    from sojourn.headline.said import Claim

ONE_SEED = "One seed: differences may be chance."

HARDLY = 1.15
"""Ratio below which settings hardly differ. chosen: 15 % is not felt."""

SCORES = {"A": "good", "B": "good", "C": "fair", "D": "poor", "F": "unusable"}
"""The word for a call at each grade."""


def sentence(claims: Sequence[Claim]) -> str:
    """Say claims, in their order; each brings the mark that joins it to the one before.

    Examples
    --------
    >>> from sojourn.headline.said import Claim
    >>> sentence([Claim("the upload", "loses", low=0, high=9, most="at 100 ms", setting="")])
    'The upload loses 0 to 9 % of its rate, most at 100 ms.'
    """
    text = ""
    for place, claim in enumerate(claims):
        before = claims[place - 1] if place else None
        after = claims[place + 1] if place + 1 < len(claims) else None
        text += _SAID[claim.relation](claim, before, after)
    text = re.sub(r"(?<=\. )an? ", lambda found: found[0].capitalize(), text.lstrip(",;. "))
    return f"{text[:1].upper()}{text[1:]}." if text.startswith(_LOWER) else f"{text}."


_LOWER = ("a ", "an ", "the ", "no ", "in ", "at ", "with ", "none ", "neither ", "nothing ", "only ")
"""Words that begin with a capital at the start of a sentence; names of settings stay as they are."""


def tag(at: Range) -> str:
    """Return what a number is, in parentheses with a space before: ` (P99, upstream)`."""
    parts = [part for part in (at.kind, at.direction) if part]
    return f" ({', '.join(parts)})" if parts and at.way not in ("score", "stall", "behind", "rate") else ""


def told(at: Range) -> str:
    """Return a number with unit, direction and kind: `6 ms upstream (P99)`."""
    if at.way == "delay" and at.direction not in ("round trip", ""):
        return f"{at.text} ms {at.direction} ({at.kind})"
    return _way(at, "told")


def _way(at: Range, place: str, who: str = "", **more: str) -> str:
    """Fill the template of a way of feeling."""
    words = {"told": told(at) if place in ("alone", "idle") else "", "tag": tag(at), "things": at.things}
    template: str = getattr(WAYS[at.way], place)
    return template.format(who=who, x=at.text, **words, whose=whose(who, at.things), **more)


def whose(name: str, thing: str) -> str:
    """Return whose a thing is: `CUBIC's rate`, `the rate of LLD with PGS`, `the game's packets`."""
    if name.startswith("the "):
        return f"{name}'s {thing}" if not name.endswith("s") else f"{name}' {thing}"
    own = possessive(name)
    return f"{own} {thing}" if own else f"the {thing} of {name}"


def condition(words: str) -> str:
    """Return how a clause under a condition begins: `at 20 ms`, `with four uploads`."""
    return f"at {words}" if amount(words) else f"with {words}"


def gone(count: int) -> str:
    """Say how many settings have not run."""
    return "One setting is missing." if count == 1 else f"{many(count).capitalize()} settings are missing."


def reason(who: str, value: Value) -> str:
    """Say which number of an application gives a grade, beyond which limit, and where."""
    measure, by_seed = value.measure, value.by_seed
    place = value.places[1]
    run = ""
    if value.place != place:
        seed, worst = max(by_seed.items(), key=lambda one: measure.grade(one[1]))
        run, value = " in its worst run", value.of_seed(seed, worst)
    at, end = Range([value]), digits(measure.limits[place - 1], 3)
    for count in (3, 4, 5, 6):
        if at.low_text == at.high_text == end != digits(value.mean, 6):  # 1.02 s, and not "1 s, above 1 s"
            at.low_text = at.high_text = digits(value.mean, count)
    limit = f"{end} {measure.unit}".strip()
    beyond = (
        f", below {limit}"
        if measure.more_is_better
        else f", {limit} or more"
        if at.way == "loss"
        else f", above {limit}"
    )
    if at.way == "load" and not math.isfinite(at.low):
        said, beyond = "no page comes", ""
    else:
        said = _way(at, "alone", who)
    where = f" {condition(value.condition)}" if value.condition else ""
    return f"{said}{run}{beyond}{where}"


def times(low: float, high: float, than: str, like: str) -> str:
    """Return a ratio as people say it; empty where both numbers say more.

    Examples
    --------
    >>> [times(low, high, "better than", "as good as") for low, high in ((1, 1.1), (1.2, 3), (2, 2.1), (3, 40.2))]
    ['hardly better than', '', 'twice as good as', '3 to 40 times better than']
    """
    if not (low > 0 and math.isfinite(high)):
        return ""
    if high < HARDLY:
        return f"hardly {than}"
    if low >= 1.9 and high < 2.2:
        return f"twice {like}"
    if low < 1.9:
        return ""
    texts = list(dict.fromkeys((digits(low), digits(high))))
    return f"{' to '.join(texts)} times {than}"


def _ratio(claim: Claim | None, at: Range) -> str:
    """Return the words of a ratio that the next claim has, if it has some."""
    if claim is None or claim.relation != "better_by" or not claim.value.get("factor"):
        return ""
    low, high = claim.value["factor"]
    if at.way == "rate":
        text = times(low, high, "more than", "")
        numbers = list(dict.fromkeys((digits(low), digits(high))))
        return text.strip() if low < 1.15 or text == "twice " else f"{' to '.join(numbers)} times"
    than = WAYS[at.way].than
    return times(low, high, *than) if than else ""


def _keeps_at(claim: Claim, before: Claim | None, after: Claim | None) -> str:
    value, who = claim.value, claim.subject
    at: Range = value["at"]
    settings: Sequence[str] = value["settings"]
    if not settings:
        return ("; " if before is not None else "") + _waits(claim)
    start = _chance(claim)
    noun: str = value.get("noun", "")
    name = named(settings, noun)
    if noun and amount(settings[0]) and not start:
        name = f"{name[0].upper()}{name[1:]}"
    s = "" if len(settings) > 1 else "s"
    words: Sequence[str] = after.value.get("words", ()) if after is not None else ()
    if words:
        return f"{start}{name} keep{s} {who} {words[0]} (MOS {at.text})"
    ratio = _ratio(after, at)
    if at.way == "rate" and ratio:
        return f"{start}{name} give{s} {who}"
    text = start + name + " " + _way(at, "keeps", who, s=s)
    if not ratio:
        theirs: Range | None = after.value.get("theirs") if after is not None else None
        apart = theirs is not None and theirs.direction != at.direction and at.way == "delay"
        return f"{text} {at.direction}" if apart and at.direction else text
    lost: Range | None = value.get("lost")
    told_lost = f", with {lost.text} % of its {lost.things} lost or late," if lost else ""
    beside = _beside(value.get("beside", {}))
    return f"{text}{tag(at)}{told_lost}{beside}{'' if told_lost and not beside else ','}"


def _chance(claim: Claim) -> str:
    """Return how a claim begins that rests on one run, or on one run for each condition."""
    return {1: "in this run ", 2: "in these runs "}.get(int(claim.value["chance"]), "")


def _beside(counts: Mapping[str, int]) -> str:
    parts = [
        f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}" if count == 1 else f"{many(count)} {noun}s"
        for noun, count in counts.items()
    ]
    return f" beside {together(parts)}" if parts else ""


def _waits(claim: Claim) -> str:
    """Say what a run gives to an application."""
    value, at = claim.value, claim.value["at"]
    start = f"only {value['only']} has run: " if value.get("only") else ""
    alone = "no page comes" if at.way == "load" and not math.isfinite(at.low) else _way(at, "alone", claim.subject)
    least: Range | None = value.get("least")
    if least is not None:
        alone += f", {value['of_least']} {least.text}"
    most = f", most {value['most']}" if value.get("most") else ""
    score: Range | None = value.get("score")
    lost: Range | None = value.get("lost")
    parts = f", MOS {score.text}" if score else ""
    if lost is not None:
        parts += f"{',' if score else ''} and {lost.text} % of its {lost.things} {value['fate']}"
    return f"{start}{alone}{most}{parts}{_seen(claim)}"


def _seen(claim: Claim) -> str:
    """Say in how many conditions the subject was measured at all, if not in each."""
    seen: Sequence[int] = claim.value.get("seen", ())
    return f" in {many(seen[0])} of {many(seen[1])} conditions" if seen else ""


def _better_by(claim: Claim, before: Claim | None, after: Claim | None) -> str:
    assert before is not None
    at: Range = before.value["at"]
    name: str = claim.value["than"]
    theirs: Range = claim.value["theirs"]
    if words := claim.value.get("words"):
        return f"; with {name} it is {words[1]} ({theirs.text})"
    if ratio := _ratio(claim, at):
        if at.way == "rate":
            return f" {ratio} {whose(name, 'rate')} ({at.text} for {theirs.text} Mb/s)"
        number = f"{theirs.text} {theirs.unit}"
        if theirs.direction and theirs.direction != at.direction:
            number += f" {theirs.direction}"
        return f" {ratio} {whose(name, number)}"
    listed = [_number(theirs)]
    for other, range_ in claim.value.get("others", ()):
        apart = f" {range_.direction}" if range_.direction != theirs.direction else ""
        listed.append(f"{other} {_number(range_)}{apart}")
    needs = WAYS[at.way].needs
    if not math.isfinite(theirs.low) and WAYS[at.way].never:
        needs, listed = WAYS[at.way].never, listed[1:]
    end = tag(theirs)
    if theirs.direction != at.direction and theirs.direction:
        end = f" {theirs.direction} ({theirs.kind})" if theirs.kind else f" {theirs.direction}"
    if after is not None and after.relation == "gains" and not claim.value.get("others") and claim.value["of"] == 2:
        end = ""
    joined = f" {needs} {together(listed)}" if listed else f" {needs}"
    return f" where {name}{joined}{end}"


def _number(at: Range) -> str:
    return at.text if math.isfinite(at.low) else "none"


def _best(claim: Claim, *_: Claim | None) -> str:
    count, ties = claim.value["conditions"], claim.value["ties"]
    much = "both" if count == 2 else f"all {many(count)}"
    return f". Best{' or as good as any' if ties else ''} in {much} conditions"


def _turns_at(claim: Claim, before: Claim | None, _: Claim | None) -> str:
    value = claim.value
    if "counts" in value:
        parts = [f"{name} in {count}" for name, count in value["counts"]]
        return f"no setting is best for {claim.subject} everywhere: of {value['of']} conditions {together(parts)}"
    at, theirs = value["at"], value["theirs"]
    is_first = before is None or before.relation != "turns_at"
    names = together(value["settings"])
    where = condition(value["condition"])
    if not is_first:
        return f", {where} {names} ({at.text} for {theirs.text})"
    verb = "is" if len(value["settings"]) == 1 else "are"
    prefix, unit = ("MOS " if at.way == "score" else ""), (f" {at.unit}" if at.unit else "")
    own = possessive(value["than"])
    pair = f"{unit} for {own} {theirs.text}" if own else f"{unit}; {theirs.text} with {value['than']}"
    start = _chance(claim)
    return f"{start}{where} {names} {verb} best for {claim.subject} ({prefix}{at.text}{pair})"


def _cannot_tell(claim: Claim, before: Claim | None, _: Claim | None) -> str:
    if before is not None:
        return f". {ONE_SEED[:-1]}"
    at: Range = claim.value["at"]
    start = _chance(claim)
    range_ = f"{at.text} ms{tag(at)}" if at.way == "delay" else told(at)
    names = together(claim.value["settings"])
    if runs := claim.value["runs"]:
        return f"the {many(runs)} runs of each do not tell {names} apart for {claim.subject}: {range_}"
    return f"{start}nothing separates {names} for {claim.subject}: {range_}"


def _not_felt(claim: Claim, *_: Claim | None) -> str:
    score: Range | None = claim.value.get("score")
    end = f", MOS {score.text}" if score else ""
    return _way(claim.value["at"], "idle", claim.subject) + end + _seen(claim)


def _graded(claim: Claim, *_: Claim | None) -> str:
    return f". Grade {GRADES[claim.value['grade']]}"


def _none_usable(claim: Claim, before: Claim | None, _: Claim | None) -> str:
    if before is not None:
        return f"; none keeps {claim.subject} usable"
    count, best, at = claim.value["of"], claim.value["best"], claim.value["at"]
    start = "neither of the two keeps" if count == 2 else f"none of the {many(count)} keeps"
    never = at.way == "load" and not math.isfinite(at.low)
    burden = WAYS[at.way].never if never else _way(at, "burden")
    who = f"the best, {best}," if best else "the best in each condition"
    return f"{start} {claim.subject} usable: {who} still {burden}"


def _share(claim: Claim, whole: str = "") -> str:
    low, high = (f"{claim.value[end]:.0f}" for end in ("low", "high"))
    most = f", most {claim.value['most']}" if claim.value["most"] and low != high else ""
    return f"{high if low == high else f'{low} to {high}'} %{whole}{most}"


OF_ITS_RATE = " of its rate"
"""Whole of the shares of transfers, named with the first of them."""


def _loses(claim: Claim, before: Claim | None, _: Claim | None) -> str:
    name = claim.value["setting"]
    follows = before is not None and before.relation in ("loses", "costs_nothing")
    if not name:
        and_ = ", and" if before is not None and before.value.get("most") else " and"
        return (
            f"{and_} {claim.subject} {_share(claim)}"
            if follows
            else f"; {claim.subject} loses {_share(claim, OF_ITS_RATE)}"
        )
    if not follows:
        return f". {name} costs {claim.subject} {_share(claim, OF_ITS_RATE)}"
    assert before is not None
    if before.value["setting"] == name:
        return f" and {claim.subject} {_share(claim)}"
    return f", {name} {_share(claim)}" if claim.value["payers"] == 1 else f", {name} {claim.subject} {_share(claim)}"


def _costs_nothing(claim: Claim, before: Claim | None, _: Claim | None) -> str:
    name = claim.value["setting"]
    if not name:
        return f", at no cost to {claim.subject}"
    follows = before is not None and before.relation in ("loses", "costs_nothing")
    return f", {name} nothing" if follows else f". {name} costs {claim.subject} nothing"


def _gains(claim: Claim, *_: Claim | None) -> str:
    value = claim.value
    at, theirs = value["at"], value["theirs"]
    where = f"{condition(value['condition'])} " if value["condition"] else ""
    name = together(value["settings"])
    if not math.isfinite(theirs.high):
        return f"; {where}{name} loads pages, in {at.text} s"
    return f"; {where}{name} {_way(at, 'gains', claim.subject, y=theirs.text)}"


def _untold(claim: Claim, *_: Claim | None) -> str:
    count, of = claim.value["count"], claim.value["of"]
    verb = "does" if count == 1 else "do"
    return f"; {many(count)} of {many(of)} applications {verb} better with another setting: see the table"


def _shares(claim: Claim, before: Claim | None, _: Claim | None) -> str:
    value = claim.value
    start = ", while " if before is not None else ""
    if "evenly" in value:
        at: Range = value["at"]
        return f"the {many(value['evenly'])} {value['noun']} share evenly ({at.text} Mb/s)"
    if "factor" in value:
        (first, best), (last, least) = value["rates"]
        low, high = value["factor"]
        pair = f"({best.text} for {least.text} Mb/s)"
        if math.isinf(high):
            return f"{first} gets {best.text} Mb/s, {last} none"
        if high < HARDLY:
            return f"{first} and {last} get the same {pair}"
        numbers = list(dict.fromkeys((digits(low), digits(high))))
        much = "twice" if low >= 1.9 and high < 2.2 else f"{' to '.join(numbers)} times"
        return f"{first} gets {much} {whose(last, 'rate')} {pair}"
    rates = [f"{name} {'' if place else 'gets '}{at.text}" for place, (name, at) in enumerate(value["rates"])]
    return f"{start}{together(rates)} Mb/s"


def _missing(claim: Claim, *_: Claim | None) -> str:
    return f". {gone(claim.value['count'])[:-1]}"


def _narrow_hop(claim: Claim, *_: Claim | None) -> str:
    return f". {narrow_sentence(claim.subject)[:-1]}"


_SAID: Mapping[str, Callable[[Claim, Claim | None, Claim | None], str]] = {
    "keeps_at": _keeps_at,
    "better_by": _better_by,
    "best": _best,
    "turns_at": _turns_at,
    "cannot_tell": _cannot_tell,
    "not_felt": _not_felt,
    "graded": _graded,
    "none_usable": _none_usable,
    "loses": _loses,
    "costs_nothing": _costs_nothing,
    "gains": _gains,
    "untold": _untold,
    "shares": _shares,
    "missing": _missing,
    "narrow_hop": _narrow_hop,
}
