# shellcheck shell=bash
# For the recording scripts below this folder: record_city SOURCES JARS MAIN GROUPING FILE records a program that does one step for
# each number on its standard input and collects garbage when it is told "collect", with the site of every allocation and one
# walk over the heap after each of ${steps[@]}, and writes the city. STEPS="20 30" in the environment are others.

# shellcheck source-path=SCRIPTDIR source=jdk.sh
. "$(dirname "${BASH_SOURCE[0]}")/jdk.sh"

# How many walks there are; fails before there is a recording.
walks() { sed -n 's/^walks //p' "$work/trace/.status" 2>/dev/null | grep .; }

record_city() {
    local sources=$1 jars=$2 main=$3 grouping=$4 file=$5 city work found
    city=${MEMORY_CITY:-$(dirname "${BASH_SOURCE[0]}")/../target/release/memory-city}
    find_jdk 17
    [ -z "${STEPS:-}" ] || read -ra steps <<<"$STEPS"
    work=$(mktemp -d)
    # shellcheck disable=SC2064 # the folder of now
    trap "rm -rf '$work'" EXIT
    # shellcheck disable=SC2154 # find_jdk sets it
    find "$sources" -name '*.java' -exec "$jdk/bin/javac" -nowarn -cp "$jars" -d "$work/classes" {} +

    # A walk comes behind a collection, three seconds after the one before at least, and six without: so the young generation is so large
    # that nothing but the steps collects, and each waits for its walk. Then the program is killed: a walk at its end would find
    # nothing that it held.
    # shellcheck disable=SC2154 # the caller's
    {
        until walks; do sleep 0.1; done
        for i in "${!steps[@]}"; do
            echo "${steps[$i]}"
            sleep 3.3
            echo collect
            until [ "$(walks)" -gt "$i" ]; do sleep 0.1; done
        done
        # The first line is the number of the process.
        kill -KILL "$(sed -n 1p "$work/trace/.program")"
    } | "$city" record -o "$work/trace" --every-allocation --walk-every 3s --walk-share 50 -- \
        "$jdk/bin/java" -XX:+UseSerialGC -Xmx512m -Xmn400m -cp "$work/classes:$jars" "$main" ||
        [ $? = 137 ]
    "$city" convert "$work/trace" -o "$file" --grouping "$grouping"
    found=$("$city" report "$file" | grep -c ' Walk [0-9]')
    echo "$file: $found points in time, $(stat -c %s "$file") bytes"
}
