"""A deterministic world: collector, probes, their disks, the network between and the clocks, in one process.

| module | content |
|---|---|
| `disk` | a disk that loses, tears and reorders what was not synced |
| `sqlite` | SQLite on such a disk |
| `network` | a loop whose time is simulated, connections over it, and people who block on them |
| `trial` | one seed: what happens, and the laws that hold after it |

`python -m world COUNT [--first N]` in `tests/` runs so many seeds.
"""
