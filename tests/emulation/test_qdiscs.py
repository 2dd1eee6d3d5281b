"""Golden traces of the kernel's own queue disciplines: what is offered, how its events become a trace, and which managers do the same."""

import gzip
import shutil
from pathlib import Path

import pytest

from sojourn.aqm.golden import replay
from sojourn.aqm.kernel import DISCIPLINES, random_input, record_kernel, trace_of
from sojourn.base.errors import UsageError
from sojourn.linux.build import find, kernels
from support import CommandLine

NO_KERNEL = "the kernel's queue disciplines: no kernel was built (sojourn linux build)"
needs_kernel = pytest.mark.skipif(not kernels(), reason=NO_KERNEL)
needs_tc = pytest.mark.skipif(shutil.which("tc") is None, reason="the kernel's queue disciplines: not installed: tc")

EQUAL = {"codel": range(3), "fq_codel": range(3), "cake": (4, 88, 89), "cake-shaped": (0, 1)}
"""Disciplines whose managers do the same in every call, and inputs with drops or marks: those of CAKE empty a tin in which queues decay.

docs/results/linux-queue-managers.md has some hundred of each.
"""


@needs_kernel
@needs_tc
@pytest.mark.parametrize("name", EQUAL)
def test_a_manager_decides_as_the_kernel_does(name: str) -> None:
    signals = 0
    for recorded in record_kernel(find(None), name, list(EQUAL[name])):
        done = replay(recorded.trace)
        assert (done.difference, done.line) == ("", 0)
        assert done.calls > 200
        drops = recorded.trace.count("\n< d ")
        assert sum(recorded.functions.values()) == drops
        signals += drops + recorded.trace.count("\n< m ")
    assert signals > 10


@needs_kernel
@needs_tc
def test_the_same_input_has_the_same_trace_and_the_law_of_the_document_differs(
    sojourn: CommandLine, tmp_path: Path
) -> None:
    for name in ("one.sjt", "two.sjt.gz"):
        done = sojourn("golden", "record", "--from", "linux:codel", "--seed", "3", "--out", name)
        assert done.status == 0, done.stderr
    one = (tmp_path / "one.sjt").read_text(encoding="utf-8")
    assert one == gzip.decompress((tmp_path / "two.sjt.gz").read_bytes()).decode()
    assert "= made-by Linux " in one
    assert sojourn("golden", "replay", "one.sjt").status == 0
    # RFC 8289 waits 0.71 intervals before its third signal, Linux 0.5.
    line = next(line for line in one.splitlines() if line.startswith("= manager ")).removeprefix("= manager ")
    assert replay(one, line=line.replace("variant=linux", "variant=rfc8289")).line > 0


@pytest.mark.parametrize("name", DISCIPLINES)
def test_inputs_are_those_of_their_number_and_bounded(name: str) -> None:
    for number in range(20):
        given = random_input(name, number)
        assert given == random_input(name, number)
        assert given != random_input(name, number + 1)
        assert 100 <= len(given.packets) <= 500
        times = [packet[0] for packet in given.packets]
        assert times == sorted(set(times))
        assert all(60 <= packet[1] <= 1514 for packet in given.packets)
        # The header and nothing else: the line is a manager's.
        assert replay(f"sojourn-trace 1\n= manager {given.line}\n= rate {given.rate}\n").calls == 0


def test_events_of_the_kernel_become_calls_and_decisions() -> None:
    given = random_input("fq_codel", 0)
    events = [
        ("a", 5_000_000, 1, ""),
        ("s", 5_000_000, 1, ""),
        ("a", 6_000_000, 2, ""),
        ("a", 6_000_000, 3, ""),
        ("a", 7_000_000, 4, ""),
        # Freed in the reverse order of the drops, after all calls.
        ("d", 7_000_000, 3, "__dev_queue_xmit"),
        ("d", 7_000_000, 2, "__dev_queue_xmit"),
        ("d", 8_000_000, 4, "__fq_codel_dequeue"),
    ]
    text = trace_of("fq_codel", given, {"events": events, "marked": [], "statistics": ""}, "6.12", [7, 8, 9, 10, 11])
    records = [" ".join(line.split()[:3]) for line in text.splitlines()[4:]]
    # It begins at a tick of 1024 ns before the first arrival, at 16.777216 s.
    ns = [16_777_216_000 + each - 4_999_168 for each in (5_000_000, 6_000_000, 7_000_000, 8_000_000)]
    wanted = [
        *(f"> a {ns[0]}", "< e 1", f"> o {ns[0]}", "< s 1"),
        *(f"> a {ns[1]}", "< e 2", f"> a {ns[1]}", "< e 3"),
        *(f"> a {ns[2]}", "< d 2", "< d 3", "< e 4"),
        *(f"> o {ns[3]}", "< d 4", "< s -"),
    ]
    assert records == wanted


def test_what_is_no_discipline_is_refused(sojourn: CommandLine) -> None:
    with pytest.raises(UsageError, match="no queue discipline"):
        random_input("pfifo", 0)
    for arguments, said in [
        (("--from", "bsd:codel"), "a system and its discipline"),
        (("--from", "linux:codel", "--set", "duration=2s"), "--from has inputs of its own"),
        ((), "a trace is of a scenario, or of a kernel's discipline"),
    ]:
        done = sojourn("golden", "record", *arguments, "--out", "x.sjt")
        assert (done.status, said in done.stderr) == (2, True), done.stderr
