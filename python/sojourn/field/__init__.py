"""Field trials: from files of measurement tools in homes to effects with intervals.

The flow is that of a study: files → tests → percent deltas → effects → report. One row per test
(`records`), made by one reader per tool (`flent`, `iperf3`, `irtt`); everything later reads only rows.
"""
