"""Parsing SQL statements into typed ones.

sqlglot reads the SQL that databases share. Delta's own statements, which it keeps as plain text,
are read by the grammar modules; clauses that it does not know are cut off before it sees the rest.
"""

from __future__ import annotations

import re
from functools import lru_cache

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature, nearest
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.expressions.syntax_trees import SYNTAX_ERROR, parse_node
from whitecap.engine.sql.parsing import alter_grammar, create_grammar, maintenance_grammar
from whitecap.engine.sql.parsing.clauses import without_comments
from whitecap.engine.sql.parsing.known_parts import check_parts
from whitecap.engine.sql.parsing.statement_reading import statement_of
from whitecap.engine.sql.parsing.statements import Statement
from whitecap.engine.sql.parsing.write_clauses import WriteClauses

_OWN_GRAMMARS = (alter_grammar.GRAMMAR, create_grammar.GRAMMAR, maintenance_grammar.GRAMMAR)


@lru_cache(maxsize=4096)
def parse_statement(sql: str) -> Statement:
    """As `read_statement`; the answer is remembered, so that its plans are too."""
    return read_statement(sql)


def read_statement(sql: str) -> Statement:
    """Parse one statement.

    Raises `InvalidInput` with the place of what is wrong, `UnsupportedFeature` for SQL that is
    right but not modelled.
    """
    text = without_comments(sql).strip().rstrip(";").rstrip()
    template = Template.of(text)
    for grammar in _OWN_GRAMMARS:
        own_statement = grammar.read(text, template)
        if own_statement is not None:
            return own_statement
    _check_own(text)
    clauses = WriteClauses.cut(text)
    tree = parse_node(clauses.remaining)
    check_parts(tree)
    statement = statement_of(tree, template)
    if statement is None:
        raise UnsupportedFeature(f"statement: {text}")
    return clauses.put_back(statement)


_FORMS = {
    "OPTIMIZE": "OPTIMIZE table [FULL] [WHERE condition] [ZORDER BY (columns)]",
    "VACUUM": "VACUUM table [FULL | LITE] [RETAIN n HOURS] [DRY RUN]",
    "RESTORE": "RESTORE TABLE table TO VERSION AS OF n | TIMESTAMP AS OF 'time'",
    "REORG": "REORG TABLE table [WHERE condition] APPLY (PURGE)",
    "ALTER": "ALTER TABLE table SET TBLPROPERTIES | UNSET TBLPROPERTIES | ADD COLUMNS |"
    " DROP COLUMNS | RENAME COLUMN | ALTER COLUMN | ADD CONSTRAINT | DROP CONSTRAINT | CLUSTER BY |"
    " DROP FEATURE ...",
    "CREATE": "CREATE [OR REPLACE] TABLE [IF NOT EXISTS] table [(columns)] [USING delta]"
    " [PARTITIONED BY (columns)] [CLUSTER BY (columns)] [TBLPROPERTIES (...)] [AS query]",
    "REPLACE": "REPLACE TABLE table [(columns)] [USING delta] ... [AS query]",
    "COMMENT": "COMMENT ON TABLE table IS 'text'",
}
_STATEMENTS = (*_FORMS, "INSERT", "DELETE", "UPDATE", "MERGE", "TRUNCATE")
_OTHER_SQL = (
    *("SELECT", "ANALYZE", "DESCRIBE", "DESC", "SHOW", "DROP", "REFRESH", "COPY", "CONVERT"),
    *("GENERATE", "EXPLAIN", "CACHE", "USE", "SET", "RESET", "CALL", "FROM"),
)


def _malformed(pattern: str, text: str, refused_as: tuple[str, str]) -> _Malformed:
    compiled = re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE | re.DOTALL)
    return compiled, Problem(pattern.split(maxsplit=1)[0], text, refused_as=refused_as)


_Malformed = tuple[re.Pattern[str], Problem]
_IF_NOT_EXISTS = "AnalysisException", "UNSUPPORTED_FEATURE.INSERT_PARTITION_SPEC_IF_NOT_EXISTS"
_MALFORMED = (
    _malformed(r"INSERT (?!(INTO|OVERWRITE|WITH)\b)", "INTO is missing", SYNTAX_ERROR),
    _malformed(r"INSERT OVERWRITE INTO ", "OVERWRITE stands in place of INTO", SYNTAX_ERROR),
    _malformed(
        r"INSERT OVERWRITE .* PARTITION\s*\([^)]*\) IF NOT EXISTS\b",
        "a Delta table is overwritten whether or not the partition exists",
        _IF_NOT_EXISTS,
    ),
    _malformed(r"MERGE (?!(INTO|WITH)\b)", "INTO is missing", SYNTAX_ERROR),
    _malformed(
        r"MERGE (?!.*\bWHEN\b)", "WHEN is missing", ("ParseException", "MERGE_WITHOUT_WHEN")
    ),
    _malformed(
        r"MERGE .*\bWHEN MATCHED BY\b", "BY TARGET and BY SOURCE go with NOT MATCHED", SYNTAX_ERROR
    ),
    _malformed(r"TRUNCATE (?!TABLE\b)", "TABLE is missing", SYNTAX_ERROR),
)
"""How statements begin that sqlglot takes, or explains in its own way, and Spark refuses."""


def _check_own(text: str) -> None:
    """Raises `InvalidInput` for text that begins as one of Delta's statements, or as none.

    Raises `UnsupportedFeature` for statements that change no table, and for FROM ... INSERT.
    """
    words = text.upper().split(None, 2)
    word = words[0] if words else ""
    for pattern, problem in _MALFORMED:
        if pattern.match(text):
            raise InvalidInput([problem])
    if word in _FORMS:
        raise InvalidInput([Problem(repr(text), f"cannot be read as {_FORMS[word]}")])
    if word in _OTHER_SQL:
        raise UnsupportedFeature(f"statement: {text}")
    if word and word not in (*_STATEMENTS, "WITH"):
        raise InvalidInput([Problem(repr(word), "no such statement", nearest(word, _STATEMENTS))])
