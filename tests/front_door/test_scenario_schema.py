"""The schema for editors takes what the loader takes, and refuses nothing else than it does."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pydantic import BaseModel

from tests.scenario.test_every_field_counts import _models
from tests.scenario.test_wrong_values import PATHS, _text, _with
from tests.scenario.wrong_values import EVERY_FIELD, WRONG
from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode
from whitecap.scenarios import SCENARIOS
from whitecap.sim.bundled import EDITOR_LINE, all_bundled, text_to_start_from
from whitecap.sim.describing.forms import FORMS
from whitecap.sim.describing.schema import scenario_schema, schema_text
from whitecap.sim.describing.sentences import SENTENCES, sentence_of
from whitecap.sim.loading import parse_scenario
from whitecap.sim.quantities.section import OneOf, word_of
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.yaml.text import YamlText, read_yaml

BUNDLED = [each for each in all_bundled() if not each.is_table]
SCHEMA_FILE = "scenario.schema.json"
MODELS = list(_models(Scenario, set()))

SMALL = """
name: small
duration: 1 h
store: s3
table: {schema: "id BIGINT", key: id}
writers:
  loader:
    statement: INSERT INTO events VALUES :rows
    parameters: {rows: {rows: {count: 2}}}
    arrival: {closed: {think: 30 s}}
