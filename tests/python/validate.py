"""Validates documents against a JSON Schema.

Usage: validate.py SCHEMA. Standard input is a list of documents; standard output is, for each, a list of complaints.
"""

import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
documents = json.load(sys.stdin)
json.dump([[f"{e.message} at {e.json_path}" for e in validator.iter_errors(d)] for d in documents], sys.stdout)
