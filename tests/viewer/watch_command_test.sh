#!/bin/bash
# shellcheck disable=SC2317  # functions are called by until_true
# pclscope watch and list, on jobs that only publish a hand-made snapshot.
# Depends on: nothing.
# shellcheck source=expect.sh
. "$(dirname "$0")/expect.sh"
start_job() {  # NAME [finish|die]: goes on until end_job NAME
  "$helpers/viewer_fake_job" "$1" "ipc://$folder/run/pclscope/$1" "$folder/end-$1" "${2:-finish}" &
  job=$!
  background+=" $job"
  until_true listed "$1"
}
listed() { "$pclscope" list --json | grep -q -F "\"$1\""; }
end_job() { touch "$folder/end-$1"; }
# A look at a job that is there. On a busy machine its snapshot may come later than `--once` waits.
has_news() { run "$pclscope" watch ${1:+"$1"} --once --json && [ "$status" -eq 0 ]; }
is_fresh() {
  has_news "$1" &&
    python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["live"]["age_s"] >= 1)' "$folder/out"
}
# follow FILE COMMAND...: in the background; its output goes to FILE, what it says to FILE.err.
follow() {
  local file=$1
  shift
  "$@" >"$file" 2>"$file.err" </dev/null &
  follower=$!
  background+=" $follower"
}
# Waits for a follower, four minutes at most; leaves $status, and its output in out and err.
ended() {  # PID FILE
  until_true gone "$1" || kill "$1"
  wait "$1"
  status=$?
  cp "$2" "$folder/out"
  cp "$2.err" "$folder/err"
}
gone() { ! kill -0 "$1" 2>/dev/null; }

# --- nothing runs ---
refused 1 "no running job" "$pclscope" watch
refused 1 "nobody-1" "$pclscope" watch nobody-1
refused 2 "--interval" "$pclscope" watch --interval soon
run "$pclscope" list --json
expect_json 'o["jobs"] == []'
none_dormant() { python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["dormant"] != [])' "$folder/out"; }
if none_dormant; then  # others may have some on this machine
  run "$pclscope" list
  expect_status 0
  expect_no_out
fi
refused 1 "curve.key" "$pclscope" watch tcp://127.0.0.1:1 --once
refused 1 "ipc" "$pclscope" watch "ipc://$folder/run/pclscope/nobody" --once
refused 1 "carrier" "$pclscope" watch carrier://pigeon --once

# --- one job ---
start_job heat-1
run "$pclscope" list
expect_out 'heat-1  *recorded  *6 .*Open MPI'
grep -q $'\x1b' "$folder/out" && fail "an escape character from the command's name"
run "$pclscope" list --json
expect_json 'o["jobs"][0]["name"] == "heat-1" and o["jobs"][0]["ranks"] == 6 and "started" in o["jobs"][0]'
for target in "" heat-1 "ipc://$folder/run/pclscope/heat-1"; do
  until_true is_fresh "$target"
  expect_no_err
  expect_json 'o["delays"][0]["site"] == "/src/halo.cpp:42" and o["regions"][1]["periods"]'
  expect_json 'o["retention"]["keep"] == "interesting"'
  expect_json 'o["live"]["age_s"] >= 0 and o["live"]["window_s"] == 0.1 and o["messages"]["matched"] == 123456'
done
run "$pclscope" watch --once
expect_out 'heat-1  ./heat input.txt'
expect_out 'data .* old'
[ "$(wc -l <"$folder/out")" -le 24 ] || fail "more than 24 lines"
run "$pclscope" watch --once --ascii
LC_ALL=C grep -q '[^ -~]' "$folder/out" && fail "not plain ASCII"

# --- inspect asks a running job ---
for target in heat-1 "ipc://$folder/run/pclscope/heat-1"; do
  run "$pclscope" inspect "$target" dag --from 10 --to 12 --json
  expect_status 0
  expect_err 'not all is known: 7 events were dropped'
  [ "$(wc -l <"$folder/err")" -eq 1 ] || fail "not one line"
  expect_json 'o["messages"] == 5000 and sum(len(n["sent"]) for n in o["nodes"]) == 5000'
  expect_json 'all(e["from"] < e["to"] for e in o["edges"])'
done
run "$pclscope" inspect heat-1 dag --region 7 --from 10 --to 12
expect_out '^region 7, 10.0 s to 12.0 s: '
refused 1 "there are 1,7" "$pclscope" inspect heat-1 dag --region 3
run "$pclscope" inspect heat-1 evolution --json
expect_json 'o["regions"][1]["periods"][1]["kind"] == "growth" and o["regions"][1]["windows"][0]["bytes"] is None'
run "$pclscope" inspect heat-1 delays
expect_out 'halo.cpp:42'
run "$pclscope" inspect heat-1 regions
expect_out 'growing since'
refused 1 "give the dump" "$pclscope" inspect heat-1 messages
refused 1 "give the dump" "$pclscope" inspect heat-1 path
refused 1 "give the dump" "$pclscope" inspect heat-1 delays --rank 3
refused 1 "in the dump only" "$pclscope" inspect heat-1 regions --cut 2
run "$pclscope" inspect heat-1 collectives --json
expect_json 'o["operations"] == 1000 and o["partial"]'

