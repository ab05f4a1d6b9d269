#!/bin/sh
# Print the path of a Chromium for the browser tests. Looks for one that is there; as root on Debian it installs the
# distribution's package; else it says which command a person should run. It downloads no browser by itself.
set -eu

for name in "${HOLDFAST_BROWSER:-}" chromium chromium-browser google-chrome; do
    if [ -n "$name" ] && found=$(command -v "$name"); then
        echo "$found"
        exit 0
    fi
done

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "No Chromium was found. Install one (Debian, Ubuntu: sudo apt-get install chromium), or name it in" >&2
    echo "HOLDFAST_BROWSER, and try again." >&2
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt-get install --yes --no-install-recommends chromium fonts-dejavu-core >&2 ||
    { apt-get update >&2 && apt-get install --yes --no-install-recommends chromium fonts-dejavu-core >&2; }
command -v chromium
