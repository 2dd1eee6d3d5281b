"""Small studies drawn at random, for the checker of sentences: managers or stacks, under conditions, beside applications."""

from __future__ import annotations

import random
from pathlib import Path

import tomli_w

MANAGERS = ("drop-tail", "pie", "codel", "fq-codel", "cobalt", "cake", "red", "fq-pie", "sfq-codel")
STACKS = ("linux-cubic", "linux-reno", "prague")

APPLICATIONS = {
    "call": 'app = "voice"\nrtt = "30 ms"\n',
    "game": 'app = { kind = "online-game", start_jitter = "33 ms" }\nrtt = "15 ms"\n',
    "page": 'app = { kind = "web", profile = "white2013", users = 1, think = "1 s" }\nstack = "linux-cubic"\nrtt = ["12 ms", "18 ms", "35 ms", "90 ms"]\n',
    "video": 'app = { kind = "has", sessions = 1, start_jitter = "1 s" }\nstack = "linux-cubic"\nrtt = "20 ms"\n',
    "probe": 'app = "probe"\nrtt = "20 ms"\n',
    "meter": 'app = { kind = "constant-rate", packet = "72 B", interval = "100 ms" }\nrtt = "20 ms"\n',
}

UPLOAD = 'app = {{ kind = "bulk", start_jitter = "1 s", lanes = {lanes} }}\nstack = "{stack}"\nrtt = "30 ms"\n'
DOWNLOAD = (
    'app = {{ kind = "bulk", direction = "downstream", start_jitter = "1 s" }}\nstack = "{stack}"\nrtt = "30 ms"\n'
)


def write_study(folder: Path, seed: int) -> Path:
    """Write the study that a seed draws, as a scenario and a study file; return the path of the latter."""
    draw = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    up, down = draw.choice((1, 2, 5, 10, 20)), draw.choice((8, 20, 50))
    felt = draw.sample(list(APPLICATIONS), draw.choice((0, 1, 1, 2, 2, 3)))
    loads = draw.choice((("upload",), ("upload",), ("download",), ("upload", "download")))
    buffer = draw.choice(("64 KB", "250 KB", "100 ms", "500 ms"))
    text = f'schema = 1\nname = "drawn"\nduration = "{draw.choice((6, 8, 12))} s"\n'
    for way, rate in (("upstream", up), ("downstream", down)):
        text += f'[access.{way}]\nlink = {{ kind = "serial", rate = "{rate} Mb/s", delay = "5 ms" }}\n'
        text += f'queue = {{ kind = "drop-tail", limit = "{buffer}" }}\n'
    stack = draw.choice(STACKS)
    for name in felt:
        text += f'[[traffic]]\nname = "{name}"\n{APPLICATIONS[name]}'
    for name in loads:
        form = UPLOAD if name == "upload" else DOWNLOAD
        text += f'[[traffic]]\nname = "{name}"\n{form.format(lanes=draw.choice((1, 1, 4)), stack=stack)}'
    (folder / "drawn.toml").write_text(text, encoding="utf-8")
    study = {
        "schema": 1,
        "name": "drawn",
        "title": "A study drawn at random",
        "scenario": "drawn.toml",
        "seeds": draw.choice((1, 2, 3, 3, 5)),
        "axes": _axes(draw, loads),
    }
    (folder / "study.toml").write_text(tomli_w.dumps(study), encoding="utf-8")
    return folder / "study.toml"


def _axes(draw: random.Random, loads: tuple[str, ...]) -> dict[str, object]:
    axes: dict[str, object] = {}
    load = draw.choice(loads)
    treatments = draw.choice(("queue", "queue", "queue", "queue", "stack", "buffer", "none"))
    way = "upstream" if load == "upload" else "downstream"
    if treatments == "queue":
        tail = {"kind": "drop-tail", "limit": "250 KB"}
        names = draw.sample(MANAGERS, draw.choice((2, 3, 4)))
        values = [tail if name == "drop-tail" else name for name in names]
        axes["queue"] = {"key": f"access.{way}.queue", "values": values}
    elif treatments == "stack":
        axes["stack"] = {"key": f"traffic.{load}.stack", "values": draw.sample(STACKS, draw.choice((2, 3)))}
    elif treatments == "buffer":
        axes["limit"] = {"key": f"access.{way}.queue.limit", "values": ["16 KB", "64 KB", "256 KB"]}
    conditions = {
        "rtt": {
            "key": f"traffic.{load}.rtt",
            "values": draw.choice((["15 ms", "30 ms", "100 ms"], ["20 ms", "100 ms"])),
        },
        "rate": {
            "key": f"access.{way}.link.rate",
            "values": draw.choice((["2 Mb/s", "8 Mb/s"], ["1 Mb/s", "4 Mb/s", "16 Mb/s"])),
        },
    }
    count = draw.choice((0, 1, 1, 1, 2)) if axes else draw.choice((1, 2))
    for name in draw.sample(list(conditions), count):
        axes[name] = conditions[name]
    return axes
