#!/bin/sh
# Runs the CUDA compiler, and keeps what ptxas says about the kernels in a file next to the object.
set -eu
object=""
previous=""
for argument; do
  [ "$previous" = "-o" ] && object=$argument
  previous=$argument
done
status=0
"$@" 2>"$object.log" || status=$?
grep -E '^ptxas info|bytes stack frame' "$object.log" >"$object.ptxas" || true
grep -vE '^ptxas info|bytes stack frame' "$object.log" >&2 || true
rm "$object.log"
exit $status
