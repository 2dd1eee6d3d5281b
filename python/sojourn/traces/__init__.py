"""Traces and conditions of links as files."""
