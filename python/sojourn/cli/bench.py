"""`sojourn bench`: what one packet costs, on fixed worlds."""

from typing import Annotated

import typer

__all__ = ["bench"]


def bench(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure the engine on fixed worlds: packet-hops/s, time per packet-hop, peak memory."""
    from sojourn.bench import measure, world_names
    from sojourn.cli.console import note, print_json, print_table

    worlds: list[dict[str, object]] = []
    for name in world_names():
        if not as_json:
            note(f"measuring {name}")
        worlds.append({**measure(name)})
    if as_json:
        print_json({"worlds": worlds})
        return
    rows: list[list[object]] = []
    for name_and_values in worlds:
        world = dict(name_and_values)
        cpu_s, simulated_s = float(str(world["cpu_s"])), float(str(world["simulated_s"]))
        hops = int(str(world["packet_hops"]))
        rows.append(
            [
                str(world["name"]),
                hops,
                round(hops / cpu_s / 1e6, 2),
                world["ns_per_packet_hop"],
                world["allocations_per_packet_hop"],
                round(simulated_s / float(str(world["wall_s"])), 0),
                round(int(str(world["peak_rss_bytes"])) / 2**20, 1),
            ]
        )
    print_table(
        [
            "world",
            "packet-hops",
            "million/s",
            "ns each",
            "allocations each",
            "simulated/wall",
            "peak MiB",
        ],
        rows,
    )
