"""The first thing that anybody is told: who wins by how much for whom, and what it costs.

`headline_of` makes one sentence of points with their labels, seeds and metrics; `headline_rows` says which numbers of a
run matter most. Terminal, page and JSON print the same `Headline`.
"""

from sojourn.headline.derive import headline_of
from sojourn.headline.lines import LINKS, headline_rows, may_be_named
from sojourn.headline.runs import headline_of_run
from sojourn.headline.said import Headline, Point

__all__ = ["LINKS", "Headline", "Point", "headline_of", "headline_of_run", "headline_rows", "may_be_named"]
