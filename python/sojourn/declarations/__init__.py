"""Tables and keys of a study file beyond its runs.

| module | content |
|---|---|
| `base` | what all tables have in common |
| `answers` | measures, claims, tables, winners, headlines |
| `figures` | one table per kind of figure |
"""
