"""Names what a statement or a transaction died of, in Delta's words.

The same conflict reaches Python in three dresses: converted by the `delta` package (then without
the JVM's object), captured by PySpark (the original in `_origin`), or raw from Py4J.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct, field

_ERROR_CLASS = re.compile(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]")
_CONFLICTS = "java.util.ConcurrentModificationException"
DEEPEST_CAUSE = 20
"""Java allows a cycle of causes; nobody nests this deep on purpose."""


class Failure(Struct, frozen=True):
    """An exception by its simple Java class name, its error class and its message."""

    exception: str
    error_class: str | None
    message: str
    message_parameters: dict[str, str] = field(default_factory=dict)


def failure_of(error: BaseException) -> Failure:
    """What `error` is, looking through Spark's wrapping for the conflict inside."""
    java = _java_original(error)
    if java is None:
        message = str(error)
        return Failure(type(error).__name__, _error_class(message), message)
    return _of_java(_conflict_inside(java))


def _java_original(error: BaseException) -> Any:
    """The JVM's exception; the first one, where PySpark failed to find words for it."""
    from py4j.protocol import Py4JJavaError

    if isinstance(error, Py4JJavaError) and isinstance(error.__context__, Py4JJavaError):
        error = error.__context__
    for attribute in ("java_exception", "_origin"):
        original = getattr(error, attribute, None)
        if original is not None:
            return original
    return None


def _conflict_inside(java: Any) -> Any:
    cause = java
    for _ in range(DEEPEST_CAUSE):
        if _is_conflict(cause.getClass()):
            return cause
        cause = cause.getCause()
        if cause is None:
            break
    return java


def _is_conflict(java_class: Any) -> bool:
    while java_class is not None:
        if java_class.getName() == _CONFLICTS:
            return True
        java_class = java_class.getSuperclass()
    return False


def _of_java(java: Any) -> Failure:
    message = java.getMessage() or ""
    return Failure(
        exception=java.getClass().getSimpleName(),
        error_class=_error_class(message) or _asked(java, "getCondition"),
        message=message,
        message_parameters=_parameters(java),
    )


def _error_class(message: str) -> str | None:
    match = _ERROR_CLASS.match(message)
    return match.group(1) if match else None


def _asked(java: Any, getter: str) -> Any:
    """What a getter answers; `None` also where the exception has no such getter."""
    from py4j.protocol import Py4JError

    try:
        return getattr(java, getter)()
    except Py4JError:
        return None


def _parameters(java: Any) -> dict[str, str]:
    parameters = _asked(java, "getMessageParameters")
    return {str(key): str(value) for key, value in dict(parameters or {}).items()}
