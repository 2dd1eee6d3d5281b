"""One run: the compiled engine, its directory, its benchmark."""
