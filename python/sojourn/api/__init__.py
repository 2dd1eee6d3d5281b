"""The package for programs and notebooks: `sojourn.run`, `sojourn.Study`, and the results that they return."""
