#!/usr/bin/env bash
# Records a series of the leak of Commons HttpClient 3.1: http-pool-01.hprof.gz, http-pool-02.hprof.gz, …
#
#   record.sh [FOLDER]        default: recorded/ beside this script (git ignores it)
#
# Needs a JDK 17 or newer, and the libraries of Debian or Ubuntu:
#   apt-get install libcommons-httpclient-java libcommons-logging-java libcommons-codec-java
set -euo pipefail

# New hosts per step, one dump after each.
steps=(200 200 300 300 400 400 500 500 600 600 800 1000)

here=$(cd "$(dirname "$0")" && pwd)
folder=$(mkdir -p "${1:-$here/recorded}" && cd "${1:-$here/recorded}" && pwd)
# shellcheck source-path=SCRIPTDIR source=../jdk.sh
. "$here/../jdk.sh"
find_jdk 17

jars=
for library in commons-httpclient commons-logging commons-codec; do
    jar=/usr/share/java/$library.jar
    [ -f "$jar" ] || { echo "$jar is missing: apt-get install lib$library-java" >&2; exit 1; }
    jars=$jars:$jar
done

work=$(mktemp -d)
trap 'rm -rf "$work"; [ -z "${vm:-}" ] || kill "$vm" 2>/dev/null || true' EXIT
"$jdk/bin/javac" -cp "$jars" -d "$work/classes" "$here/HttpPool.java"

coproc program {
    exec "$jdk/bin/java" -XX:+UseSerialGC -XX:MarkSweepAlwaysCompactCount=1 -Xmx64m -cp "$work/classes$jars" HttpPool
}
# shellcheck disable=SC2154 # coproc sets program_PID
vm=$program_PID
answer() {
    local line
    # Fails, and ends the recording, when the program is gone or silent.
    read -r -t 60 line <&"${program[0]}"
    echo "$line"
}

answer
rm -f "$folder"/http-pool-*.hprof.gz
for i in "${!steps[@]}"; do
    echo "${steps[$i]}" >&"${program[1]}"
    answer
    file=$folder/$(printf 'http-pool-%02d.hprof.gz' $((i + 1)))
    "$jdk/bin/jcmd" "$vm" GC.heap_dump -gz=9 "$file" >"$work/jcmd" 2>&1 || { cat "$work/jcmd" >&2; exit 1; }
    [ -s "$file" ] || { cat "$work/jcmd" >&2; exit 1; }
    chmod 644 "$file"
done
du -ch "$folder"/http-pool-*.hprof.gz | tail -1
