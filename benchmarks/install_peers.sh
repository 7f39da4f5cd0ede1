#!/bin/sh
# Installs the peers of benchmarks/requirements.txt, each on its own: install_peers.sh PYTHON.
# They are built against the torch that is there and without CUDA, which torchsort would ask for
# wherever it finds nvcc: directories that hold it are taken out of PATH.
set -eu
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cpu_path=$(printf '%s' "$PATH" | tr ':' '\n' | while read -r dir; do
  [ -x "$dir/nvcc" ] || printf '%s:' "$dir"
done)
pip() {
  env -u CUDA_HOME PATH="$cpu_path" \
    "$python" -m pip install --quiet --disable-pip-version-check "$@"
}

pip 'setuptools>=77' wheel || echo "setuptools and wheel could not be renewed" >&2
grep -v '^#' "$(dirname "$0")/requirements.txt" | while read -r peer; do
  pip --no-build-isolation --no-deps "$peer" || echo "$peer could not be installed" >&2
done
