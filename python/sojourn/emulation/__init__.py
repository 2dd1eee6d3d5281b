"""Real programs behind the simulated access link: what is said and shown of an emulation, and how others join it."""
