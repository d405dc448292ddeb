#!/bin/sh
# Chromium and its driver for the tests of the viewer. Does nothing where both are there; where there is no apt either,
# says so and lets the browser tests skip.
set -eu

if command -v chromium >/dev/null 2>&1 && command -v chromedriver >/dev/null 2>&1; then
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "install_chromium: neither chromium with chromedriver nor apt-get here; the browser tests will be skipped" >&2
    exit 0
fi
if [ "$(id -u)" -eq 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1; then
    as_root="sudo"
else
    echo "install_chromium: chromium and chromium-driver are missing and only root can install them" >&2
    exit 1
fi
$as_root apt-get update -q >&2
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium chromium-driver >&2
