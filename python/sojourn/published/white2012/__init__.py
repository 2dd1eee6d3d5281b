"""White and Padden 2012: CoDel in a DOCSIS 3.0 cable modem, simulated again.

Source: G. White, J. Padden, "Preliminary Study of CoDel AQM in a DOCSIS Network", CableLabs,
November 2012.
"""
