"""Every field with every wrong kind of value: told plainly, at its own line, and never accepted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from tests.scenario.test_every_field_counts import FIELDS
from tests.scenario.wrong_values import EVERY_FIELD, PYDANTIC, WRONG
from whitecap.engine.errors import InvalidInput
from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import load_scenario, parse_scenario
from whitecap.sim.quantities import bounds
from whitecap.sim.quantities.distributions import MAX_CV, MAX_SIGMA
from whitecap.sim.quantities.section import word_of
from whitecap.sim.quantities.tails import MAX_ALPHA
from whitecap.sim.quantities.units import MAX_DURATION_MS, MAX_RATE, show_duration
from whitecap.sim.scenario.parameters import MAX_EXPONENT
from whitecap.sim.scenario.yaml.loader import MAX_BYTES, MAX_DEPTH, MAX_VALUES
from whitecap.sim.scenario.yaml.text import read_value

Path = tuple[str | int, ...]

MARK = "THE-WRONG-VALUE"

DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def _paths(value: Any, at: Path = ()) -> Iterator[Path]:
    parts = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for part, inner in parts:
        yield (*at, part)
        yield from _paths(inner, (*at, part))


PATHS = [path for path in _paths(EVERY_FIELD) if "axes" not in path[:-3]]


OF_OTHERS = ("faults", "expect", "objective", "may_change", "sweep")
"""Sections that speak of writers by their names."""


def _around(path: Path) -> dict[str, Any]:
    """What a value at this path may have to do with: the rest only takes time to be read."""
    section, *inner = path
    others = tuple(each for each in OF_OTHERS if each != section)
    spoken_of = {name: EVERY_FIELD["writers"][name] for name in ("loader", "stream")}
    scenario = {**EVERY_FIELD, "store": "s3", "writers": spoken_of}
    match section, inner:
        case "store", [part, *_] if part != "log_store":
            store = {key: EVERY_FIELD["store"][key] for key in ("profile", part)}
            return _without(scenario, others) | {"store": store}
        case "writers", [name, *_]:
            writer = EVERY_FIELD["writers"][name]
            without = others if "cluster" in writer else (*others, "clusters")
            return _without(scenario, without) | {"writers": {name: writer}}
        case "store", _:
            return _without({**EVERY_FIELD, "writers": spoken_of}, others)
        case "writers", _:
            return {**EVERY_FIELD, "store": "s3"}
        case (("table" | "clusters" | "settings" | "price" | "load"), _):
            return _without(scenario, others)
        case _:
            return scenario


def _without(scenario: dict[str, Any], sections: tuple[str, ...]) -> dict[str, Any]:
    return {key: section for key, section in scenario.items() if key not in sections}


def _with(path: Path, value: Any) -> Any:
    """A copy with one value replaced."""
    copied = json.loads(json.dumps(_around(path)))
    inner = copied
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return copied


@lru_cache
def _marked(path: Path) -> str:
    return yaml.dump(_with(path, MARK), Dumper=DUMPER, sort_keys=False, width=1000)


def _text(path: Path, value: Any) -> tuple[str, int]:
    """The scenario as YAML with one value replaced, and the line on which that stands."""
    marked = _marked(path)
    line = next(n for n, text in enumerate(marked.splitlines(), 1) if MARK in text)
    flow = yaml.dump(value, Dumper=DUMPER, default_flow_style=True, width=1000)
    return marked.replace(MARK, flow.removesuffix("\n").removesuffix("\n...")), line


def _kind(value: Any) -> str:
    """What a value is to a reader of YAML."""
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "number"
        case dict():
            return "keys"
        case list():
            return "list"
        case _:
            return "text"


def _fields(model: Any) -> Iterator[str]:
    """The fields that are set within a scenario."""
    match model:
        case BaseModel():
            for name in model.model_fields_set:
                yield f"{word_of(type(model))}.{name}"
                yield from _fields(getattr(model, name))
        case dict():
            for value in model.values():
                yield from _fields(value)
        case list() | tuple():
            for value in model:
                yield from _fields(value)


OF_ANY_STRIKE = {
    field
    for field in FIELDS
    if field.partition(".")[2] in ("probability", "nth", "of_jobs", "files")
}
"""The same in all faults that strike requests: some are set in one of them, some in another."""

EXCLUDED = {
    "Answer.latency", "Limits.requests_per_s", "Listing.out", "Listing.back", "PastLog.commits",
    "Scenario.tables", "Table.real", "Table.version", "Table.rows_each", "Trace.file",
    *OF_ANY_STRIKE,
}  # fmt: skip
"""Go not with what is there: a way out that is given by itself, a latency, a limit, a rate, one
table that is described, a text."""


def test_every_field_is_there_to_be_set_wrong() -> None:
    scenario = parse_scenario(yaml.safe_dump(EVERY_FIELD))
    assert sorted({*_fields(scenario), *EXCLUDED}) == sorted(FIELDS)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: ".".join(map(str, path)))
def test_a_wrong_value_is_told_plainly_and_at_its_line(path: Path) -> None:
    for name, value in WRONG.items():
        text, line = _text(path, value)
        try:
            parse_scenario(text, "x.yaml", cells=False)
        except InvalidInput as error:
            problems = [str(problem) for problem in error.problems]
            for words in PYDANTIC:
                assert not any(words in text for text in problems), (name, problems)
            if value is not None and _kind(value) != _kind(_at(path)):
                assert any(_is_at(text, path, line) for text in problems), (name, problems)


def _is_at(problem: str, path: Path, line: int) -> bool:
    """At the value; what a parameter must be, only the statement that it stands in knows."""
    at_the_value = problem.startswith(f"x.yaml:{line} ")
    if at_the_value or "parameters" not in path:
        return at_the_value
    return re.search(rf" writers\.{path[1]}\.(statements\.\d+\.)?statement: ", problem) is not None


def _at(path: Path) -> Any:
    value: Any = EVERY_FIELD
    for part in path:
        value = value[part]
    return value


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"\d+ (ms|s|min|per min)", value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


NUMBERS = [path for path in PATHS if _is_number(_at(path))]


@pytest.mark.parametrize("path", NUMBERS, ids=lambda path: ".".join(map(str, path)))
@pytest.mark.parametrize("value", [True, False])
def test_true_and_false_are_no_numbers(path: Path, value: bool) -> None:
    with pytest.raises(InvalidInput):
        parse_scenario(_text(path, value)[0], cells=False)


def test_a_number_may_have_an_exponent() -> None:
    table = parse_scenario(_text(("table", "initial", "rows"), "1e3")[0]).table
    assert table is not None
    assert table.initial.rows == 1000


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("warm_up",), "100 s", "x.yaml:8 warm_up: 100 s are not shorter than the duration"),
        (("name",), "a/b", "x.yaml:2 name: 'a/b' is no name here: it holds only letters, digits"),
        (("name",), "..", "is no name here"),
        (("name",), 300 * "x", "files are called by it, and it has 300 bytes: 230 are the most"),
        (("start",), "soon", "x.yaml:6 start: needs a date and time, such as 2026-01-14 08:00:00"),
        (("start",), "9999-01-01", "is not between the years 1970 and 8999"),
        (("writers",), 3, "writers: needs keys with values, not 3"),
        (("table",), None, "x.yaml:1: 'table' is missing, or tables"),
        (("writers", "loader", "count"), True, "count: needs a number, not true"),
        (("writers", "loader", "count"), "two", "count: needs a whole number, not 'two'"),
        (("writers", "loader", "count"), 0, "count: must be at least 1, not 0"),
        (("writers", "loader", "stops"), "1 s", "loader.stops: stops before it starts"),
        (("faults", 0, "between"), ["1 s"], "faults.0.between: needs a list of two"),
        (("faults", 0, "between"), "1 s", "faults.0.between: needs a list of two, not '1 s'"),
        (("faults", 0, "writers"), [], "faults.0.writers: needs at least 1, has 0"),
        (("table", "key"), 3, "table.key: needs text, not 3: put it in quotes"),
        (("settings",), {1: "x"}, "settings.1: the key 1 is not text: put it in quotes"),
        (("expect", 0, "when"), {"size": 3}, "needs text, not 3: put it in quotes"),
        (("table", "values", "country", "among"), [[1]], "needs text, a number, true or false"),
        (("table", "values", "country", "among"), [date(2026, 1, 1)], "in quotes: '2026-01-01'"),
        (("writers", "loader", "retry"), {"fixed": {}}, "unknown key (did you mean 'rerun'?)"),
        (("loader",), {"count": 3}, "unknown key (did you mean 'writers.loader'?)"),
        (("writers", "loader", "arrival"), {"schedule": {"at": ["02:00"]}}, "`at` counts from"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_as_people_speak(path: Path, value: Any, expected: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse_scenario(_text(path, value)[0], "x.yaml")
    assert expected in str(raised.value)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("duration",), "1e300 d", "is longer than 3650 d"),
        (("duration",), "9" * 400 + " d", "is longer than 3650 d"),
        (("table", "initial", "rows"), 99_999_999_999, "must be at most 1,000,000,000"),
        (("table", "initial"), {"rows": 5_000_000, "rows_per_file": 1}, "5,000,000 files are more"),
        (("table", "values", "date", "days"), 3_000_000_000, "must be at most 36,500"),
        (("table", "bytes_per_row"), 10**20, "must be at most 1,073,741,824"),
        (("writers", "loader", "count"), 10**11, "must be at most 4,096"),
        (("writers", "corrector", "parameters", "keys", "keys", "count"), 10**11, "at most 10,000"),
        (("writers", "loader", "parameters", "rows", "rows", "count"), 10**11, "at most 4,096"),
        (("writers", "corrector", "arrival", "open", "rate"), "1e300 per ms", "is not between"),
        (("writers", "corrector", "arrival", "open", "rate"), "1e-300 per d", "is not between"),
        (("writers", "corrector", "arrival", "open", "rate"), "900 per ms", ""),
        (("writers", "corrector", "arrival", "schedule"), {"every": "1e-7 ms"}, ""),
        (("writers", "corrector", "rerun", "fixed", "budget"), 10**12, "at most 1,000,000"),
        (("faults", 3, "writer_crash"), {"rate": "1e3 per ms", "restart": "0 s"}, ""),
        (("store", "client", "throttle_retries"), 10**9, "must be at most 1,000"),
        (("sweep", "replications"), 99_999_999_999, "must be at most 1,000"),
        (("seed",), 10**30, "must be at most 9,223,372,036,854,775,807"),
    ],
)  # fmt: skip
def test_absurd_sizes_are_refused(path: Path, value: Any, expected: str) -> None:
    document = _with(path, value)
    document["duration"] = value if path == ("duration",) else "3650 d"
    if "schedule" in path:
        del document["writers"]["corrector"]["arrival"]["open"]
    with pytest.raises(InvalidInput) as raised:
        parse_scenario(yaml.safe_dump(document), "x.yaml")
    assert expected in str(raised.value) or "are more than 100,000,000" in str(raised.value)


def test_more_cells_than_anybody_reads_are_refused_before_one_is_made() -> None:
    axes: dict[str, Any] = {
        f"a{axis}": {str(label): {} for label in range(20)} for axis in range(9)
    }
    with pytest.raises(InvalidInput, match="512,000,000,000 cells are more than 1,000"):
        parse_scenario(yaml.safe_dump(_with(("sweep", "axes"), axes)))


BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "name: !!python/object/apply:os.system [ls]",
            "x.yaml:1: the tag !!python/object/apply:os",
        ),
        ("name: a\nseed: !mine 3", "x.yaml:2: the tag !mine is not used here"),
        ("name: &x [*x]", "x.yaml:1: *x stands within what it names"),
        ("writers: &w\n  a: *w", "x.yaml:2: *w stands within what it names"),
        ("[" * 3000, "is nested more than 32 levels deep"),
        ("- " * 3000 + "a", "is nested more than 32 levels deep"),
        (BOMB, f"more than {MAX_VALUES:,} values are too many"),
        ("x" * (MAX_BYTES + 1), "is larger than 1 MiB"),
        ("seed: " + "9" * 5000, "x.yaml:1 seed: is not YAML: 9999"),
        ("start: 2026-13-45", "x.yaml:1 start: is not YAML: 2026-13-45: month must be in 1..12"),
        ("? [a, b]\n: 3", "x.yaml:1: a key must be a word"),
        ("<<: 3", "x.yaml:1 <<: is not YAML"),
        ("name: a\n---\nname: b", "is not YAML"),
        ("name: \x00", "is not YAML"),
    ],
)
def test_yaml_made_to_do_harm_is_refused_while_it_is_read(text: str, expected: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse_scenario(text, "x.yaml")
    assert expected in str(raised.value)


def test_honest_aliases_and_merged_keys_still_work() -> None:
    plain = yaml.safe_dump({**EVERY_FIELD, "store": "s3"}, sort_keys=False)
    aliased = plain.replace("every-field", "&name every-field").replace(
        "description: Each field of a scenario somewhere.", "description: *name"
    )
    merged = plain.replace("    count: 2\n", "    <<: {count: 2}\n")
    scenario = parse_scenario(plain)
    assert parse_scenario(aliased).description == "every-field"
    assert parse_scenario(merged) == scenario


def test_a_file_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(InvalidInput, match="/dev/zero: is larger than 1 MiB"):
        load_scenario("/dev/zero")


def test_the_documentation_tells_every_bound() -> None:
    documented = (SCENARIOS.parent / "docs" / "scenarios.md").read_text(encoding="utf-8")
    section = documented.partition("## Bounds")[2]
    constants = {name: value for name, value in vars(bounds).items() if name.isupper()}
    assert constants
    for name, value in {**constants, "values": MAX_VALUES, "depth": MAX_DEPTH}.items():
        assert f"{value:,}" in section or f" {value}" in section, name
    for duration in (MAX_DURATION_MS, 1 / MAX_RATE):
        assert show_duration(duration) in section or f"{1 / duration:g} per ms" in section
    for limit in (MAX_SIGMA, MAX_CV, MAX_EXPONENT, MAX_ALPHA):
        assert f"{limit:,g}" in section
    assert f"{MAX_BYTES >> 20} MiB" in section


@pytest.mark.parametrize(
    ("written", "meant"), [("010", 8), ("0_17", 15), ("1:30", 90), ("-012", -10), ("2:30.5", 150.5)]
)
def test_a_number_that_yaml_reads_as_another_one_is_refused(written: str, meant: float) -> None:
    """YAML 1.1 has octal and sexagesimal numbers; YAML 1.2, and everybody else, reads 010 as 10."""
    said = f"{written} is read as {meant} by YAML: write that number, or the text in quotes"
    for text in (f"a: 1\nseed: {written}\n", f"a: 1\n{written}: x\n"):
        with pytest.raises(InvalidInput) as raised:
            read_value(text, "x.yaml")
        assert [str(each) for each in raised.value.problems] == [f"x.yaml:2: {said}"]


@pytest.mark.parametrize("written", ["0", "00", "10", "0x10", "1_000", "0.5", "'010'", "08"])
def test_other_numbers_are_read_as_they_are_written(written: str) -> None:
    assert read_value(f"seed: {written}", "x.yaml") == yaml.safe_load(f"seed: {written}")
