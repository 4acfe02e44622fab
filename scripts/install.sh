#!/usr/bin/env bash
# Installs what is missing: the Debian packages given as arguments, and Rust. Does nothing when all is there.
# An argument may name alternatives, best first: 'openjdk-17-jdk-headless|openjdk-21-jdk-headless'.
set -euo pipefail

oldest_rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "$0")/../Cargo.toml")

is_installed() {
    # A package of any architecture will do.
    dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

# The first installed alternative, else the first the distribution has, else the last, for apt-get to complain about.
choose() {
    local alternatives package
    IFS='|' read -ra alternatives <<<"$1"
    for package in "${alternatives[@]}"; do
        if is_installed "$package"; then
            echo "$package"
            return
        fi
    done
    for package in "${alternatives[@]}"; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            break
        fi
    done
    echo "$package"
}

if command -v apt-get >/dev/null; then
    missing=()
    for wanted in "$@"; do
        is_installed "$(choose "$wanted")" || missing+=("$wanted")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        as_root=(env DEBIAN_FRONTEND=noninteractive)
        if [ "$(id -u)" -ne 0 ]; then
            command -v sudo >/dev/null || { echo "Please install as root: ${missing[*]}" >&2; exit 1; }
            as_root=(sudo "${as_root[@]}")
        fi
        echo "Installing: ${missing[*]}"
        "${as_root[@]}" apt-get update -qq
        # Only now, with fresh lists, it is known which alternatives there are.
        packages=()
        for wanted in "${missing[@]}"; do
            packages+=("$(choose "$wanted")")
        done
        "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
    fi
else
    echo "Not a Debian or Ubuntu system: make sure that the equivalents of these are installed: $*"
fi

if ! command -v cargo >/dev/null; then
    echo "Installing Rust through rustup"
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c clippy -c rustfmt
fi
rust=$(PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH" cargo --version | cut -d' ' -f2)
if [ "$(printf '%s\n' "$oldest_rust" "$rust" | sort -V | head -1)" != "$oldest_rust" ]; then
    echo "Rust $rust is too old, $oldest_rust is needed. With rustup: rustup update stable" >&2
    exit 1
fi
