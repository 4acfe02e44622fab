#!/usr/bin/env bash
# Installs what is missing: the Debian packages given as arguments, and Rust. Does nothing when all is there.
set -euo pipefail

missing=()
if command -v dpkg-query >/dev/null; then
    for package in "$@"; do
        # A virtual or installed package of any architecture will do.
        dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        sudo=()
        if [ "$(id -u)" -ne 0 ]; then
            sudo=(sudo)
            command -v sudo >/dev/null || { echo "Please install as root: ${missing[*]}" >&2; exit 1; }
        fi
        echo "Installing: ${missing[*]}"
        "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
        "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    fi
else
    echo "Not a Debian or Ubuntu system: make sure that the equivalents of these are installed: $*"
fi

if ! command -v cargo >/dev/null; then
    echo "Installing Rust through rustup"
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c clippy -c rustfmt
fi
