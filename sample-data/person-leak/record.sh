#!/usr/bin/env bash
# Records the series again: person-leak-01.hprof.gz, person-leak-02.hprof.gz, …
#
#   record.sh [FOLDER]        default: the folder this script is in
#
# Needs a JDK 17 or newer: $JAVA_HOME, else the javac on the PATH, else one in /usr/lib/jvm.
set -euo pipefail

# Requests per step, one dump after each: a day with a quiet night and a busy afternoon. Every request leaks one person.
steps=(250 150 100 150 300 450 700 900 1100 1300 1400 1600 1500 1200 800 500)

here=$(cd "$(dirname "$0")" && pwd)
folder=$(mkdir -p "${1:-$here}" && cd "${1:-$here}" && pwd)
# shellcheck source-path=SCRIPTDIR source=../jdk.sh
. "$here/../jdk.sh"
find_jdk 17

work=$(mktemp -d)
trap 'rm -rf "$work"; [ -z "${vm:-}" ] || kill "$vm" 2>/dev/null || true' EXIT
find "$here/src" -name '*.java' -print0 | xargs -0 "$jdk/bin/javac" --release 17 -d "$work/classes"

# No class data sharing and the serial collector: fewer classes and symbols, so that the dumps are half as large.
# Compacted at every collection: otherwise small gaps stay, and appear in the dumps as thousands of dead int[].
coproc program {
    exec "$jdk/bin/java" -Xshare:off -XX:+UseSerialGC -XX:MarkSweepAlwaysCompactCount=1 -Xms32m -Xmx32m \
        -cp "$work/classes" register.PersonLeak
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
rm -f "$folder"/person-leak-*.hprof.gz
for i in "${!steps[@]}"; do
    echo "${steps[$i]}" >&"${program[1]}"
    answer
    file=$folder/$(printf 'person-leak-%02d.hprof.gz' $((i + 1)))
    # Dumps collect garbage first: only live objects are in them.
    "$jdk/bin/jcmd" "$vm" GC.heap_dump -gz=9 "$file" >"$work/jcmd" 2>&1 || { cat "$work/jcmd" >&2; exit 1; }
    [ -s "$file" ] || { cat "$work/jcmd" >&2; exit 1; }
    # The Java machine writes for its own user only.
    chmod 644 "$file"
done
du -ch "$folder"/person-leak-*.hprof.gz | tail -1
