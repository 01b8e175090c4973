"""What is not modelled is refused by name, with what says the same where something does."""

from __future__ import annotations

import pytest

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.refusals import not_modelled
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.syntax_trees import parse_node
from whitecap.engine.sql.functions.spark_names import SPARK_FUNCTIONS
from whitecap.engine.sql.functions.table import FUNCTIONS
from whitecap.engine.sql.predicates.compiler import compile_term

REFUSED = [
    ("5 & 3", "5 & 3"),
    ("5 | 3", "5 | 3"),
    ("5 ^ 3", "5 ^ 3"),
    ("'ABC' ILIKE 'a%'", "'ABC' ILIKE 'a%' (lower() with LIKE is)"),
    ("'a' LIKE 'a!%' ESCAPE '!'", "(a backslash in the pattern is)"),
    ("like('a', 'a!%', '!')", "(a backslash in the pattern is)"),
    ("r'a\\b'", "(a text whose backslashes are doubled is)"),
    ("split('a', '')[0]", "SPLIT"),
    ("any_value(1)", "any_value() is not modelled: min() is"),
    ("first(1, true)", "first() is not modelled"),
    ("btrim('x')", "btrim() is not modelled: trim() is"),
    ("ceiling(1.5)", "ceiling() is not modelled: ceil() is"),
    ("char_length('a')", "char_length() is not modelled: length() is"),
    ("chr(65)", "chr() is not modelled"),
    ("curdate()", "curdate() is not modelled: current_date() is"),
    ("date_from_unix_date(1)", "is not modelled: date_add() of 1970-01-01 is"),
    ("datepart('month', DATE'2026-01-01')", "is not modelled: date_part() is"),
    ("decode(1, 1, 'a')", "decode() is not modelled: CASE is"),
    ("exp(1)", "exp() is not modelled"),
    ("hash(1)", "hash() is not modelled"),
    ("ilike('A', 'a')", "ilike() is not modelled: lower() with LIKE is"),
    ("lcase('A')", "lcase() is not modelled: lower() is"),
    ("len('a')", "len() is not modelled: length() is"),
    ("ln(1)", "ln() is not modelled"),
    ("localtimestamp()", "localtimestamp() is not modelled"),
    ("log(2, 8)", "log() is not modelled"),
    ("log10(10)", "log10() is not modelled"),
    ("log2(8)", "log2() is not modelled"),
    ("lpad(X'01', 3)", "lpad() of bytes"),
    ("nanvl(1D, 2)", "nanvl() is not modelled: CASE with isnan() is"),
    ("nullifzero(0)", "nullifzero() is not modelled: nullif() is"),
    ("nvl2(NULL, 1, 2)", "nvl2() is not modelled: CASE is"),
    ("positive(1)", "positive() is not modelled"),
    ("pow(2, 3)", "pow() is not modelled: power() is"),
    ("random()", "random() is not modelled: rand() is"),
    ("regexp('a', 'a')", "regexp() is not modelled: RLIKE is"),
    ("regexp_extract('a1', '([a-z])', 1)", "regexp_extract() is not modelled"),
    ("regexp_like('a', 'a')", "regexp_like() is not modelled: RLIKE is"),
    ("regexp_replace('a1', '[0-9]', '#')", "regexp_replace() is not modelled"),
    ("rpad('a', 3)", "rpad() is not modelled: concat() with repeat() is"),
    ("sha1('a')", "sha1() is not modelled"),
    ("signum(1)", "signum() is not modelled: sign() is"),
    ("split_part('a.b', '.', 1)", "is not modelled: substring() with locate() is"),
    ("to_unix_timestamp('2026-01-01')", "is not modelled: unix_timestamp() is"),
    ("try_divide(1, 0)", "is not modelled: a quotient with nullif() is"),
    ("ucase('a')", "ucase() is not modelled: upper() is"),
    ("unix_micros(now())", "unix_micros() is not modelled"),
    ("unix_millis(now())", "unix_millis() is not modelled"),
    ("unix_seconds(now())", "unix_seconds() is not modelled"),
    ("zeroifnull(NULL)", "zeroifnull() is not modelled: coalesce() is"),
    ("date_format(DATE'2026-01-01', 'EEE')", "EEE in the pattern 'EEE' is not modelled"),
    ("date_format(DATE'2026-01-01', 'd MMM')", "MMM in the pattern 'd MMM' is not modelled"),
    ("date_format(DATE'2026-01-01', 'yyyy-QQ')", "QQ in the pattern 'yyyy-QQ' is not modelled"),
    ("to_timestamp('1 pm', 'h a')", "h in the pattern 'h a' is not modelled"),
]


@pytest.mark.parametrize(("sql", "reason"), REFUSED)
def test_an_expression_that_is_not_modelled_is_refused_by_name(sql: str, reason: str) -> None:
    node = parse_node(f"SELECT {sql}")
    with pytest.raises(UnsupportedFeature) as refusal:
        compile_term(node.expressions[0].unalias(), Scope(())).bind({}).evaluate(())
    assert reason in str(refusal.value)


def test_what_says_the_same_is_named_for_functions_of_sparks_that_are_not_modelled() -> None:
    assert not_modelled.FUNCTIONS.keys() <= SPARK_FUNCTIONS - FUNCTIONS.keys()
