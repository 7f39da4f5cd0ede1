#!/bin/sh
# Installs the Debian packages that building and testing need and that are missing, and those named
# as arguments.
set -eu

missing=""
need() { # need PACKAGE COMMAND...: the package, unless the command succeeds
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}
installed() { ! command -v dpkg >/dev/null || dpkg -s "$1" 2>/dev/null | grep -q "^Status: install ok installed"; }

need g++ sh -c 'command -v g++'
need cmake sh -c 'command -v cmake'
need ninja-build sh -c 'command -v ninja'
need libhwy-dev installed libhwy-dev
need libgtest-dev installed libgtest-dev
need python3-venv python3 -c 'import venv, ensurepip'
need python3-dev python3 -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")'
for package in "$@"; do
  need "$package" installed "$package"
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" -ne 0 ]; then
  as_root="sudo"
  command -v sudo >/dev/null 2>&1 || as_root="none"
fi
if [ "$as_root" = none ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "lapsum needs these packages (by their Debian names), and cannot install them here:" >&2
  echo "   $missing" >&2
  echo "Install them with your system's package manager, then run the same command again." >&2
  exit 1
fi
echo "Installing Debian packages:$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086 # one word per package
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
