"""Answers of a study's runs: numbers beside printed ones, claims judged, tables and figures.

`study.toml` and the files that it includes declare what is asked (`sojourn.declarations`); `printed/*.csv` holds
what a document prints; a Python module of the study's folder holds what data cannot say. A study by path and one
of the package are read the same way.

| module | content |
|---|---|
| `open_study`, `modules` | a study with its Python module; which modules may run |
| `checks` | whether the declarations can be answered |
| `view`, `selection`, `measured` | a result, points by label, measures of points |
| `asking`, `versus` | declared values; points against others |
| `numbers` | numbers by group and in sentences |
| `criteria`, `judging`, `claims` | conditions, judging by them, verdicts |
| `printed_tables`, `word_tables`, `tolerance`, `table` | printed tables of numbers and of words beside ours |
| `winners`, `number_tables` | who wins where; tables of our own numbers |
| `report_content`, `reporting` | what a report is made of, and making it |
| `figure`, `figures` | a figure with its caption; one module per kind of figure |
| `token_bucket` | the first burst through a shaper |
"""
