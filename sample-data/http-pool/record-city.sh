#!/usr/bin/env bash
# Records the leak of Commons HttpClient 3.1 with the site of every allocation, and writes its city: city.json.zst
#
#   record-city.sh [FILE]     default: city.json.zst beside this script
#
# Needs a JDK 17 or newer, memory-city (MEMORY_CITY names another one than that of target/release), and the libraries that record.sh
# names; JARS=/folder/with/them where they are not installed.
set -euo pipefail

# New hosts per step, one walk after each.
steps=(20 20 30 30 40 40 50 50 60 60 70 70 80 80 90 90 100 100 110 110 120 120 130 130 140)

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../city.sh
. "$here/../city.sh"
jars=
for library in commons-httpclient commons-logging commons-codec; do
    jar=${JARS:-/usr/share/java}/$library.jar
    [ -f "$jar" ] || { echo "$jar is missing: apt-get install lib$library-java" >&2; exit 1; }
    jars=$jars:$jar
done
record_city "$here" "${jars#:}" HttpPool 'type>site(depth=1)' "${1:-$here/city.json.zst}"
