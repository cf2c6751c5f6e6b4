#!/bin/sh
# Install Chromium from the system's packages where that is possible: sh tools/chromium.sh
# Without a browser the tests that need one are skipped, so this never fails.
for name in chromium chromium-browser google-chrome-stable google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then
        printf 'browser: %s\n' "$(command -v "$name")"
        exit 0
    fi
done
if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" -ne 0 ]; then
    echo "skipped: Chromium is not on the PATH, and apt-get cannot be used as root here"
elif ! { apt-get update && apt-get install -y --no-install-recommends chromium; } >/dev/null 2>&1; then
    echo "skipped: Chromium is not on the PATH, and apt-get cannot install it here"
else
    printf 'browser: %s\n' "$(command -v chromium)"
fi
