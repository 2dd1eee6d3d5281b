"""One household, and a channel of many homes."""
