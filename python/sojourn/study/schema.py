"""The JSON Schema of the study file, for editors and other programs."""

from __future__ import annotations

import json

from sojourn.study.definition import StudyDefinition


def study_schema() -> str:
    """Return the JSON Schema of the study file, made from what reads it.

    Examples
    --------
    >>> "scenario" in json.loads(study_schema())["required"]
    True
    """
    schema = StudyDefinition.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Sojourn study file"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
