"""The jars by which Spark reaches S3 in tests: 13 MB instead of the 686 MB that Hadoop names.

hadoop-aws depends on the whole AWS SDK in one bundle. The parts of it that it uses are enough here;
users take the bundle, as Hadoop does: `spark.jars.packages=org.apache.hadoop:hadoop-aws:3.5.0`.
"""

from __future__ import annotations

from whitecap.sim.replay.real.jars import Artifact, JarSet

HADOOP = "3.5.0"
"""That of PySpark 4.2.0."""
SDK = "2.35.4"
"""That which hadoop-aws 3.5.0 names."""

_SDK = "software.amazon.awssdk"

S3 = JarSet(
    (
        Artifact("org.apache.hadoop", "hadoop-aws", HADOOP),
        Artifact(_SDK, "s3", SDK),
        Artifact(_SDK, "s3-transfer-manager", SDK),
        Artifact(_SDK, "sts", SDK),
    ),
    left_out=(
        f"{_SDK}:bundle",
        # Spark has these; with the SDK's newer Netty before its own it does not even start.
        "io.netty",
        "commons-codec",
        "commons-logging",
        "org.apache.httpcomponents",
        "org.slf4j",
    ),
)
