"""From measurements of a line to a model of it: scenario, ensemble, and what cannot be known."""
