"""The page with the engine in a browser tab: its files, and what makes a site of them."""
