#!/usr/bin/env python3
"""A Spark driver that keeps what it should let go, and a healthy one; a series of heap dumps of its JVM while it works.

    spark_driver.py leak|broadcast|healthy FOLDER

The driver runs queries in rounds. The leaking one puts the query execution of each, with all its plans, into one
java.util.ArrayList: nobody reads that list again. It is made through the gateway, as a script would, so that no class
of Java code has a field for it: py4j's table of what Python refers to is its only owner. The healthy one runs the same
queries and keeps nothing. In the third the small side of each join is broadcast: then the block manager and what the list
holds refer to the same tables, which are most of what grows, and which neither owns alone. For the healthy one Spark's own history of queries is limited: by its defaults it takes 1,000 queries to fill.

One dump after each round, of live objects, by jcmd.
"""

import gc
import pathlib
import subprocess
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ROUNDS = 8
PER_ROUND = 6
# Rounds before the first dump of the healthy driver: until caches, pools and histories of Spark are full.
WARM_UP = 4


def query(spark, number):
    """One query, as they differ in an application: other columns, other numbers, one join, one aggregate."""
    left = spark.range(200).select(F.col("id"), (F.col("id") % (3 + number)).alias("bucket"))
    right = spark.range(50).select((F.col("id") % (3 + number)).alias("bucket"), F.concat(F.lit("article "), F.col("id")).alias("name"))
    joined = left.join(right, "bucket").groupBy("bucket").agg(F.count("name").alias("articles"), F.max("id").alias("last"))
    result = joined.where(F.col("articles") > number).orderBy("bucket")
    result.collect()
    return result


def dump(jvm, path):
    # Python's references to objects of Java are let go when Python collects them.
    gc.collect()
    pid = str(jvm.java.lang.ProcessHandle.current().pid())
    command = ["jcmd", pid, "GC.heap_dump", "-gz=1", str(path)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if said.returncode != 0 or not path.exists():
        sys.exit(f"{' '.join(command)}: {said.stdout}{said.stderr}")
    path.chmod(0o644)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("leak", "broadcast", "healthy"):
        sys.exit(__doc__)
    leak = sys.argv[1] != "healthy"
    folder = pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.hprof.gz"):
        old.unlink()
    builder = SparkSession.builder.master("local[2]").appName("driver")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
    }
    if sys.argv[1] != "broadcast":
        settings["spark.sql.autoBroadcastJoinThreshold"] = "-1"
    if not leak:
        for history in ("ui.retainedJobs", "ui.retainedStages", "ui.retainedTasks", "sql.ui.retainedExecutions"):
            settings["spark." + history] = "5"
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    jvm = spark.sparkContext._jvm
    kept = jvm.java.util.ArrayList()
    number = 0
    for round_number in range(-WARM_UP if not leak else 0, ROUNDS):
        for _ in range(PER_ROUND):
            result = query(spark, number % 16)
            if leak:
                kept.add(result._jdf.queryExecution())
            del result
            number += 1
        if round_number >= 0:
            dump(jvm, folder / f"driver-{round_number + 1:02}.hprof.gz")
            print(f"round {round_number + 1}: {number} queries, {kept.size()} kept", flush=True)
    spark.stop()


main()
