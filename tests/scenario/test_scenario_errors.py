"""Wrong input is told whole: every problem, its line and path, and what was probably meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.sim.sim_worlds import TABLE, UPDATE, document
from whitecap.engine.errors import InvalidInput
from whitecap.scenarios import SCENARIOS
from whitecap.sim.bundled import NO_SCENARIOS
from whitecap.sim.loading import load_scenario, parse_scenario, scenario_of
from whitecap.sim.loading.profiles import check_profile
from whitecap.sim.scenario.yaml.text import YamlText, show_document

SERIAL = "event_id BIGINT, date DATE, n BIGINT GENERATED ALWAYS AS IDENTITY"
WRONG = """\
name: wrong
duratoin: 2 h
duration: 2 hours
store: s4
table:
  schema: "event_id BIGINT, date DATE, country STRING"
  partition_by: [dat]
  key: event_i
  values: {date: {days: 0}, country: [DE, 3]}
writers:
  loader:
    statement: INSERT INTO events VALUES :rows
    parameters: {date: newst, rows: {rows: {count: 20}}}
    arrival: {closed: {think: 5 s}, open: {rate: 3}}
    compute: {lognrmal: {median: 20 s, sigma: 0.4}}
    rerun: {exponential: {base: 1 s, cap: 1 min, jitter: ful}}
faults: [lost-replay]
"""


def problems_of(text: str) -> list[str]:
    with pytest.raises(InvalidInput) as raised:
        parse_scenario(text, "wrong.yaml")
    return [str(problem) for problem in raised.value.problems]


@pytest.mark.parametrize(
    "expected",
    [
        "wrong.yaml:2 duratoin: unknown key (did you mean 'duration'?)",
        "wrong.yaml:3 duration: '2 hours' is not a duration: write a number and ms, s, min, h or d",
        "wrong.yaml:7 table.partition_by.0: the table has no column 'dat' (did you mean 'date'?)",
        "wrong.yaml:8 table.key: the table has no column 'event_i' (did you mean 'event_id'?)",
        "wrong.yaml:15 writers.loader.compute.lognrmal: unknown key (did you mean 'lognormal'?)",
    ],
)
def test_one_message_holds_every_problem_with_its_line_and_nearest_name(expected: str) -> None:
    assert expected in problems_of(WRONG)


UNBOUND = """\
name: unbound
duration: 5 min
store: s3
table: {schema: "id BIGINT, day DATE", key: id, partition_by: [PARTITIONS]}
writers:
  a:
    statement: UPDATE events SET x = 1 WHERE id = :kez AND idd = 3
    parameters: {key: {keys: {count: 2}}}
    arrival: {closed: {think: 5 s}}
    compute: 3 s
"""


ROWS_OF_A_DAY = """
name: rows-of-a-day
duration: 5 min
store: s3
table: {schema: "id BIGINT, day DATE", key: id, values: {day: {days: 7}}}
writers:
  a:
    statement: INSERT INTO events VALUES :rows
    parameters: {rows: {rows: {count: 2}}, day: newest}
    arrival: {closed: {think: 5 s}}
    compute: 3 s
