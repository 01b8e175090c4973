"""Functions of texts, and of bytes where Spark has them too. Source: stringExpressions.scala."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.sql.expressions.terms import Term, convert, each
from whitecap.engine.sql.functions.guard import (
    BINARY,
    INT,
    TEXT,
    TEXT_OR_BINARY,
    Function,
    Gives,
    Takes,
    arguments,
    strict,
    value_of,
)
from whitecap.engine.values.types import Session

_LONGEST = 1 << 20  # letters of a text that is made; a longer one would only cost memory
_ONE_TEXT, _TWO_TEXTS, _THREE_TEXTS = (arguments(*[TEXT] * count) for count in (1, 2, 3))


def _first_type(first: str, *_others: str) -> str:
    return first


def _text(function: Callable[..., Any], takes: Takes, gives: Gives = "string") -> Function:
    """A function of texts that is NULL if an argument is."""
    return strict(function, takes, gives)


def _left(text: str | bytes, count: int) -> str | bytes:
    return text[: max(count, 0)]


def _right(text: str, count: int) -> str:
    return text[-count:] if count > 0 else ""


def _cut(text: str | bytes, start: int, length: int | None = None) -> str | bytes:
    """From a place, counted from 1, from the end if negative. Source: UTF8String.substringSQL."""
    begin = start - 1 if start > 0 else len(text) + start if start else 0
    end = len(text) if length is None else begin + length
    return text[max(begin, 0) : max(end, 0)]


def _locate(part: str, text: str, start: int = 1) -> int:
    """The place of the first occurrence, from 1; 0 without one."""
    return text.find(part, start - 1) + 1 if start > 0 else 0


def _located(terms: Sequence[Term], _session: Session) -> Term:
    """Without a place to start from it finds nothing, rather than NULL."""

    def run(part: Any, text: Any, start: Any = 1) -> Any:
        if start is None:
            return 0
        return None if part is None or text is None else _locate(part, text, start)

    return each(run, terms, "int")


def _replaced(text: str, part: str, other: str = "") -> str:
    return text.replace(part, other) if part else text


def _translated(text: str, letters: str, others: str) -> str:
    table: dict[int, str] = {}
    for at, letter in enumerate(letters):
        table.setdefault(ord(letter), others[at : at + 1])
    return text.translate(table)


def _repeated(text: str, count: int) -> str:
    _check_length(len(text) * count)
    return text * max(count, 0)


def _check_length(length: int) -> None:
    if length > _LONGEST:
        raise UnsupportedFeature(f"a text of {length} letters: they may have {_LONGEST} here")


def _padded(text: str, length: int, filling: str = " ") -> str:
    """lpad; a text that is too long is cut."""
    _check_length(length)
    missing = max(length - len(text), 0)
    return ((filling * missing)[:missing] + text)[: max(length, 0)]


def _lpad_takes(name: str, terms: Sequence[Term], session: Session) -> Sequence[Term]:
    if any(term.type == "binary" for term in terms):
        raise UnsupportedFeature(f"{name}() of bytes")
    return arguments(TEXT, INT, TEXT, optional=1)(name, terms, session)


def _capitalized(text: str) -> str:
    return " ".join(word[:1].upper() + word[1:].lower() for word in text.split(" "))


def _md5(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()


def _sha2(data: bytes, bits: int) -> str | None:
    name = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}.get(bits)
    return None if name is None else hashlib.new(name, data).hexdigest()


def _stripped(name: str) -> Function:
    """trim and its relatives: of blanks, or of the letters that stand before the text."""
    strip = {"both": str.strip, "leading": str.lstrip, "trailing": str.rstrip}[name]
    return _text(
        lambda first, text=None: strip(first, " ") if text is None else strip(text, first),
        arguments(TEXT, TEXT, optional=1),
    )


def _joined(terms: Sequence[Term], _session: Session) -> Term:
    """concat_ws: NULLs are passed over, except for the separator."""

    def join(separator: Any, *values: Any) -> Any:
        if separator is None:
            return None
        return separator.join(value for value in values if value is not None)

    return each(join, terms, "string")


def _concat_takes(_name: str, terms: Sequence[Term], session: Session) -> list[Term]:
    """Bytes stay bytes if all are."""
    kind = "binary" if terms and all(term.type == "binary" for term in terms) else "string"
    return [convert(term, kind, session) for term in terms]


def _concat(terms: Sequence[Term], _session: Session) -> Term:
    type_name = terms[0].type if terms else "string"
    empty = b"" if type_name == "binary" else ""
    return value_of(lambda *values: empty.join(values), terms, type_name)


TEXTS: dict[str, Function] = {
    "upper": _text(str.upper, _ONE_TEXT),
    "lower": _text(str.lower, _ONE_TEXT),
    "trim": _stripped("both"),
    "ltrim": _stripped("leading"),
    "rtrim": _stripped("trailing"),
    "length": _text(len, arguments(TEXT_OR_BINARY), "int"),
    "substring": _text(_cut, arguments(TEXT_OR_BINARY, INT, INT, optional=1), _first_type),
    "left": _text(_left, arguments(TEXT_OR_BINARY, INT), _first_type),
    "right": _text(_right, arguments(TEXT, INT)),
    "concat": Function(_concat_takes, _concat),
    "concat_ws": Function(arguments(TEXT, TEXT, optional=1, repeats=True), _joined),
    "startswith": _text(str.startswith, _TWO_TEXTS, "boolean"),
    "endswith": _text(str.endswith, _TWO_TEXTS, "boolean"),
    "contains": _text(lambda text, part: part in text, _TWO_TEXTS, "boolean"),
    "instr": _text(lambda text, part: _locate(part, text), _TWO_TEXTS, "int"),
    "locate": Function(arguments(TEXT, TEXT, INT, optional=1), _located),
    "replace": _text(_replaced, arguments(TEXT, TEXT, TEXT, optional=1)),
    "translate": _text(_translated, _THREE_TEXTS),
    "lpad": _text(_padded, _lpad_takes),
    "repeat": _text(_repeated, arguments(TEXT, INT)),
    "initcap": _text(_capitalized, _ONE_TEXT),
    "reverse": _text(lambda text: text[::-1], arguments(TEXT_OR_BINARY), _first_type),
    "ascii": _text(lambda text: ord(text[0]) if text else 0, _ONE_TEXT, "int"),
    "md5": _text(_md5, arguments(BINARY)),
    "sha2": _text(_sha2, arguments(BINARY, INT)),
}
"""By Spark's names."""
