"""Congestion controllers characterised as RFC 9743 asks, and judged by what must not happen."""
