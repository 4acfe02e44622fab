# shellcheck shell=bash
# For the recording scripts beside this file: find_jdk VERSION sets $jdk to a JDK of that version or newer.
find_jdk() {
    local candidate version
    for candidate in "${JAVA_HOME:-}" "$(dirname "$(dirname "$(readlink -f "$(command -v javac || echo /)")")")" /usr/lib/jvm/*; do
        if [ ! -x "$candidate/bin/javac" ] || [ ! -x "$candidate/bin/jcmd" ]; then
            continue
        fi
        version=$("$candidate/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
        if [ "${version:-0}" -ge "$1" ]; then
            # shellcheck disable=SC2034 # for the caller
            jdk=$candidate
            return
        fi
    done
    echo "No JDK $1 or newer found: set JAVA_HOME, or install one (Debian and Ubuntu: apt-get install openjdk-17-jdk-headless)." >&2
    return 1
}
