#!/bin/bash
# pclscope watch and list, on jobs that only publish a hand-made snapshot.
. "$(dirname "$0")/expect.sh"
start_job() {  # NAME SECONDS [finish|die]
  "$helpers/viewer_fake_job" "$1" "ipc://$folder/run/pclscope/$1" "$2" "${3:-finish}" &
  job=$!
  background+=" $job"
  for _ in $(seq 100); do
    "$pclscope" list --json | grep -q -F "\"$1\"" && return
    sleep 0.05
  done
  fail "job $1 does not appear"
}

# --- nothing runs ---
refused 1 "no running job" "$pclscope" watch
refused 1 "nobody-1" "$pclscope" watch nobody-1
refused 2 "--interval" "$pclscope" watch --interval soon
run "$pclscope" list --json
expect_json 'o == {"jobs": [], "dormant": []}'
run "$pclscope" list
expect_status 0
expect_no_out
before=$SECONDS
refused 1 "curve.key" "$pclscope" watch tcp://127.0.0.1:1 --once
refused 1 "ipc" "$pclscope" watch "ipc://$folder/run/pclscope/nobody" --once
[ $((SECONDS - before)) -le 6 ] || fail "waited too long"
refused 1 "carrier" "$pclscope" watch carrier://pigeon --once

# --- one job ---
start_job heat-1 12
run "$pclscope" list
expect_out 'heat-1  *recorded  *6 .*Open MPI'
grep -q $'\x1b' "$folder/out" && fail "an escape character from the command's name"
run "$pclscope" list --json
expect_json 'o["jobs"][0]["name"] == "heat-1" and o["jobs"][0]["ranks"] == 6 and "started" in o["jobs"][0]'
for target in "" heat-1 "ipc://$folder/run/pclscope/heat-1"; do
  began=$(date +%s%N)
  run "$pclscope" watch $target --once --json
  took=$((($(date +%s%N) - began) / 1000000))
  expect_status 0
  expect_no_err
  [ "$took" -lt 2000 ] || fail "took $took ms"
  expect_json 'o["delays"][0]["site"] == "/src/halo.cpp:42" and o["regions"][1]["periods"] and o["retention"]["keep"] == "interesting"'
  expect_json '0 <= o["live"]["age_s"] < 1 and o["live"]["window_s"] == 0.1 and o["messages"]["matched"] == 123456'
done
run "$pclscope" watch --once
expect_out 'heat-1  ./heat input.txt'
expect_out 'data .* old'
[ "$(wc -l <"$folder/out")" -le 24 ] || fail "more than 24 lines"
run "$pclscope" watch --once --ascii
LC_ALL=C grep -q '[^ -~]' "$folder/out" && fail "not plain ASCII"

# --- inspect asks a running job ---
for target in heat-1 "ipc://$folder/run/pclscope/heat-1"; do
  began=$(date +%s%N)
  run "$pclscope" inspect $target dag --from 10 --to 12 --json
  took=$((($(date +%s%N) - began) / 1000000))
  expect_status 0
  expect_err 'not all is known: 7 events were dropped'
  [ "$(wc -l <"$folder/err")" -eq 1 ] || fail "not one line"
  [ "$took" -lt 2000 ] || fail "took $took ms"  # its own start, the snapshot, 10,000 events and their JSON
  expect_json 'o["messages"] == 5000 and sum(len(n["sent"]) for n in o["nodes"]) == 5000 and all(e["from"] < e["to"] for e in o["edges"])'
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
start_job rain-2 3
run "$pclscope" watch --once --json
expect_err 'rain-2'
expect_json '"live" in o'
(timeout 20 "$pclscope" watch rain-2 --json --interval 200ms >"$folder/lines" 2>"$folder/ended"; echo $? >"$folder/code") &
follower=$!
(timeout 20 "$pclscope" watch rain-2 --interval 500ms >"$folder/blocks" 2>/dev/null; echo $? >"$folder/code2") &
follower2=$!
wait $follower $follower2
: >"$folder/err"
[ "$(cat "$folder/code")" -eq 0 ] || fail "follower ended with $(cat "$folder/code")"
[ "$(cat "$folder/code2")" -eq 0 ] || fail "follower ended with $(cat "$folder/code2")"
grep -q 'rain-2 has finished' "$folder/ended" || fail "the end is not said: $(cat "$folder/ended")"
[ "$(wc -l <"$folder/lines")" -ge 8 ] || fail "only $(wc -l <"$folder/lines") objects"
tail -1 "$folder/lines" >"$folder/out"
expect_json 'o["time"]["finished"] and "live" in o'
[ "$(grep -c '^matched' "$folder/blocks")" -ge 4 ] || fail "too few blocks"
tail -n 20 "$folder/blocks" | grep -q 'elapsed .*finished' || fail "the last block is not the finished one"
grep -q $'\x1b' "$folder/blocks" && fail "escapes where no terminal is"

start_job storm-3 2 die
run "$pclscope" watch storm-3
expect_status 1
expect_err 'storm-3 is gone'
run "$pclscope" list --json
expect_json '"storm-3" not in [j["name"] for j in o["jobs"]]'

# --- a job that stops publishing is not shown as if it were fresh ---
start_job still-4 20
kill -STOP $job
run timeout 5 "$pclscope" watch still-4 --interval 500ms
kill -CONT $job
expect_out 'waiting for news'
start_job quiet-5 20
(sleep 1.5; kill -STOP $job; sleep 5; kill -CONT $job) &
run timeout 6 "$pclscope" watch quiet-5 --interval 500ms
expect_out 'data .* old'
expect_out 'no news for [3-5] s'
wait %+ 2>/dev/null

run timeout --preserve-status -s INT 1 "$pclscope" watch quiet-5  # leaving with Ctrl-C is no failure
expect_status 0

# --- in a terminal: in place, and the cursor comes back ---
if command -v script >/dev/null; then
  start_job term-6 2
  TERM=xterm timeout 20 script -qec "stty rows 24 cols 80; '$pclscope' watch term-6" /dev/null >"$folder/out" 2>"$folder/err" </dev/null
  status=$?
  expect_status 0
  grep -q $'\x1b\[?25l' "$folder/out" || fail "the cursor is not hidden"
  grep -q $'\x1b\[?25h' "$folder/out" || fail "the cursor does not come back"
  tail -n 3 "$folder/out" | grep -q 'has finished' || fail "the end is not said"
fi

# --- a dump is shown once ---
"$helpers/viewer_make_dump" "$folder/a.h5"
run "$pclscope" watch "$folder/a.h5"
expect_status 0
expect_out 'finished'
run "$pclscope" watch "$folder/a.h5" --json
expect_json '"live" not in o and o["messages"]["matched"] == 123456'
finish