# --- two jobs, followed to their ends: one in order, one not ---
start_job rain-2
until_true has_news ""
expect_err 'rain-2'
expect_json '"live" in o'
follow "$folder/lines" "$pclscope" watch rain-2 --json --interval 200ms
lines=$follower
follow "$folder/blocks" "$pclscope" watch rain-2 --interval 500ms
blocks=$follower
until_true at_least 8 . "$folder/lines"  # objects, one per line
until_true at_least 4 '^matched' "$folder/blocks"
end_job rain-2
ended $lines "$folder/lines"
expect_status 0
expect_err 'rain-2 has finished'
tail -1 "$folder/lines" >"$folder/out"
expect_json 'o["time"]["finished"] and "live" in o'
ended $blocks "$folder/blocks"
expect_status 0
tail -n 20 "$folder/blocks" | grep -q 'elapsed .*finished' || fail "the last block is not the finished one"
grep -q $'\x1b' "$folder/blocks" && fail "escapes where no terminal is"

start_job storm-3 die
follow "$folder/storm" "$pclscope" watch storm-3
until_true at_least 1 '^matched' "$folder/storm"
end_job storm-3
ended $follower "$folder/storm"
expect_status 1
expect_err 'storm-3 is gone'
run "$pclscope" list --json
expect_json '"storm-3" not in [j["name"] for j in o["jobs"]]'

# --- a job that stops publishing is not shown as if it were fresh ---
start_job still-4
kill -STOP $job
follow "$folder/still" "$pclscope" watch still-4 --interval 500ms
until_true at_least 1 'waiting for news' "$folder/still"
kill $follower
kill -CONT $job
start_job quiet-5
follow "$folder/quiet" "$pclscope" watch quiet-5 --interval 500ms
until_true at_least 1 'data .* old' "$folder/quiet"
kill -STOP $job
until_true at_least 1 'no news for \([3-9]\|[1-9][0-9]\)[0-9.]* s' "$folder/quiet"
kill -CONT $job
fresh_again() { tail -n 25 "$folder/quiet" | grep -q 'data .* old'; }
until_true fresh_again
kill -INT $follower  # leaving with Ctrl-C is no failure
ended $follower "$folder/quiet"
expect_status 0

# --- in a terminal: in place, and the cursor comes back ---
if command -v script >/dev/null; then
  start_job term-6
  TERM=xterm follow "$folder/term" script -qec "stty rows 24 cols 80; '$pclscope' watch term-6" /dev/null
  until_true at_least 1 'matched' "$folder/term"
  end_job term-6
  ended $follower "$folder/term"
  expect_status 0
  grep -q $'\x1b\[?25l' "$folder/out" || fail "the cursor is not hidden"
  grep -q $'\x1b\[?25h' "$folder/out" || fail "the cursor does not come back"
  tail -n 3 "$folder/out" | grep -q 'has finished' || fail "the end is not said"
fi

# --- scripts wait for a condition, and metrics are kept up to date ---
refused 2 "'speed' is not known" "$pclscope" watch quiet-5 --until 'speed > 3'
refused 2 "a share, as 20%" "$pclscope" watch quiet-5 --until 'lost > 20'
refused 2 "not both" "$pclscope" watch quiet-5 --until dropped --json
refused 2 "--exec" "$pclscope" watch quiet-5 --exec true
start_job alarm-7
run "$pclscope" watch alarm-7 --until dropped --exec "echo \"\$PCLSCOPE_ALARM\" >'$folder/rang'"
expect_status 0
expect_out '^7 events were dropped$'
[ "$(cat "$folder/rang")" = "7 events were dropped" ] || fail "the command was not told"
run "$pclscope" watch alarm-7 --until dropped --exec 'exit 3'
expect_status 1
expect_err 'exit 3 failed'
follow "$folder/never" "$pclscope" watch alarm-7 --until 'dropped > 1000' --metrics "$folder/job.prom"
has_metrics() { grep -q '^pclscope_messages_total{job="alarm-7"} 123456$' "$folder/job.prom" 2>/dev/null; }
until_true has_metrics
grep -q '^pclscope_up{job="alarm-7"} 1$' "$folder/job.prom" || fail "the job is not up"
end_job alarm-7
ended $follower "$folder/never"
expect_status 1
expect_no_out
expect_err "'dropped > 1000' never held"
grep -q '^pclscope_up{job="alarm-7"} 0$' "$folder/job.prom" || fail "the job is still up"
[ "$(tail -n 1 "$folder/job.prom")" = "# EOF" ] || fail "no end"
[ -z "$(find "$folder" -name 'job.prom.*')" ] || fail "left over beside the metrics"
start_job alarm-8
refused 1 "cannot write no/such/file" "$pclscope" watch alarm-8 --once --metrics no/such/file

# --- a dump is shown once ---
"$helpers/viewer_make_dump" "$folder/a.h5"
run "$pclscope" watch "$folder/a.h5"
expect_status 0
expect_out 'finished'
run "$pclscope" watch "$folder/a.h5" --json
expect_json '"live" not in o and o["messages"]["matched"] == 123456'
finish
