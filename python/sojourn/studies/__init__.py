"""Studies that come with the package, and what their tables, figures and claims are made of.

A study is a folder: `study.toml` and `scenarios/` say what to run, `printed/*.csv` what the document
prints, `printed/tolerances.toml` and `printed/claims.toml` when we call it reproduced; `tables.py`,
`figures/` and `claims/` compute ours; `notes.md` says what the document leaves open.

| module | content |
|---|---|
| `estimate` | a value over runs with its interval |
| `quantity` | what kind of number a metric is, and which way is better |
| `pairs` | tests on runs paired by their seed, and who wins |
| `tolerance` | rules that judge a printed cell |
| `table` | a printed table beside ours |
| `view` | questions to a study result |
| `claims` | claims, and how they are judged |
| `figure` | a printed figure redrawn |
"""
