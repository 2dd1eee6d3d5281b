"""`sojourn keys`: what scenario and study files may say, as a tree, and found by everyday words."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser
    from sojourn.study.key_list import KeyRow


def arguments(parser: Parser) -> None:
    parser.epilog = (
        "A prefix lists what stands below it (`sojourn keys access.upstream.queue`); any other word is "
        "searched for, with its synonyms (`sojourn keys bufferbloat`). DIRECTION is upstream "
        "or downstream, NAME the name of a traffic entry."
    )
    parser.add_argument("words", metavar="PREFIX|WORD", nargs="*", help="What to list; the outline without it.")
    parser.flag("--all", "List every key, not the outline.")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    from sojourn.base.errors import UsageError
    from sojourn.cli.console import note, print_json
    from sojourn.study.key_list import REMARKS, find_keys, key_list, nearest_key, outline

    asked = " ".join(options.words)
    rows = key_list() if options.all else outline()
    if asked:
        rows = find_keys(asked)
    if asked and not rows:
        near = nearest_key(asked)
        raise UsageError(
            f'no key and no word of one fits "{asked}"',
            f"did you mean {near}?" if near else "`sojourn keys` shows the outline",
        )
    if options.json:
        print_json({"keys": [row.asdict() for row in rows]})
        return
    for file, title in (("scenario", "Scenario file"), ("study", "Study file")):
        chosen = [row for row in rows if row.file == file]
        if chosen:
            print(f"{title}:")
            _print_tree(chosen)
    if asked.lower() in REMARKS:
        note(REMARKS[asked.lower()])
    if not asked and not options.all:
        note("`sojourn keys access.upstream.queue` lists the keys there; `sojourn keys dsl` searches")


def _print_tree(rows: list[KeyRow]) -> None:
    """Print keys indented below their tables; the parts of a path are printed once."""
    open_path: list[str] = []
    for row in rows:
        parts = row.path.split(".")
        shared = 0
        while shared < min(len(parts) - 1, len(open_path)) and parts[shared] == open_path[shared]:
            shared += 1
        last = len(parts) if row.is_choice and open_path[: len(parts)] != parts else len(parts) - 1
        for depth in range(shared, last):
            print("  " * (depth + 1) + parts[depth])
        open_path = parts
        if row.is_choice:
            of_kind = f"  (of {row.kind})" if row.kind else ""
            print("  " * (len(parts) + 1) + f"{row.value}{of_kind}  {row.about}")
            continue
        facts = "; ".join(
            fact
            for fact in (
                row.value,
                row.allowed,
                row.default if row.default == "required" else f"default {row.default}" if row.default else "",
                f"of {row.kind}" if row.kind else "",
            )
            if fact
        )
        origin = f" [{row.origin}]" if row.origin else ""
        print("  " * len(parts) + f"{parts[-1]}  ({facts})")
        print("  " * len(parts) + f"    {row.about}{origin}")
