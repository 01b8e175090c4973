"""The answers of real Spark, as they are kept: by form, and by answer which arguments gave it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.sql.value_probes import Probe
from whitecap.engine.values.texts import to_text

ANSWERS = Path(__file__).with_name("spark_answers.json")
_BETWEEN = " ; "


def shown(value: Any) -> str:
    """A value as an answer holds it: the same for Spark's Python rows and for ours."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case Decimal():
            return f"{value:f}"
        case datetime() | date():
            return to_text(value)
        case bytes() | bytearray():
            return f"X'{bytes(value).hex()}'"
    return repr(value)


def written(answers: Mapping[Probe, str]) -> str:
    """The answers as JSON, a line for each answer to a form."""
    by_form: dict[str, dict[str, list[str]]] = {}
    for probe, answer in answers.items():
        given = by_form.setdefault(probe.form, {}).setdefault(answer, [])
        given.append(_BETWEEN.join(probe.arguments))
    blocks = []
    for form, of_form in by_form.items():
        lines = [f"  {json.dumps(a)}: {json.dumps(given)}" for a, given in of_form.items()]
        blocks.append(f"{json.dumps(form)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def kept() -> dict[Probe, str]:
    """What was written down."""
    answers: dict[Probe, str] = {}
    for form, of_form in json.loads(ANSWERS.read_text()).items():
        for answer, given in of_form.items():
            for text in given:
                answers[Probe(form, tuple(text.split(_BETWEEN)) if text else ())] = answer
    return answers
