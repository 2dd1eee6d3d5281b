"""Captures of packets."""
