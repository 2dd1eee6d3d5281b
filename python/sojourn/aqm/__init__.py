"""Queue managers characterised as RFC 7928 asks, and judged by their contract and the laws of their documents."""
