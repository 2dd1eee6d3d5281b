"""White, Sundaresan and Briscoe 2019: Low Latency DOCSIS, simulated again.

Source: G. White, K. Sundaresan, B. Briscoe, "Low Latency DOCSIS: Overview and Performance Characteristics",
SCTE-ISBE, 2019.
"""
