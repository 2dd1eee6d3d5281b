"""Rates, sizes and times are read alike by every command and in files: units of other tools, and what is meant by a comma."""

from argparse import SUPPRESS, Action

import pytest

from sojourn.base.errors import UsageError
from sojourn.base.quantities import quantity
from sojourn.cli.app import COMMANDS, parser_of
from sojourn.scenario.scenario_file import Scenario
from support import CommandLine, write_scenario

SAME_RATE = (
    "300M",
    "300",
    "300m",
    "300mbit",
    "300 Mbit/s",
    "300 Mbps",
    "300 Mbits/sec",
    "0.3Gbps",
    "300000 kb/s",
    " 300 mb/s ",
)
SAME_TIME = ("90", "90s", "90 sec", "1.5 min", "1.5 minutes", "90000ms", "90000 msec", "0.025 hours")
SAME_SIZE = ("8MB", "0.008GB", "8 MB", "8000 kB", "8000000 bytes")

METAVARS = {"RATE": ("rate", SAME_RATE), "SPAN": ("time", SAME_TIME), "SIZE": ("size", SAME_SIZE)}

READ_LATER = {("emulate", "--rtt"), ("emulate", "--for")}
"""Read by the emulator, in Rust, where a number alone is refused."""


def options() -> list[tuple[str, str, Action]]:
    found: list[tuple[str, str, Action]] = []
    for words in COMMANDS:
        found += [
            (words, action.option_strings[0], action)
            for action in parser_of(words)._actions
            if action.option_strings and action.dest != SUPPRESS and action.metavar in METAVARS
        ]
    return found


def test_each_option_with_a_rate_a_size_or_a_time_takes_the_same_words() -> None:
    every = [one for one in options() if one[:2] not in READ_LATER]
    assert {(words, option) for words, option, _ in every} >= {
        ("home", "--up"),
        ("home", "--down"),
        ("advise", "--up"),
        ("advise", "--down"),
        ("advise", "--budget"),
        ("check-nqb", "--capacity"),
        ("trace make", "--mean"),
        ("run", "--memory"),
        ("worker", "--for"),
    }
    for words, option, action in every:
        what, texts = METAVARS[str(action.metavar)]
        assert callable(action.type), (words, option)
        read = {action.type(text) for text in texts}
        assert len(read) == 1, (words, option, read)
        right = {"rate": 300e6, "time": 90.0, "size": 8e6}[what]
        assert read <= {right, right / 1e6}, (words, option, read)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("16,7", 'decimals follow a point: "16.7"'),
        ("16,7 Mb/s", 'decimals follow a point: "16.7 Mb/s"'),
        ("16,7M", 'decimals follow a point: "16.7 M"'),
        ("1,000M", 'a point divides, and nothing groups: "1.000 M" or "1000 M"'),
        ("20 MB/s", 'rates count bits: did you mean "160 Mb/s"?'),
        ("300 Mbx", "units are b/s, kb/s, Mb/s, Gb/s, Tb/s"),
        ("fast", "write a decimal number and a unit"),
    ],
)
def test_what_is_no_rate_is_refused_with_what_is_meant(text: str, hint: str, sojourn: CommandLine) -> None:
    for command in (("home", "--access", "dsl", "--up", "20"), ("advise", "--line", "dsl", "--up", "20")):
        done = sojourn(*command, "--down", text)
        assert done.status == 2
        assert "--down" in done.stderr
        assert hint in done.stderr
    with pytest.raises(UsageError) as refused:
        quantity("rate", text, unit="Mb/s")
    assert hint in refused.value.hint


def test_files_and_set_take_the_same_units_and_print_their_own(sojourn: CommandLine) -> None:
    file = write_scenario(sojourn.directory)
    for text in (text for text in SAME_RATE if text != "300"):
        done = sojourn(
            "run", str(file), "--set", f"access.downstream.link.rate={text.strip()}", "--set", "duration=1 sec"
        )
        assert done.status == 0, done.stderr
    written = Scenario.parse(file.read_text().replace("20 Mb/s", "20mbit")).canonical()
    assert written == Scenario.parse(file.read_text()).canonical()
    assert "mbit" not in written
