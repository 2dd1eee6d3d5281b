"""`sojourn completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    parser.epilog = 'For bash, put this into ~/.bashrc: eval "$(sojourn completion bash)". For fish: sojourn completion fish > ~/.config/fish/completions/sojourn.fish'
    parser.add_argument("shell", choices=["bash", "zsh", "fish", "tcsh"], help="Which shell.")


def execute(options: Namespace) -> None:
    import argparse

    import shtab

    from sojourn.cli.app import COMMANDS, GROUPS, parser_of

    root = argparse.ArgumentParser(prog="sojourn", add_help=False)
    places = {"": root.add_subparsers()}
    for word, about in GROUPS.items():
        group = places[""].add_parser(word, help=about, add_help=False)
        places[word] = group.add_subparsers()
    firsts = {words.rpartition(" ")[0] for words in COMMANDS}
    for words, (_, about) in COMMANDS.items():
        place, _, name = words.rpartition(" ")
        complete = places[place].add_parser(
            name, help=about, description=about, add_help=False, parents=[parser_of(words)]
        )
        if words in firsts:
            # A command that others begin with, as `serve export` begins with `serve`.
            places[words] = complete.add_subparsers()
        for action in complete._actions:  # pyright: ignore[reportPrivateUsage]
            metavar = str(action.metavar)
            if "DIR" in metavar:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
            elif "FILE" in metavar:
                action.complete = shtab.FILE  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
    print(shtab.complete(root, shell=options.shell))
