"""The commands, put together."""

from typing import Annotated

import typer

from sojourn.cli.bench import bench
from sojourn.cli.check import check
from sojourn.cli.compare import compare
from sojourn.cli.query import query
from sojourn.cli.report import report
from sojourn.cli.run import run
from sojourn.cli.study import study_app

__all__ = ["app"]

app = typer.Typer(
    name="sojourn",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 done, 1 failed, 2 wrong usage or invalid input, 3 interrupted.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from sojourn import __version__

        print(f"sojourn {__version__}")
        raise typer.Exit


@app.callback()
def sojourn(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Simulate access networks under load, and set the results beside published ones."""
    del version


app.command()(check)
app.command()(run)
app.add_typer(study_app, name="study")
app.command()(report)
app.command()(compare)
app.command()(query)
app.command()(bench)
