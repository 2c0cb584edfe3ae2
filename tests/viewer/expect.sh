# shellcheck shell=bash
# For the command tests: what a test script sources. $1 pclscope, $2 folder of the test helpers.
set -u
# shellcheck disable=SC2034  # for the test scripts
pclscope=$1
# shellcheck disable=SC2034  # for the test scripts
helpers=$2
folder=$(mktemp -d /tmp/pcl-view-XXXXXX)
mkdir -m 700 "$folder/run"
# Keys and settings of who runs the tests are not ours.
export XDG_RUNTIME_DIR=$folder/run HOME=$folder/home LC_ALL=C.UTF-8
mkdir -m 700 "$HOME"
unset XDG_CONFIG_HOME
kept=${PCLSCOPE_KEEP-}
unset "${!PCLSCOPE@}"
# In sanitized builds: libhdf5 leaks a little when it refuses a file.
export ASAN_OPTIONS=detect_leaks=0
failures=0
background=
# What a failed test had in hands, where PCLSCOPE_KEEP names a folder for it.
keep_hands() {
  [ -n "$kept" ] || return 0
  local to
  to=$kept/$(basename "$0" .sh)-$(date +%Y%m%d-%H%M%S)
  mkdir -p "$to"
  find "$folder" -type f -size -20M ! -name '*.key' -exec cp -t "$to" --backup=numbered {} +
  cp /dev/shm/pclscope-* "$to" 2>/dev/null
  echo "kept: $to"
}
tidy() {
  for pid in $background; do kill "$pid" 2>/dev/null && kill -CONT "$pid" 2>/dev/null; done
  rm -rf "$folder"
}
trap tidy EXIT

fail() {
  failures=$((failures + 1))
  echo "FAILED, lines ${BASH_LINENO[*]}: $*"
  echo "  stdout: $(head -c 2000 "$folder/out")"
  echo "  stderr: $(head -c 2000 "$folder/err")"
}
# until_true COMMAND...: waits until it succeeds, four minutes at most; what did not come by then will not.
until_true() {
  local end=$((SECONDS + 240))
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || { fail "never true: $*"; return 1; }
    sleep 0.05
  done
}
at_least() { [ "$(grep -c -e "$2" "$3")" -ge "$1" ]; }  # at_least N PATTERN FILE: so many lines have it
# run COMMAND...: leaves $status and the files out and err.
run() {
  timeout 240 "$@" >"$folder/out" 2>"$folder/err" </dev/null
  status=$?
}
expect_status() { [ "$status" -eq "$1" ] || fail "status $status, expected $1"; }
expect_out() { grep -q -e "$1" "$folder/out" || fail "no '$1' on stdout"; }
expect_err() { grep -q -e "$1" "$folder/err" || fail "no '$1' on stderr"; }
expect_no_out() { [ ! -s "$folder/out" ] || fail "something on stdout"; }
expect_no_err() { [ ! -s "$folder/err" ] || fail "something on stderr"; }
# refused STATUS WORD COMMAND...: one line on stderr with WORD, nothing on stdout.
refused() {
  local code=$1 word=$2
  shift 2
  run "$@"
  [ "$status" -eq "$code" ] || fail "status $status, expected $code: $*"
  [ "$(wc -l <"$folder/err")" -eq 1 ] || fail "not one line: $*"
  grep -q -F -e "$word" "$folder/err" || fail "no '$word': $*"
  [ ! -s "$folder/out" ] || fail "something on stdout: $*"
}
# A strict JSON parser, and an expression over the object `o` that must be true. One Python judges them all.
judge_of_json='
import json, sys
def no(word): raise ValueError(word)
for line in sys.stdin:
    path, expression = line.rstrip("\n").split("\t", 1)
    try:
        with open(path) as file:
            o = json.load(file, parse_constant=no)
        told = "yes" if eval(expression, {"o": o}) else f"not of {o}"
    except Exception as error:
        told = repr(error)
    print(ascii(told[:500])[1:-1], flush=True)'
expect_json() {
  local told
  [ -n "${JUDGE_PID-}" ] || coproc JUDGE { exec python3 -c "$judge_of_json" 2>&1; }
  printf '%s\t%s\n' "$folder/out" "$1" >&"${JUDGE[1]}"
  IFS= read -r told <&"${JUDGE[0]}" || told="no answer"
  [ "$told" = yes ] || fail "not true: $1 $told"
}
finish() {
  [ "$failures" -eq 0 ] || keep_hands
  [ "$failures" -eq 0 ] && echo "all passed"
  exit $((failures > 0))
}
