"""A study on many machines: workers that any batch system starts, and a store that they share.

What is in the store is the truth. A plan lies there with its units of work; a worker claims a unit, makes its runs and puts
them beside it; the driver of the study reads the store. Executors only bring processes.
"""
