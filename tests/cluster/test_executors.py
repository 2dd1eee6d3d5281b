"""What brings workers to a plan and is not started here: the Job of the guide. And the model of workers that take units."""

from pathlib import Path

import yaml

from sojourn.base.errors import ExitStatus
from sojourn.cli.app import parser_of
from sojourn.version import VERSION
from support.cluster_model import simulate_workers


def test_the_job_of_the_guide_is_an_indexed_job_whose_pods_are_workers() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "cluster.md").read_text(encoding="utf-8")
    job = yaml.safe_load(guide.partition("```yaml\n")[2].partition("```")[0])
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    # What the API server asks of an Indexed Job with a policy for failures.
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 40, 40)
    assert (spec["backoffLimitPerIndex"], pod["restartPolicy"]) == (3, "Never")
    lost, version = spec["podFailurePolicy"]["rules"]
    assert (lost["action"], lost["onPodConditions"][0]["type"]) == ("Ignore", "DisruptionTarget")
    assert version["onExitCodes"] == {"containerName": "worker", "operator": "In", "values": [ExitStatus.OTHER_VERSION]}
    (container,) = pod["containers"]
    assert container["image"] == f"sojourn:{VERSION}"
    program, command, *options = container["command"]
    assert (program, command) == ("sojourn", "worker")
    assert parser_of("worker").parse_args(options).claim
    assert {one["name"] for one in container["volumeMounts"]} <= {one["name"] for one in pod["volumes"]}


def test_the_model_of_workers_ends_when_a_hand_says_so() -> None:
    # Nine units of 10 s by two workers: five and four. Of ten, if one dies after 15 s, it has made one and holds another; the other makes
    # eight until 80 s, and then the one that was held.
    both = simulate_workers([10.0] * 9, 2, patience_s=30.0, looks_s=1.0)
    assert (both.end_s, both.twice) == (50.0, 0)
    one = simulate_workers([10.0] * 10, 2, patience_s=30.0, deaths=lambda worker, _: 15.0 if worker == 1 else None)
    assert (one.end_s, one.twice) == (90.0, 1)
