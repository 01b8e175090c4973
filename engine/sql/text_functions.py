"""Functions of texts. Source: Spark's stringExpressions.scala, regexpExpressions.scala."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from whitecap.engine.sql.function_shapes import Build, cast, strict
from whitecap.engine.sql.terms import Term, each
from whitecap.engine.sql.types import Session


def _left(text: str, count: int) -> str:
    return text[: max(count, 0)]


def _right(text: str, count: int) -> str:
    return text[-count:] if count > 0 else ""


def _locate(part: str, text: str, start: int = 1) -> int:
    """The place of the first occurrence, from 1; 0 without one."""
    return text.find(part, start - 1) + 1 if start > 0 else 0


def _replaced(text: str, part: str, other: str = "") -> str:
    return text.replace(part, other) if part else text


def _translated(text: str, letters: str, others: str) -> str:
    table: dict[int, str] = {}
    for at, letter in enumerate(letters):
        table.setdefault(ord(letter), others[at : at + 1])
    return text.translate(table)


def _padding(length: int, text: str, pad: str) -> str:
    missing = length - len(text)
    return (pad * missing)[:missing] if pad and missing > 0 else ""


def _left_padded(text: str, length: int, pad: str = " ") -> str:
    return (_padding(length, text, pad) + text)[: max(length, 0)] if pad else _left(text, length)


def _right_padded(text: str, length: int, pad: str = " ") -> str:
    return (text + _padding(length, text, pad))[: max(length, 0)]


def _capitalized(text: str) -> str:
    return " ".join(word[:1].upper() + word[1:].lower() for word in text.split(" "))


def _part(text: str, separator: str, number: int) -> str:
    parts = text.split(separator) if separator else [text]
    at = number - 1 if number > 0 else number
    return parts[at] if -len(parts) <= at < len(parts) else ""


def _digest(name: str) -> Callable[[str], str]:
    return lambda text: hashlib.new(name, text.encode()).hexdigest()


def _sha2(text: str, bits: int) -> str | None:
    name = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}.get(bits)
    return None if name is None else hashlib.new(name, text.encode()).hexdigest()


def _letter(code: int) -> str:
    return "" if code < 0 else chr(code % 256)


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def _regexp_replaced(text: str, pattern: str, other: str) -> str:
    template = re.sub(r"\$(\d+)", r"\\g<\1>", other.replace("\\", "\\\\"))
    return _pattern(pattern).sub(template, text)


def _regexp_part(text: str, pattern: str, group: int = 1) -> str:
    match = _pattern(pattern).search(text)
    return (match.group(group) or "") if match else ""


def _joined(terms: Sequence[Term], session: Session) -> Term:
    """concat_ws: NULLs are passed over, except for the separator."""

    def join(separator: Any, *values: Any) -> Any:
        if separator is None:
            return None
        return separator.join(value for value in values if value is not None)

    return each(join, [cast(term, "string", session) for term in terms], "string")


def stripped(side: str) -> Build:
    """trim, ltrim and rtrim, of the letters given, else of blanks."""
    strip = {"BOTH": str.strip, "LEADING": str.lstrip, "TRAILING": str.rstrip}[side]
    return strict(
        lambda text, letters=" ": strip(text, letters), ("string", "string"), "string", optional=1
    )


_TEXT = ("string",)
TEXT_FUNCTIONS: dict[str, Build] = {
    "left": strict(_left, ("string", "int"), "string"),
    "right": strict(_right, ("string", "int"), "string"),
    "instr": strict(lambda text, part: _locate(part, text), ("string", "string"), "int"),
    "locate": strict(_locate, ("string", "string", "int"), "int", optional=1),
    "replace": strict(_replaced, ("string", "string", "string"), "string", optional=1),
    "translate": strict(_translated, ("string", "string", "string"), "string"),
    "lpad": strict(_left_padded, ("string", "int", "string"), "string", optional=1),
    "rpad": strict(_right_padded, ("string", "int", "string"), "string", optional=1),
    "repeat": strict(lambda text, count: text * max(count, 0), ("string", "int"), "string"),
    "initcap": strict(_capitalized, _TEXT, "string"),
    "reverse": strict(lambda text: text[::-1], _TEXT, "string"),
    "concat_ws": _joined,
    "ascii": strict(lambda text: ord(text[0]) if text else 0, _TEXT, "int"),
    "chr": strict(_letter, ("bigint",), "string"),
    "char": strict(_letter, ("bigint",), "string"),
    "md5": strict(_digest("md5"), _TEXT, "string"),
    "sha": strict(_digest("sha1"), _TEXT, "string"),
    "sha1": strict(_digest("sha1"), _TEXT, "string"),
    "sha2": strict(_sha2, ("string", "int"), "string"),
    "split_part": strict(_part, ("string", "string", "int"), "string"),
    "regexp_replace": strict(_regexp_replaced, ("string", "string", "string"), "string"),
    "regexp_extract": strict(_regexp_part, ("string", "string", "int"), "string", optional=1),
    "ucase": strict(str.upper, _TEXT, "string"),
    "lcase": strict(str.lower, _TEXT, "string"),
    "btrim": stripped("BOTH"),
}
"""By Spark's names."""
