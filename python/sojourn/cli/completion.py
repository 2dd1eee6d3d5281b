"""`sojourn completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser

__all__ = ["arguments", "execute"]


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.epilog = 'For bash, put this into ~/.bashrc: eval "$(sojourn completion bash)". For fish: sojourn completion fish > ~/.config/fish/completions/sojourn.fish'
    parser.add_argument("shell", choices=["bash", "zsh", "fish", "tcsh"], help="Which shell.")


def execute(options: Namespace) -> None:
    """Print a completion script."""
    import argparse

    import shtab

    from sojourn.cli.app import COMMANDS, GROUPS, parser_of

    root = argparse.ArgumentParser(prog="sojourn", add_help=False)
    commands = root.add_subparsers()
    groups = {
        word: commands.add_parser(word, help=about, add_help=False).add_subparsers()
        for word, about in GROUPS.items()
    }
    for words, (_, about) in COMMANDS.items():
        group, _, name = words.rpartition(" ")
        place = groups[group] if group else commands
        complete = place.add_parser(
            name, help=about, description=about, add_help=False, parents=[parser_of(words)]
        )
        for action in complete._actions:  # pyright: ignore[reportPrivateUsage]
            metavar = str(action.metavar)
            if "DIR" in metavar:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
            elif "FILE" in metavar:
                action.complete = shtab.FILE  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
    print(shtab.complete(root, shell=options.shell))
