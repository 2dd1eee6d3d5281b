"""The first sentence of every answer: the best setting, by how much, for which application, and at what cost.

`headline_of` evaluates claims over all points of a result and says them in one sentence; `headline_rows` says which numbers of
a run matter most. Terminal, page and JSON print the same `Headline`.
"""

from sojourn.headline.derive import headline_of
from sojourn.headline.lines import LINKS, headline_rows, may_be_named
from sojourn.headline.runs import headline_of_run
from sojourn.headline.said import Headline, Point

__all__ = ["LINKS", "Headline", "Point", "headline_of", "headline_of_run", "headline_rows", "may_be_named"]
