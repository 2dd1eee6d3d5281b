"""White 2013: five queue managers in a DOCSIS 3.0 cable modem, simulated again.

Source: G. White, "Active Queue Management Algorithms for DOCSIS 3.0", CableLabs, April 2013.
"""
