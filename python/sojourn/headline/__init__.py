"""The first thing that anybody is told: who wins by how much for whom, and what it costs.

`headline_of` makes one sentence of points with their labels, seeds and metrics; `headline_rows` says which numbers of a
run matter most. Terminal, page and JSON print the same `Headline`.
"""

from sojourn.headline.lines import LINKS, headline_rows, may_be_named

__all__ = ["LINKS", "headline_rows", "may_be_named"]
