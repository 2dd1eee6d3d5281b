"""Offer random packets to Linux's queue disciplines in virtual time, replay its decisions into our managers, and write the table of the page.

usage: python benches/peers/compare_qdiscs.py [--inputs N] [--only NAME] [--keep DIR] [--out FILE]

Traces are kept in a folder as gzip files, one for each input, and only what is missing of them is recorded: so a change of a manager is compared
in seconds. Recording takes a second of processor time for two inputs.
"""

import argparse
import gzip
from collections import Counter
from pathlib import Path

from sojourn.aqm.golden import read_golden, replay
from sojourn.aqm.kernel import DISCIPLINES, record_kernel
from sojourn.linux.build import find

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
BATCH = 25
"""Inputs of one guest. chosen: a run that is broken off loses half a minute."""


def record(name: str, count: int, keep: Path) -> None:
    """Record what is missing."""
    kernel = find(None)
    missing = [number for number in range(count) if not (keep / f"{name}-{number}.sjt.gz").exists()]
    for start in range(0, len(missing), BATCH):
        numbers = missing[start : start + BATCH]
        for number, recorded in zip(numbers, record_kernel(kernel, name, numbers), strict=True):
            (keep / f"{name}-{number}.sjt.gz").write_bytes(gzip.compress(recorded.trace.encode(), mtime=0))


def row(name: str, count: int, keep: Path) -> str:
    """Replay the traces of a discipline, and return a row of the table; print each first difference."""
    compared = equal = whole = inputs = 0
    kinds: Counter[str] = Counter()
    for number in range(count):
        path = keep / f"{name}-{number}.sjt.gz"
        if not path.exists():
            continue
        inputs += 1
        text = read_golden(path)
        done = replay(text)
        calls = sum(line[:3] in ("> a", "> o", "> t") for line in text.splitlines())
        # After a difference the states differ, so the calls behind it are not compared.
        compared += done.calls if not done.difference else calls_until(text, done.line)
        equal += calls if not done.difference else calls_until(text, done.line) - 1
        whole += not done.difference
        if done.difference:
            words = done.difference.split('"')
            kinds[f"{words[1][:3]}{words[1].split()[-1] if words[1][2] in 'dm' else ''} for {words[3][:3]}"] += 1
            print(f"{path.name}:{done.line}: {done.difference}")
    said = "; ".join(f"{number} × `{kind}`" for kind, number in kinds.most_common(4)) or "none"
    return f"| {name} | {inputs} | {compared:,} | {equal:,} | {whole} | {said} |"


def calls_until(text: str, line: int) -> int:
    """Return how many calls stand before a line."""
    return sum(each[:3] in ("> a", "> o", "> t") for each in text.splitlines()[:line])


def main() -> None:
    """Record and compare, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=1000, help="random inputs of each discipline")
    parser.add_argument("--only", default="", help="disciplines whose name holds this")
    parser.add_argument("--keep", type=Path, default=ROOT / "target" / "qdisc-traces")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/results/linux-queue-managers.md")
    parser.add_argument("--record-only", action="store_true", help="replay nothing")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    names = [name for name in DISCIPLINES if options.only in name]
    for name in names:
        record(name, options.inputs, options.keep)
    if options.record_only:
        return
    lines = [
        "| discipline | inputs | calls compared | equal | inputs equal to the end | first differences, kernel for ours |",
        "|---|---|---|---|---|---|",
        *(row(name, options.inputs, options.keep) for name in names),
    ]
    print("\n".join(lines))
    if not options.only:
        page = options.out.read_text(encoding="utf-8")
        head, _, rest = page.partition(BEGIN)
        _, _, tail = rest.partition(END)
        text = "\n".join(lines)
        options.out.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
