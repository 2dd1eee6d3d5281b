"""Results as research objects (RO-Crate 1.1): written for an archive, and verified by running them again."""
