"""Asks the questions of docs/tables.md of a folder of tables, with DuckDB.

Usage: tables.py FOLDER PAGE. Standard output is a line of JSON for each question: its rows.
"""

import json
import re
import sys

import duckdb

folder, page = sys.argv[1:]
text = open(page, encoding="utf-8").read()
for table in ["dumps", "groups", "growth", "objects", "owners", "references", "roots", "types", "warnings"]:
    duckdb.sql(f"""CREATE VIEW "{table}" AS
        SELECT * FROM read_parquet('{folder}/{table}/**/*.parquet', hive_partitioning = true)""")
for question in re.findall(r"```sql\n(.*?)```", text, re.S):
    print(json.dumps(duckdb.sql(question).fetchall()))
print(json.dumps(duckdb.sql("""
    SELECT d.process, d.time, d.objects, d.bytes, sum(o.bytes)::BIGINT, count(*), sum(g.bytes)::BIGINT
    FROM dumps d
    JOIN (SELECT process, time, bytes FROM objects WHERE reachable) o USING (process, time)
    JOIN (SELECT process, time, bytes FROM groups WHERE parent IS NULL) g USING (process, time)
    GROUP BY ALL ORDER BY ALL""").fetchall()))
