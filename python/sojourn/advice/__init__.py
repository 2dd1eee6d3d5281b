"""What to set, and where: settings raced on a simulated line until the best are known, and the lines to paste."""
