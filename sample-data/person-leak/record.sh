#!/usr/bin/env bash
# Records the sample: compiles the program beside this script, runs it, and takes a heap dump after each step.
# Usage: record.sh [FOLDER]   (default: this folder). Needs a JDK 17 or newer (javac, java, jcmd) and zstd.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
steps=15
requests=2500

work=$(mktemp -d)
trap 'kill "${pid:-}" 2>/dev/null || true; rm -rf "$work"' EXIT
find "$here/src" -name '*.java' -print0 | xargs -0 javac -encoding UTF-8 -d "$work/classes"

mkfifo "$work/in" "$work/out"
java -XX:+UseSerialGC -Xmx256m -Xshare:auto -cp "$work/classes" city.sample.Main <"$work/in" >"$work/out" &
exec 3>"$work/in" 4<"$work/out"
read -r _ pid <&4

mkdir -p "$out"
for step in $(seq 1 "$steps"); do
    # The first state has few visitors, so that the growth is seen from the start.
    echo $((step == 1 ? 400 : requests)) >&3
    read -r _ visitors <&4
    file=$(printf '%s/person-leak-%02d.hprof.zst' "$out" "$step")
    jcmd "$pid" GC.heap_dump "$work/dump.hprof" >/dev/null
    zstd -q -f -19 -T0 "$work/dump.hprof" -o "$file"
    rm "$work/dump.hprof"
    echo "$(basename "$file"): $visitors visitors, $(stat -c %s "$file") bytes"
    # Dumps are ordered by the time in their header, which has milliseconds.
    sleep 0.05
done
exec 3>&-
wait "$!" 2>/dev/null || true
