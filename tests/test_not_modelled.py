"""The page of what is not modelled, held sentence by sentence against the keys and kinds that files may have."""

import re
from pathlib import Path

import sojourn._engine as _engine

PAGE = Path(__file__).parent.parent / "docs/concepts/not-modelled.md"

CONGESTION = ("docsis30-cascade", "docsis30-single", "docsis31-upstream", "docsis31-downstream")
NOTHING = r"(?!)"

HELD: dict[str, tuple[str, list[tuple[str, set[str] | None]]]] = {
    "Bit errors, varying": (
        r"\b(bit_?)?errors?\b|retrain|resync|loss_(rate|share)|random_loss",
        [("link.interleaving", {"serial"})],
    ),
    "A line has one rate": (NOTHING, [("link.congestion", set(CONGESTION))]),
    "Only the DSL line": (NOTHING, [("link.impulse_gap", {"serial"})]),
    "Only a service group has": (r"ranging|unsolicited", [("link.reserved", {"docsis31-group"}), ("pon.poll", None)]),
    "Wi-Fi has contention": (r"multicast|power_sav|mu_?mimo|\bmlo\b|roaming", [("wifi.NAME.hidden", None)]),
    "Servers never lose": (r"server_(loss|queue|load)", []),
    "They answer at once": (
        NOTHING,
        [("app.main_delay", {"web-3gpp"}), ("app.embedded_delay", {"web-3gpp"}), ("app.server_pacing", {"pd"})],
    ),
    "Congestion there, route": (r"route|multipath|balanc", [("path", None)]),
    "A home has no": (r"\bcpu|router|power_sav|second_network", []),
    "Of what the operating": (r"socket", [("app.send_buffer", {"bulk"})]),
    "The named stacks have": (NOTHING, [("traffic.NAME.stack.recovery", None)]),
    "Path MTU discovery": (r"mtu|fast_open|\btfo\b|\b[gt]so\b|\b[gl]ro\b|offload|middlebox", []),
    "QUIC has loss recovery": (r"tls_record|migrat", [("app.protocol", {"web"})]),
    "A call is its": (
        r"codec",
        [("app.is_call", {"constant-rate", "voice", "game"}), ("app.playout", {"constant-rate", "voice", "game"})],
    ),
    "A game sends packets": (r"reaction|win_prob|lag\b", [("app.up_packet", {"online-game"})]),
    "A page is a": (
        r"render|\bcache",
        [("app.index", {"web"}), ("app.main", {"web-3gpp"}), ("app.hosts", {"web-akhtar"})],
    ),
    "A browser takes time": (NOTHING, [("app.parsing", {"web-3gpp"})]),
    "Video comes in chunks": (
        r"vmaf|psnr|ssim|resolution|gcc|nada",
        [
            ("app.chunk", {"has"}),
            ("app.segment", {"has-ll"}),
            ("app.rate", {"pd", "cloud-game", "video-call"}),
            ("app.most_rate", {"adaptive-video"}),
        ],
    ),
    "They do not redial": (r"redial|postpone|patience|abandon|give_?up", [("app.cutoff", {"bulk"})]),
    "The time between pages": (
        NOTHING,
        [("app.think", {"web"}), ("app.reading", {"web-3gpp"}), ("app.gap", {"bulk", "pd", "web-akhtar"})],
    ),
    "Results say what": (NOTHING, []),
    "They do not cover": (NOTHING, []),
}
"""How each sentence of the page begins: names that no key, kind or profile may have, and keys with exactly the kinds that have them."""


def sentences() -> list[str]:
    """Return the sentences of the paragraphs that begin with a word in bold."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", PAGE.read_text().replace("`", ""))
    found: list[str] = []
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("**"):
            body = " ".join(paragraph.split("**", 2)[2].split())
            found += re.split(r"(?<=[.]) (?=[A-Z])", body)
    return found


def test_each_sentence_of_the_page_is_held_against_the_keys() -> None:
    said = sentences()
    held = [[begin for begin in HELD if sentence.startswith(begin)] for sentence in said]
    assert [sentence for sentence, begins in zip(said, held, strict=True) if len(begins) != 1] == []
    assert {begin for begins in held for begin in begins} == set(HELD), "entries without a sentence"


def test_what_is_said_to_be_missing_is_missing_and_what_is_said_to_be_there_is_there() -> None:
    rows = [row for row in _engine.scenario_keys() if not row[0].startswith(("home.", "link.", "emulate."))]
    words = {row[0].rsplit(".", 1)[-1] for row in rows} | {kind for row in rows for kind in row[1].split(", ")}
    words |= {match for row in rows for match in re.findall(r"(?:kind|profile) = \"([^\"]+)\"", row[2])}
    assert {"codel", "web-akhtar", "linux-cubic", "impulse_gap"} <= words
    keys = [row for row in rows if not row[2].startswith(("kind = ", "profile = "))]
    wrong: list[str] = []
    for begin, (absent, present) in HELD.items():
        found = sorted(word for word in words if re.search(absent, word))
        if found:
            wrong.append(f"{begin}: there is {found}")
        for path, kinds in present:
            owners = [row[1].split(", ") for row in keys if f".{row[0]}".endswith(f".{path}")]
            having = {kind for owner in owners for kind in owner}
            if not having or (kinds is not None and having != kinds):
                wrong.append(f"{begin}: {path} is a key of {sorted(having)}")
    assert wrong == []
