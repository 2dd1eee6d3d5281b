"""Other processes, and the progress of long work."""
