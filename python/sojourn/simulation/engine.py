"""One run of the compiled engine, with its failures as errors of this package."""

from __future__ import annotations

import sojourn._engine as _engine
from sojourn.base.memory import budget

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Callable


class Beside:
    """Files that a run writes while it goes on, into existing directories.

    Parameters
    ----------
    pcap
        Captures of what reaches and leaves each link.
    apart
        Whether each place of the captures has a file of classic form.
    qlog
        A log for each end of each connection.
    said
        What the directories are called in words to the user.
    """

    __slots__ = ("apart", "pcap", "qlog", "said")

    def __init__(
        self, pcap: str | None = None, *, apart: bool = False, qlog: str | None = None, said: str = ""
    ) -> None:
        # No data class: a short run has no time to load what makes one.
        self.pcap, self.apart, self.qlog, self.said = pcap, apart, qlog, said


NOTICE_EVERY_S = 0.05
"""How long a wait may last before Python looks for an interrupt.

chosen: a quarter of the 0.2 s within which an interrupt has to work. Waiting without a limit would be
simpler, but once polars is loaded its signal handler restarts system calls, and the wait goes on.
"""


def simulate(
    scenario: _engine.Scenario,
    seed: int,
    cancel: _engine.CancelToken | None = None,
    watch: Callable[[float], None] | None = None,
    memory: int | None = None,
    beside: Beside | None = None,
) -> _engine.Records:
    """Run the engine, with its failures as errors of this package.

    Raises `InterruptedRun` if `cancel` was used; `MemoryExceeded` if the run needs more than `memory`; `RunError` if
    the engine fails, or a queue manager written in Python, or something cannot be written.

    Parameters
    ----------
    scenario
        What to run.
    seed
        What decides all that is random.
    cancel
        What stops the run from another thread.
    watch
        Called some twenty times a second with the share that is done.
    memory
        Bytes that the run may take; most of what is free if left out.
    beside
        Directories for packets and connections that are written while it runs.
    """
    beside = beside or Beside()
    try:
        return _engine.run(
            scenario,
            seed,
            cancel,
            watch,
            budget() if memory is None else memory,
            beside.pcap,
            beside.apart,
            beside.qlog,
        )
    except OSError as error:
        from sojourn.base.errors import RunError, why

        raise RunError(
            f"packets of the run of {scenario.name} cannot be written to {beside.said}: {why(error)}",
            "nothing is left there; choose another directory",
        ) from error
    except _engine.Interrupted as error:
        from sojourn.base.errors import InterruptedRun

        raise InterruptedRun("the run was interrupted") from error
    except _engine.MemoryExceeded as error:
        from sojourn.base.errors import MemoryExceeded

        what, hint = error.args
        raise MemoryExceeded(
            f"the run of {scenario.name} with seed {seed} is too large: {what}", f"{hint}; or more, by --memory"
        ) from error
    except _engine.ManagerFailed as error:
        from sojourn.base.errors import RunError

        raise RunError(
            f"the run of {scenario.name} with seed {seed} failed: {error}", "see the cause of the exception"
        ) from error.__cause__
    except (KeyboardInterrupt, SystemExit):  # by way of `watch`
        raise
    except BaseException as error:  # a panic of the engine is not an Exception
        from sojourn.base.errors import RunError

        first = (str(error) or type(error).__name__).splitlines()[0]
        raise RunError(
            f"the run of {scenario.name} with seed {seed} failed: {first}",
            "this is a bug in the simulator, not in the scenario; please report it",
        ) from error
