"""Schemas: DDL and Delta's schema strings, there and back."""

import pytest

from whitecap.engine.errors import InvalidInput, InvalidLog
from whitecap.engine.log.schema import Field, Schema, ddl, parse_ddl, parse_schema, schema_string


def test_ddl_becomes_columns_with_simple_types() -> None:
    schema = parse_ddl("x INT, v BIGINT NOT NULL, d DECIMAL(10, 2) COMMENT 'a, b', `my col` STRING")
    assert schema.names == ("x", "v", "d", "my col")
    assert schema.types == ("int", "bigint", "decimal(10,2)", "string")
    assert [column.nullable for column in schema] == [True, False, True, True]
    assert schema.fields[2].metadata == {"comment": "a, b"}


def test_a_schema_string_uses_the_names_of_the_protocol() -> None:
    text = schema_string(parse_ddl("x INT, v BIGINT"))
    assert '"type":"integer"' in text
    assert '"type":"long"' in text
    assert parse_schema(text) == parse_ddl("x INT, v BIGINT")


@pytest.mark.parametrize(
    "text",
    [
        "x INT",
        "a ARRAY<STRUCT<b: INT, c: MAP<STRING, DECIMAL(5,1)>>>",
        "t TIMESTAMP, n TIMESTAMP_NTZ, b BINARY, f FLOAT, s SMALLINT, y TINYINT, o BOOLEAN",
        "`a``b` STRING NOT NULL COMMENT 'it\\'s'",
    ],
)
def test_ddl_survives_being_written_and_read(text: str) -> None:
    schema = parse_ddl(text)
    assert parse_schema(schema_string(schema)) == schema
    assert parse_ddl(ddl(schema)) == schema


def schema_text(kind: str) -> str:
    column = f'{{"name":"a","type":{kind},"nullable":true,"metadata":{{}}}}'
    return f'{{"type":"struct","fields":[{column}]}}'


def test_nested_types_keep_what_a_simple_string_cannot_say() -> None:
    schema = parse_schema(
        schema_text('{"type":"array","elementType":"integer","containsNull":false}')
    )
    assert schema.types == ("array<int>",)
    assert '"containsNull":false' in schema_string(schema)


def test_columns_are_found_in_any_case() -> None:
    schema = Schema((Field("Date", "date"),))
    assert schema.get("dATE") == Field("Date", "date")
    assert schema.index("date") == 0
    assert schema.get("day") is None


def test_every_problem_of_a_definition_is_reported_with_the_nearest_type() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_ddl("x BIGNIT, y INT SOMETIMES, Z INT, z INT")
    assert len(caught.value.problems) == 3
    assert caught.value.problems[0].nearest == "bigint"


@pytest.mark.parametrize(
    "text", ["", "[]", '{"type":"struct"}', '"long"', schema_text('"bigint"'), schema_text("{}")]
)
def test_text_that_is_no_schema_is_an_invalid_log(text: str) -> None:
    with pytest.raises(InvalidLog):
        parse_schema(text)


@pytest.mark.parametrize(
    ("definition", "problem"),
    [
        ("IDENTITY (START WITH)", "START WITH"),
        ("IDENTITY (START WITH x)", "START WITH x"),
        ("IDENTITY (INCREMENT BY -)", "INCREMENT BY -"),
        ("IDENTITY (CYCLE)", "CYCLE"),
        ("IDENTITY (INCREMENT BY 0)", "step"),
    ],
)
def test_options_of_an_identity_that_are_none_are_refused(definition: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        parse_ddl(f"id BIGINT GENERATED ALWAYS AS {definition}")


@pytest.mark.parametrize(
    "type_name",
    ["DECIMAL()", "DECIMAL(x,2)", "DECIMAL(39,0)", "DECIMAL(2,5)", "VARCHAR(x)", "CHAR()"],
)
def test_a_type_of_no_certain_length_is_refused(type_name: str) -> None:
    with pytest.raises(InvalidInput):
        parse_ddl(f"x {type_name}")
