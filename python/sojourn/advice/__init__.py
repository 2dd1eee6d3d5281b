"""Advice on settings of a line: settings raced on a simulated line until the best are known, and the lines to paste."""
