"""What a study file may say beyond its runs, as tables with their keys.

| module | content |
|---|---|
| `base` | what all tables have in common |
| `answers` | measures, claims, tables, winners, headlines |
| `figures` | one table per kind of figure |
"""
