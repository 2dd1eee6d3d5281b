"""Files, numbers, texts and errors that every room uses."""
