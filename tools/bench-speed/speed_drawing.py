"""The picture of the page: what a packet-hop costs as a world grows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from speed_measure import Cost

Curve = Mapping[float, Cost]


def draw(curves: Mapping[str, Mapping[str, Curve]], path: Path) -> None:
    """Draw one panel for each key of `curves`, with one line for each of its curves.

    Parameters
    ----------
    curves
        By label of the axis, then by name of the line: costs by position on the axis.
    path
        SVG to write.
    """
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    # The same numbers give the same file.
    mpl.rcParams.update({"svg.hashsalt": "speed", "font.size": 9.0, "svg.fonttype": "none"})
    any_plt: Any = plt
    figure, all_axes = any_plt.subplots(1, len(curves), figsize=(9.0, 2.8), sharey=True)
    top = max(cost.ns_per_hop for panel in curves.values() for curve in panel.values() for cost in curve.values())
    for axes, (label, panel) in zip(all_axes, curves.items(), strict=True):
        for (name, curve), look in zip(panel.items(), ["o-", "s--"], strict=False):
            positions = sorted(curve)
            heights = [curve[position].ns_per_hop for position in positions]
            axes.plot(positions, heights, look, markersize=4, linewidth=1.2, label=name)
        axes.set_xscale("log")
        axes.set_ylim(0, 1.15 * top)
        axes.set_xlabel(label)
        axes.grid(visible=True, linewidth=0.4, alpha=0.5)
        if len(panel) > 1:
            axes.legend(frameon=False, loc="lower right")
    all_axes[0].set_ylabel("ns per packet-hop")
    figure.tight_layout()
    figure.savefig(path, format="svg", metadata={"Date": None})
    any_plt.close(figure)
