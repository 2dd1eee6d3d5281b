"""What studies make of their runs, and the studies that come with the package.

A study is a folder. `study.toml` says what to run, and it and the files that it includes say what to make of
the runs; `printed/*.csv` holds what a document prints; a Python module holds what data cannot say. A study by
path and one of the package are read the same way.

| module | content |
|---|---|
| `opened` | a study with its module; `checks`: whether what it declares can be answered |
| `view`, `selection`, `asking` | a result, points by label, measures of points |
| `estimate`, `distribution`, `numbers` | a value over runs, mixtures, numbers by group and in sentences |
| `criteria`, `judging`, `claims` | conditions, claims, what they came to |
| `printed`, `rated`, `tolerance`, `table` | printed tables of numbers and words beside ours |
| `winners`, `number_tables`, `reporting` | who wins where, our own numbers, all parts of a report |
| `figures` | one module per kind of figure |
| `token_bucket` | the first burst through a shaper |
"""
