#!/usr/bin/env bash
# Records the leak of persons (../person-leak) with the site of every allocation, and writes its city by package and type: city.json.zst
#
#   record.sh [FILE]          default: city.json.zst beside this script
#
# Needs a JDK 17 or newer, and memory-city (MEMORY_CITY names another one than that of target/release).
set -euo pipefail

# Requests per step, one walk after each.
steps=(250 150 100 100 150 200 300 400 500 600 700 800 900 1000 1000 1000 1000 900 800 700 600 500 400)

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../city.sh
. "$here/../city.sh"
record_city "$here/../person-leak/src" . register.PersonLeak 'package>type' "${1:-$here/city.json.zst}"
