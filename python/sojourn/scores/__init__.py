"""Scores that people know, of simulated packets and of measured round trips alike."""
