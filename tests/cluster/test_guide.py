"""The guide to many machines, followed word by word: a real SLURM of two nodes and a real S3-compatible server, on this machine."""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from support.servers import SlurmMachine, credentials, find_versitygw, free_port, slurm, versitygw

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "cluster.md"


@pytest.fixture
def short_path() -> Generator[Path]:
    """Give a directory whose path a socket can have."""
    place = Path(tempfile.mkdtemp(prefix="sojourn-"))
    yield place
    shutil.rmtree(place, ignore_errors=True)


def commands() -> list[list[str]]:
    lines = re.findall(r"^\$ (.*)$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    return [shlex.split(line) for line in lines]


@pytest.mark.slow
def test_the_guide_works_as_it_says_and_all_ways_give_the_same_bytes(tmp_path: Path, short_path: Path) -> None:
    if reason := SlurmMachine.missing():
        pytest.skip(reason)
    pytest.importorskip("obstore")
    if find_versitygw() is None:
        pytest.skip("no versitygw: tools/install-s3-server builds it, with Go")
    port = free_port()
    with slurm(short_path) as machine, versitygw(tmp_path / "s3", port):
        environment = machine.environment | credentials(port)
        environment |= {"SOJOURN_STORE": str(tmp_path / "own"), "NO_COLOR": "1"}
        for command in commands():
            assert command[0] == "sojourn"
            done = subprocess.run(
                [sys.executable, "-m", *command],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=400,
            )
            assert done.returncode == 0, f"{shlex.join(command)}\n{done.stderr}"
    results = {(tmp_path / name / "metrics.parquet").read_bytes() for name in ("first", "third")}
    assert len(results) == 1
    told = [path.read_text() for path in (tmp_path / "sojourn-logs").iterdir()]
    units: list[str] = re.findall(r"(\d+) units", "\n".join(told))
    assert sum(int(number) for number in units) > 0
    stored = [path for path in (tmp_path / "s3").rglob("*") if path.is_file()]
    assert len(stored) > 10
    secret = credentials(port)["AWS_SECRET_ACCESS_KEY"].encode()
    logs = list((tmp_path / "sojourn-logs").iterdir())
    assert not any(secret in path.read_bytes() for path in [*stored, *logs])