"""


def test_a_parameter_for_rows_of_a_day_whose_days_are_not_listed_is_told_once() -> None:
    assert problems_of(ROWS_OF_A_DAY.replace("day: {days: 7}", "")) == [
        "wrong.yaml:9 writers.a.parameters.day: table.values lists no values of 'day'"
    ]


def test_a_partition_column_that_the_table_does_not_have_is_told_once() -> None:
    wrong = ROWS_OF_A_DAY.replace("key: id", "key: id, partition_by: [date]")
    assert problems_of(wrong) == [
        "wrong.yaml:5 table.partition_by.0: the table has no column 'date'"
    ]


@pytest.mark.parametrize(
    ("partitions", "others"), [("", 0), ("dya", 1)], ids=["a sound table", "a wrong table"]
)
def test_a_parameter_that_nothing_says_hides_no_misspelt_column(
    partitions: str, others: int
) -> None:
    statement = "wrong.yaml:7 writers.a.statement: "
    wrong = problems_of(UNBOUND.replace("PARTITIONS", partitions))
    assert wrong[others:] == [
        f"{statement}nothing says what :kez is: add it to parameters (did you mean 'key'?)",
        f"{statement}x: no such column",
        f"{statement}idd: no such column (did you mean 'id'?)",
        "wrong.yaml:8 writers.a.parameters.key: is not used: the statement has no :key "
        "(did you mean 'kez'?)",
    ]


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ("where: {a: b}", "where: unknown key: there are measure, writer, command, exception, "),
        ("at_least: 90 %", "at_least: '90 %' is written 0.9 here: shares lie between 0 and 1"),
        ("at_most: 1.5 s", "at_most: '1.5 s' is written 1500 here: latencies are milliseconds"),
        ("at_most: much", "at_most: needs a number, not 'much'"),
    ],
)
def test_what_is_expected_in_other_words_is_answered_with_ours(expected: str, said: str) -> None:
    text = (SCENARIOS / "capacity.yaml").read_text()
    problems = problems_of(f"{text}expect: [{{measure: latency_p95_ms, equals: 1, {expected}}}]\n")
    assert any(said in each for each in problems), problems


ELSEWHERE = {
    "of the writer": ("count: 2", "cuont: 2"),
    "of its parameters": ("date: uniform", "date: unifrom"),
    "of its parameters' names": ("date: uniform", "{date: uniform, dya: uniform}"),
    "of the table": ("initial: {rows", "initail: {rows"),
    "of the table's columns": ("partition_by: [date]", "partition_by: [dat]"),
    "of the store": ("store: s3", "store: s4"),
}


@pytest.mark.parametrize("mistake", ELSEWHERE)
def test_a_mistake_elsewhere_hides_no_column_that_a_statement_misspells(mistake: str) -> None:
    text = (SCENARIOS / "capacity.yaml").read_text()
    assert text.count(ELSEWHERE[mistake][0]) == 1
    text = text.replace(*ELSEWHERE[mistake]).replace("SET amount", "SET amuont")
    problems = problems_of(text.replace("WHERE date =", "WHERE dat ="))
    at = "writers.etl.statement: "
    assert any(f"{at}amuont: no such column (did you mean 'amount'?)" in each for each in problems)
    assert any(f"{at}dat: no such column (did you mean 'date'?)" in each for each in problems)
    assert not all(at in each for each in problems)


def test_a_misspelt_dialect_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(InvalidInput) as raised:
        scenario_of(document(dialect="databricks14.3"))
    said = "dialect: there is no dialect 'databricks14.3' (did you mean 'databricks-14.3'?)"
    assert said in str(raised.value)


def test_of_several_statements_each_is_told_though_one_has_wrong_parameters() -> None:
    first = {
        "statement": "DELETE FROM events WHERE dya = :date",
        "parameters": {"date": 3},
    }
    second = {"statement": "DELET FROM events"}
    job = {"statements": [first, second], "arrival": {"closed": {"think": "1 s"}}}
    made = document(writers={"job": job})
    with pytest.raises(InvalidInput) as raised:
        scenario_of(made)
    assert "statements.0.statement: dya: no such column" in str(raised.value)
    assert "statements.0.parameters.date: " in str(raised.value)
    assert "statements.1.statement: 'DELET': no such statement" in str(raised.value)


@pytest.mark.parametrize(
    ("place", "hint"),
    [
        ("wrong.yaml:4 store", "'s3'"),
        ("wrong.yaml:9 table.values.date.days", None),
        ("wrong.yaml:13 writers.loader.parameters.date", "'newest'"),
        ("wrong.yaml:14 writers.loader.arrival.open.rate", None),
        ("wrong.yaml:16 writers.loader.rerun.exponential.jitter", "'full'"),
        ("wrong.yaml:17 faults.0", "'lost-reply'"),
    ],
)
def test_values_that_do_not_exist_are_found_beside_the_others(place: str, hint: str | None) -> None:
    problems = [text for text in problems_of(WRONG) if text.startswith(f"{place}: ")]
    assert problems
    assert hint is None or f"did you mean {hint}" in problems[0]


def test_problems_are_told_down_the_file() -> None:
    lines = [int(problem.split(":")[1].split()[0]) for problem in problems_of(WRONG)]
    assert len(set(lines)) > 8
    assert lines == sorted(lines)


def _statement(sql: str, **parameters: Any) -> dict[str, Any]:
    return {"statement": sql, "parameters": parameters, "arrival": {"closed": {"think": "1 s"}}}


@pytest.mark.parametrize(
    ("writer", "expected"),
    [
        (_statement("DELETE FROM events WHERE dat = 1"), "did you mean 'date'"),
        (_statement("UPDATE events SET amonut = 1"), "did you mean 'amount'"),
        (_statement("DELETE FROM evnts"), "did you mean 'events'"),
        (_statement("DELETE FROM events WHERE date ="), "line 1, column"),
        (_statement("GRANT ALL TO me"), "GRANT"),
        (_statement("OPTIMIZE events WHERE amount > 1"), "'amount'"),
        (_statement("DELETE FROM events WHERE date = :day"), ":day"),
        (_statement("DELETE FROM events", day="counter"), "is not used"),
        (_statement("DELETE FROM events WHERE date = :d", d="newest"), "no values of 'd'"),
        (_statement("INSERT INTO events VALUES (1, 2)"), "ARITY_MISMATCH"),
        ({"arrival": {"closed": {}}}, "one of statement, statements and streaming"),
        ({**UPDATE, "arrival": {"schedule": {}}}, "either every (and offset) or at"),
        ({**UPDATE, "starts": "2 min", "stops": "1 min"}, "stops before it starts"),
    ],
)
def test_a_writer_that_cannot_work_is_refused_before_the_run(
    writer: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InvalidInput) as raised:
        scenario_of(document(writers={"one": writer}))
    assert expected in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"table.partition_by": ["amount"]}, "needs its values listed"),
        ({"table.schema": SERIAL, "table.partition_by": ["n"]}, "by an identity column"),
        ({"table.key": "country"}, "must be a BIGINT column"),
        ({"table.values.amount": {"days": 3}}, "days are for DATE and TIMESTAMP columns"),
        ({"table.properties": {"delta.isolationLevel": "x"}}, "is set by table.isolation"),
        ({"table.properties": {"delta.enableDeletionVector": True}}, "Delta has no such property"),
        ({"settings": {"spark.databricks.delta.nonsense": "1"}}, "nonsense"),
        ({"warm_up": "10 min"}, "not shorter than the duration"),
        ({"writers.loader.count": 5000}, "at most 4,096"),
        ({"dialect": "delta-oss-9.9"}, "no dialect"),
        ({"faults": [{"lost_reply": {"probability": 0.1}, "writers": ["loadr"]}]}, "'loader'"),
        ({"expect": [{"measure": "aborted", "writer": "x", "equals": 0}]}, "no writer 'x'"),
        ({"expect": [{"measure": "aborted"}]}, "at_least, at_most or equals"),
        ({"faults": [{"writer_crash": {"rate": "1 per h"}}]}, "'restart' is missing"),
        ({"faults": [{"use": "lost-reply", "between": ["2 min", "1 min"]}]}, "ends before"),
        ({"faults": [{"use": "lost-reply", "lost_reply": 5}]}, "needs keys with values"),
        ({"table.schema": "event_id BIGINT, date"}, "table.schema"),
    ],
)
def test_parts_that_do_not_fit_each_other_are_refused(
    changes: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InvalidInput) as raised:
        scenario_of(document(), changes)
    assert expected in str(raised.value)


def test_a_closed_loop_in_which_no_time_passes_is_refused() -> None:
    endless = {**UPDATE, "arrival": "closed", "compute": "0 s"}
    with pytest.raises(InvalidInput, match="no time would pass"):
        scenario_of(document(store="instant", writers={"one": endless}))


def test_a_cell_of_the_sweep_that_is_wrong_is_told_with_its_labels() -> None:
    axes = {"layout": {"bad": {"table.partition_by": ["nothing"]}, "good": {}}}
    with pytest.raises(InvalidInput) as raised:
        scenario_of(document(sweep={"axes": axes}))
    assert "layout = bad" in str(raised.value)
    assert "no column 'nothing'" in str(raised.value)


def test_a_key_given_twice_hides_no_other_problem() -> None:
    own = show_document({key: part for key, part in document().items() if key != "store"})
    line = own.count("\n") + 1
    with pytest.raises(InvalidInput) as raised:
        parse_scenario(own + "store:\n  profile: s3\nstore: s3-expres\n", "x.yaml")
    twice, misspelt = raised.value.problems
    assert str(twice) == f"x.yaml:{line + 2} store: is given twice: on line {line} as well"
    assert misspelt.place == f"x.yaml:{line + 2} store"
    assert misspelt.nearest == "s3-express"


def test_a_key_given_twice_is_told_where_nothing_else_is_wrong() -> None:
    text = show_document(document()) + "seed: 1\nseed: 2\n"
    with pytest.raises(InvalidInput) as raised:
        parse_scenario(text, "x.yaml")
    assert [problem.text for problem in raised.value.problems] == [
        f"is given twice: on line {text.count(chr(10)) - 1} as well"
    ]


def test_what_two_keys_of_one_name_hold_is_not_given_twice() -> None:
    text = YamlText("a:\n  b: 1\na:\n  b: 2\n", "x.yaml")
    assert [problem.place for problem in text.repeated_keys] == ["x.yaml:3 a"]
    assert text.last_given == {"a": {"b": 2}}
    with pytest.raises(InvalidInput, match="is given twice"):
        _ = text.content


def test_a_store_profile_tells_a_key_given_twice_beside_what_else_is_wrong() -> None:
    with pytest.raises(InvalidInput) as raised:
        check_profile("based_on: s3-standard\nbased_on: s3-standart\n")
    assert sorted(problem.text.split(":")[0] for problem in raised.value.problems) == [
        "is given twice",
        "no store profile 's3-standart'",
    ]


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "name: [1\n", "just words"])
def test_what_is_no_scenario_at_all_is_bad_input(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_scenario(text)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("put: {latency: 5 ms}\ndescription: mine\n", "is a store profile, not a scenario"),
        ("services: {db: {image: x}}\nname: mine\n", "is not a scenario"),
    ],
)
def test_a_file_of_another_kind_is_told_in_one_line(given: str, said: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse_scenario(given, "x.yaml")
    (problem,) = raised.value.problems
    assert str(problem).startswith(f"x.yaml: {said}")


@pytest.mark.parametrize("key", ["duration: 1 h", "writers: {}", "format_version: 999"])
def test_a_scenario_with_little_in_it_is_told_what_is_missing(key: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse_scenario(key, "x.yaml")
    assert not any("is not a scenario" in problem.text for problem in raised.value.problems)


def test_a_file_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_scenario(tmp_path / "nothing.yaml")


@pytest.mark.parametrize(
    "path",
    sorted(path for path in SCENARIOS.glob("*.yaml") if path.name not in NO_SCENARIOS),
    ids=lambda path: path.stem,
)
def test_every_scenario_that_comes_along_is_right(path: Path) -> None:
    assert all(table.name for table in load_scenario(path).all_tables)


def test_a_scenarios_document_gives_an_equal_scenario_again() -> None:
    original = load_scenario(SCENARIOS / "events.yaml")
    again = scenario_of(original.document)
    assert again.model_dump() == original.model_dump()
    assert again.hash == original.hash


def test_the_hash_is_of_the_meaning_not_of_the_text() -> None:
    original = scenario_of(document())
    assert scenario_of(document(duration="600 s", description="other words")).hash == original.hash
    assert scenario_of(document(duration="601 s")).hash != original.hash


def test_changes_that_cannot_be_hide_no_other_problem() -> None:
    changes = {"writers.loder.count": 3, "duration.of": 1, "writers.loader.count": -1}
    with pytest.raises(InvalidInput) as refused:
        scenario_of(document(), changes)
    problems = [str(problem) for problem in refused.value.problems]
    assert len(problems) == 3
    assert "there is no writer 'loder' (did you mean 'loader'?)" in problems[0]
    assert "'duration' holds no keys" in problems[1]
    assert "must be at least 1, not -1" in problems[2]


def test_dotted_changes_reach_a_store_that_is_only_named() -> None:
    changed = scenario_of(document(store="s3"), {"store.profile": "gcs"})
    assert changed.store.profile == "gcs"


def test_overriding_a_part_of_a_profile_keeps_the_rest() -> None:
    plain = scenario_of(document())
    changed = scenario_of(document(), {"store.get": {"latency": "3 ms"}})
    latency = changed.store.get.latency
    assert latency is not None
    assert latency.mean_ms() == 3
    assert changed.store.list == plain.store.list


def test_property_values_are_text_however_yaml_reads_them() -> None:
    given = {"delta.enableDeletionVectors": True, "delta.checkpointInterval": 10}
    table = scenario_of(document(table={**TABLE, "properties": given})).table
    assert table is not None
    assert table.properties == {
        "delta.enableDeletionVectors": "true",
        "delta.checkpointInterval": "10",
    }
