"""Klatsky, Taylor and Kane-Esrig 2016: a field trial of fixed buffers in cable modems, simulated.

Source: C. Klatsky, D. Taylor, Y. Kane-Esrig, "First Steps in Bufferbloat Mitigation", Comcast, October 2016.
"""
