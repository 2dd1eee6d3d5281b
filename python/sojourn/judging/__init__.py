"""Candidates judged beside known ones."""