"""

REFUSED = {
    "a misspelt key": "wamr_up: 1 min",
    "a duration without unit": "duration: 60",
    "a duration with an unknown unit": "duration: 5 weeks",
    "an unknown dialect": "dialect: delta-oss-9",
    "an unknown store": "store: s4",
    "an unknown fault": "faults: [lost]",
    "two kinds of a choice": "faults: [{lost_reply: {nth: 1}, pause: {nth: 1, lasts: 1 s}}]",
    "an objective without a threshold": "objective: job_success_rate",
    "a number out of bounds": "seed: -1",
    "a measure that there is not": "expect: [{measure: aborts, equals: 0}]",
    "another role of an axis": "sweep: {axes: {a: {role: lode, b: {}}}}",
}

TAKEN = {
    "a number that YAML takes for text": "seed: 1e3",
    "auto": "warm_up: auto",
    "a profile with overrides": "store: {profile: s3, client: {timeout: 5 s}}",
    "a fault by its name": "faults: [lost-reply]",
    "a fault with overrides": "faults: [{use: lost-reply, lost_reply: {nth: 3}}]",
    "one objective": "objective: job_success_rate of all >= 99 %",
    "a load on all": "load: {cv: 0.5, lasts: 1 min}",
    "an axis with a role": "sweep: {axes: {a: {role: load, b: {writers.loader.count: 2}}}}",
}


@cache
def checker() -> Any:
    """What checks a scenario by the schema; importing it takes seconds, which one worker needs."""
    import jsonschema

    return jsonschema.Draft202012Validator(scenario_schema())


def _content(text: str) -> Any:
    """As an editor sees it: dates are text there."""
    return json.loads(json.dumps(YamlText(text, "x").content, default=str))


def _small(line: str) -> str:
    key = line.partition(":")[0]
    kept = [each for each in SMALL.strip().splitlines() if not each.startswith(f"{key}:")]
    return "\n".join([*kept, line])


@pytest.mark.parametrize("line", REFUSED.values(), ids=REFUSED)
def test_what_the_schema_refuses_the_loader_refuses(line: str) -> None:
    assert not checker().is_valid(_content(_small(line)))
    with pytest.raises(InvalidInput):
        parse_scenario(_small(line))


@pytest.mark.parametrize("line", TAKEN.values(), ids=TAKEN)
def test_every_form_that_the_loader_takes_the_schema_takes(line: str) -> None:
    parse_scenario(_small(line))
    checker().validate(_content(_small(line)))


@pytest.mark.parametrize(
    "compute", ["5 s", "{lognormal: {median: 5 s, sigma: 1}}", "{per_file: 1 s}"]
)
@pytest.mark.parametrize("rerun", ["none", "{fixed: {wait: 1 s}}"])
@pytest.mark.parametrize("restart", ["airflow", "{preset: airflow, fixed: {budget: 3}}"])
def test_short_forms_of_a_writer_are_taken(compute: str, rerun: str, restart: str) -> None:
    text = f"{SMALL}    compute: {compute}\n    rerun: {rerun}\n    restart: {restart}\n"
    parse_scenario(text)
    checker().validate(_content(text))


def test_no_wrong_value_is_refused_by_the_schema_alone() -> None:
    pairs = [(path, wrong) for path in PATHS for wrong in WRONG.values()]
    refused = [
        (path, wrong)
        for path, wrong in random.Random(5).sample(pairs, 40)
        if not checker().is_valid(json.loads(json.dumps(_with(path, wrong), default=str)))
    ]
    assert len(refused) > 20
    for path, wrong in refused:
        with pytest.raises(InvalidInput):
            parse_scenario(_text(path, wrong)[0], cells=False)


@pytest.mark.parametrize("bundled", BUNDLED, ids=lambda each: each.stem)
def test_every_bundled_scenario_fits_the_schema_that_it_names(bundled: Any) -> None:
    text = bundled.file.read_text(encoding="utf-8")
    first = text.splitlines()[0]
    assert first.startswith(EDITOR_LINE)
    named = bundled.file.parent / first.removeprefix(EDITOR_LINE)
    assert named.resolve() == SCENARIOS / SCHEMA_FILE
    checker().validate(_content(text))
    assert text_to_start_from(bundled).splitlines()[0] == f"{EDITOR_LINE}{SCHEMA_FILE}"


def test_a_scenario_with_every_field_fits() -> None:
    checker().validate(EVERY_FIELD)


def test_the_schema_beside_the_scenarios_is_fresh() -> None:
    assert (SCENARIOS / SCHEMA_FILE).read_text(encoding="utf-8") == schema_text(), "make documented"


def test_every_key_has_a_sentence_and_every_sentence_its_key() -> None:
    for model in MODELS:
        for name in model.model_fields:
            assert sentence_of(model, name).endswith("."), (model, name)
    bases = {base for model in MODELS for base in model.__mro__ if issubclass(base, BaseModel)}
    fields = {f"{word_of(base)}.{name}" for base in bases for name in base.model_fields}
    assert not SENTENCES.keys() - fields


def test_every_model_that_takes_another_form_is_known_to_the_schema() -> None:
    for model in MODELS:
        before = {
            name
            for name, each in model.__pydantic_decorators__.model_validators.items()
            if each.info.mode in ("before", "wrap") and name not in OneOf.__dict__
        }
        assert not before or model in FORMS, (model, before)


def test_the_schema_is_written_and_then_checks_a_file_beside_it(tmp_path: Path) -> None:
    out = tmp_path / SCHEMA_FILE
    result = CliRunner().invoke(main, ["schema", "--out", str(out)])
    assert result.exit_code == ExitCode.FINE
    printed = CliRunner().invoke(main, ["schema"]).stdout
    assert out.read_text(encoding="utf-8") == printed
    type(checker()).check_schema(json.loads(printed))


def test_patterns_are_those_of_editors() -> None:
    assert "(?P<" not in schema_text()


def test_a_bundled_scenario_is_read_with_its_first_line() -> None:
    assert read_yaml(BUNDLED[0].file).content["name"] == BUNDLED[0].stem


def test_the_page_of_keys_is_fresh_and_has_every_key() -> None:
    page = (SCENARIOS.parent / "docs" / "scenario-keys.md").read_text(encoding="utf-8")
    assert page == CliRunner().invoke(main, ["schema", "--markdown"]).stdout, "make documented"
    for model in MODELS:
        assert all(sentence_of(model, name) in page for name in model.model_fields)
    assert "| `replications` | whole number | `5` |" in page
    assert "| `duration` | duration | needed |" in page


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_what_the_page_says(
    shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMP_WORDS", "whitecap sche")
    monkeypatch.setenv("COMP_CWORD", "sche" if shell == "fish" else "1")
    result = CliRunner().invoke(
        main, prog_name="whitecap", env={"_WHITECAP_COMPLETE": f"{shell}_complete"}
    )
    assert "schema" in result.output
