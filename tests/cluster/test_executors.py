"""What brings workers to a plan and is not started here: a Job in a file. And the model of workers that take units."""

import json
from pathlib import Path

import pytest

from sojourn.base.errors import UsageError
from sojourn.cluster.executors import executor_of
from support.cluster_model import simulate_workers


def test_a_job_for_kubernetes_is_written_and_its_command_told(tmp_path: Path) -> None:
    said: list[str] = []
    executor = executor_of(f"kubernetes:{tmp_path}/job.json", said.append, (), tmp_path)
    executor.start("ab12", "s3://studies/night", 40)
    assert said == [f"kubectl apply -f {tmp_path}/job.json"]
    assert executor.is_alive()
    job = json.loads((tmp_path / "job.json").read_text())
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    # What the API server asks of an Indexed Job with a policy for failures.
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 40, 40)
    assert (spec["backoffLimitPerIndex"], pod["restartPolicy"]) == (3, "Never")
    lost, version = spec["podFailurePolicy"]["rules"]
    assert (lost["action"], lost["onPodConditions"][0]["type"]) == ("Ignore", "DisruptionTarget")
    assert version["onExitCodes"] == {"containerName": "worker", "operator": "In", "values": [4]}
    (container,) = pod["containers"]
    assert container["command"][1:] == ["worker", "ab12", "--store", "s3://studies/night", "--claim"]
    assert {one["name"] for one in container["volumeMounts"]} <= {one["name"] for one in pod["volumes"]}
    with pytest.raises(UsageError, match="pods do not see the folder"):
        executor.start("ab12", "/home/me/store", 1)


def test_the_model_of_workers_ends_when_a_hand_says_so() -> None:
    # Nine units of 10 s by two workers: five and four. Of ten, if one dies after 15 s, it has made one and holds another; the other makes
    # eight until 80 s, and then the one that was held.
    both = simulate_workers([10.0] * 9, 2, patience_s=30.0, looks_s=1.0)
    assert (both.end_s, both.twice) == (50.0, 0)
    one = simulate_workers([10.0] * 10, 2, patience_s=30.0, deaths=lambda worker, _: 15.0 if worker == 1 else None)
    assert (one.end_s, one.twice) == (90.0, 1)
