"""`sojourn bench`: what one packet costs, on fixed worlds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    from sojourn.cli.console import note, print_json, print_table
    from sojourn.simulation.bench import measure, world_names

    worlds: list[dict[str, object]] = []
    for name in world_names():
        if not options.json:
            note(f"measuring {name}")
        worlds.append({**measure(name)})
    if options.json:
        print_json({"worlds": worlds})
        return
    note("packet-hop: one packet over one link or wire, those to the servers included")
    rows: list[list[object]] = []
    for name_and_values in worlds:
        world = dict(name_and_values)
        cpu_s, simulated_s = float(str(world["cpu_s"])), float(str(world["simulated_s"]))
        hops = int(str(world["packet_hops"]))
        allocations = world["allocations_per_packet_hop"]
        rows.append(
            [
                str(world["name"]),
                hops,
                round(hops / cpu_s / 1e6, 2),
                world["ns_per_packet_hop"],
                "not counted" if allocations is None else allocations,
                round(simulated_s / float(str(world["wall_s"])), 0),
                round(int(str(world["peak_rss_bytes"])) / 2**20, 1),
            ]
        )
    print_table(
        ["world", "packet-hops", "million/s", "ns each", "allocations each", "simulated/wall", "peak MiB"], rows
    )
