"""Scala values and Delta's internal objects through Py4J, each pitfall solved once.

Default arguments do not exist for Py4J, Scala sequences must be immutable ones, and Scala
objects are reached through their `MODULE$` field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whitecap.sim.replay.real.environment import EnvironmentMissing, MissingPrerequisite

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ENDED = "It may have had too little memory: Linux says so in `dmesg`, Java in hs_err_pid*.log."

JavaObject = Any
"""An object that lives in the JVM; Py4J gives it no type."""

DELTA = "org.apache.spark.sql.delta"


def in_session(spark: SparkSession, target: Callable[..., None]) -> Callable[..., None]:
    """`target` for a thread of its own, which has the session's properties and leaves no thread in
    the JVM. Spark 3.5 takes no session, and the newer ones warn where they are given none."""
    from pyspark import __version__, inheritable_thread_target

    takes_no_session = __version__.startswith("3.")
    wrapped: Callable[..., None] = (
        inheritable_thread_target(target)
        if takes_no_session
        else inheritable_thread_target(spark)(target)
    )
    return wrapped


class Jvm:
    """The JVM behind a Spark session."""

    def __init__(self, spark: SparkSession) -> None:
        self.session: JavaObject = spark._jsparkSession
        root: JavaObject = spark._jvm
        self.root = root
        self.delta: JavaObject = root.org.apache.spark.sql.delta

    def keep_no_checksums(self) -> None:
        """From now on, files of this machine's disk have no checksum of Hadoop's beside them.

        A file and its checksum are renamed one after the other. Rivals for a version of the log,
        each with a log of its own in this JVM, could leave one's file with the other's checksum.
        """
        hadoop = self.root.org.apache.hadoop.fs
        options = self.session.sparkContext().hadoopConfiguration()
        options.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem")
        options.set("fs.AbstractFileSystem.file.impl", "org.apache.hadoop.fs.local.RawLocalFs")
        hadoop.FileSystem.closeAll()

    def seq(self, items: Iterable[JavaObject]) -> JavaObject:
        """An immutable Scala sequence."""
        java_list = self.root.java.util.ArrayList()
        for item in items:
            java_list.add(item)
        return self._converters.asScalaBufferConverter(java_list).asScala().toList()

    def mapping(self, entries: Mapping[str, str]) -> JavaObject:
        """An immutable Scala map of strings."""
        scala_map = self.singleton("scala.collection.immutable.Map$").empty()
        for key, value in entries.items():
            scala_map = scala_map.updated(key, value)
        return scala_map

    def python_list(self, scala_collection: JavaObject) -> list[JavaObject]:
        """The items of a Scala collection."""
        return list(self._converters.seqAsJavaListConverter(scala_collection.toList()).asJava())

    @property
    def _converters(self) -> JavaObject:
        """Those that Scala 2.12 has too."""
        return self.root.scala.collection.JavaConverters

    @property
    def none(self) -> JavaObject:
        """Scala's `None`."""
        return self.root.scala.Option.empty()

    def some(self, value: Any) -> JavaObject:
        """Scala's `Some(value)`."""
        return self.root.scala.Some(value)

    def singleton(self, class_name: str) -> JavaObject:
        """The instance of a Scala object, by the name of its class (with the `$` at the end)."""
        loader = self.root.Thread.currentThread().getContextClassLoader()
        scala_class = self.root.java.lang.Class.forName(class_name, True, loader)
        return scala_class.getField("MODULE$").get(None)

    def compiled(self, class_name: str, java: str) -> JavaObject:
        """A class by its Java source, made by the compiler that Spark brings along (Janino)."""
        compiler = self.root.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(self.root.Thread.currentThread().getContextClassLoader())
        compiler.cook(java)
        return compiler.getClassLoader().loadClass(class_name)

    def delta_log(self, table: Path) -> JavaObject:
        """Delta's own view of a table's log, fresh: it keeps one per path."""
        log = self.delta.DeltaLog.forTable(self.session, str(table))
        log.update(False, self.none, self.none)
        return log

    def forget_tables(self) -> None:
        """Empty Delta's cache of logs, so that a folder's path may be used again.

        Raises EnvironmentMissing: the JVM has ended.
        """
        from py4j.protocol import Py4JNetworkError

        try:
            self.delta.DeltaLog.clearCache()
        except (OSError, Py4JNetworkError) as error:
            raise EnvironmentMissing([MissingPrerequisite("The JVM ended", _ENDED)]) from error

    def silence_console(self) -> None:
        """Print nothing more in this thread: Delta's commands speak to Scala's console.

        Scala keeps the console's stream per thread, and it is our standard output.
        """
        nowhere = self.root.java.io.PrintStream(self.root.java.io.OutputStream.nullOutputStream())
        self.singleton("scala.Console$").setOutDirect(nowhere)

    def action(self, log_line: str) -> JavaObject:
        """One action from one line of a commit file."""
        return self.delta.actions.Action.fromJson(log_line)

    def expression(self, sql: str) -> JavaObject:
        """A parsed, unresolved expression."""
        return self.session.sessionState().sqlParser().parseExpression(sql)
