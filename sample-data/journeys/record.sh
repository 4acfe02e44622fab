#!/usr/bin/env bash
# Records a cache whose key has neither equals nor hashCode, and writes its city: city.json.zst
#
#   record.sh [FILE]          default: city.json.zst beside this script
#
# Needs a JDK 17 or newer, memory-city (MEMORY_CITY names another one than that of target/release), and H2:
#   apt-get install libh2-java         or H2_JAR=/path/to/h2.jar
set -euo pipefail

# Visitors of each step, one walk after each.
steps=(10 10 15 15 20 20 25 25 30 30 35 35 40 40 45 45 50 50 55 55 60 60 65 70)

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../city.sh
. "$here/../city.sh"
h2=${H2_JAR:-/usr/share/java/h2.jar}
[ -f "$h2" ] || { echo "$h2 is missing: apt-get install libh2-java" >&2; exit 1; }
record_city "$here/src" "$h2" agency.Agency 'type>domain-site(packages=agency)' "${1:-$here/city.json.zst}"
