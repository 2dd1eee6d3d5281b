"""Statistics: estimates with intervals, paired tests, distributions, kinds of quantities, benefits.

Everything here takes numbers and returns numbers; it knows no studies and no files.
"""
