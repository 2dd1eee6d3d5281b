"""Studies: which runs to make, and what came of them.

| module | content |
|---|---|
| `definition` | `study.toml`: reading and checking |
| `expand` | definition to points: merging overlays into the base scenario |
| `workload` | how much of the work is done |
| `runner` | points to results: scheduling, the store, the output directory |
| `result` | what report authors read |
| `summary` | the tidy summary with intervals |
| `compare` | what moved between results, or between the points of one |
| `library` | the studies that come with the package |
"""
