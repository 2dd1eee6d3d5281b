"""Scenario files and the settings laid over them."""
