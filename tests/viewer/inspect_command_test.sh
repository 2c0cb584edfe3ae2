#!/bin/bash
# pclscope inspect, and the words common to all commands, on dumps of our own making.
# Depends on: nothing.
# shellcheck source=expect.sh
. "$(dirname "$0")/expect.sh"
dump=$folder/a.h5
cut=$folder/cut.h5
dropped=$folder/dropped.h5
"$helpers/viewer_make_dump" "$dump" || fail "make_dump"
"$helpers/viewer_make_dump" "$cut" cut || fail "make_dump cut"
"$helpers/viewer_make_dump" "$dropped" dropped || fail "make_dump dropped"

# --- usage ---
refused 2 "no command" "$pclscope"
refused 2 "frobnicate" "$pclscope" frobnicate
refused 2 "--frobnicate" "$pclscope" --frobnicate
for command in run list attach detach watch inspect report key; do
  refused 2 "--frobnicate" "$pclscope" $command --frobnicate
  run "$pclscope" $command --help
  expect_status 0
  expect_out "usage: pclscope $command"
  expect_no_err
done
run "$pclscope" help inspect
expect_status 0
expect_out "usage: pclscope inspect"
refused 2 "frobnicate" "$pclscope" help frobnicate
run "$pclscope" --version
expect_status 0
expect_out '^pclscope [0-9]*\.[0-9]*\.[0-9]*$'
run "$pclscope" --help
expect_status 0
for command in run list attach detach watch inspect report key; do expect_out "^  $command "; done
refused 2 "target" "$pclscope" inspect
refused 2 "gossip" "$pclscope" inspect "$dump" gossip
refused 2 "--csv" "$pclscope" inspect "$dump" --json --csv
refused 2 "--sort" "$pclscope" inspect "$dump" regions --sort time
refused 2 "--sort" "$pclscope" inspect "$dump" messages --sort colour
refused 2 "--rank" "$pclscope" inspect "$dump" ranks --rank 3-1
refused 2 "--rank" "$pclscope" inspect "$dump" criteria --rank 1
refused 2 "--limit" "$pclscope" inspect "$dump" messages --limit few

# --- options of the newer topics ---
refused 2 "--region is for" "$pclscope" inspect "$dump" messages --region 7
refused 2 "--from is for" "$pclscope" inspect "$dump" regions --from 1
refused 2 "--function is for timeline" "$pclscope" inspect "$dump" messages --function MPI_Recv
refused 2 "did you mean 'MPI_Recv'" "$pclscope" inspect "$dump" timeline --function MPI_Rec
refused 2 "timeline by time or duration" "$pclscope" inspect "$dump" timeline --sort bytes
refused 2 "--dot is for dag" "$pclscope" inspect "$dump" delays --dot
refused 2 "--fold is for dag" "$pclscope" inspect "$dump" --fold
refused 2 "--cut is for regions" "$pclscope" inspect "$dump" dag --cut 2
refused 2 "--csv is for summary" "$pclscope" inspect "$dump" dag --csv
refused 2 "--dot" "$pclscope" inspect "$dump" dag --dot --json
refused 2 "soon" "$pclscope" inspect "$dump" dag --from soon
refused 2 "ends before it begins" "$pclscope" inspect "$dump" dag --from 0.05 --to 20ms
refused 2 "ends before it begins" "$pclscope" inspect "$dump" delays --from 0.05 --to 0.05
refused 2 "ends before it begins" "$pclscope" inspect "$dump" collectives --from 2 --to 1
refused 2 "not both" "$pclscope" inspect "$dump" dag --region 7 --rank 1
refused 2 "--cut" "$pclscope" inspect "$dump" regions --cut 0
refused 2 "--cut" "$pclscope" inspect "$dump" regions --cut 2 --cut-height 1
refused 1 "lasts from 0 s to 12.5 s" "$pclscope" inspect "$dump" dag --from 99
refused 1 "lasts from 0 s to 12.5 s" "$pclscope" inspect "$dump" path --to -20
refused 1 "there are 1,7" "$pclscope" inspect "$dump" evolution --region 3
refused 1 "there are 1,7" "$pclscope" inspect "$dump" dag --region 3
refused 1 "there are 1,7" "$pclscope" inspect "$dump" regions --region 3
refused 1 "there are 1,7" "$pclscope" inspect "$dump" delays --region 3
refused 1 "no rank 6" "$pclscope" inspect "$dump" dag --rank 6
refused 1 "no rank 99" "$pclscope" inspect "$dump" waits --rank 1,99

# --- a run may be asked where it would go on other nodes than its own ---
run "$pclscope" map "$dump" --topology nodes:6 --ranks-per-node 1
expect_status 0
expect_err "own placement does not fit"
refused 1 "no news from" "$pclscope" inspect "ipc://$folder/nobody" dag

# --- files that are none ---
refused 1 "missing.h5" "$pclscope" inspect "$folder/missing.h5"
refused 1 "$folder" "$pclscope" inspect "$folder"
echo "no dump at all" >"$folder/text"
refused 1 "$folder/text" "$pclscope" inspect "$folder/text"
: >"$folder/empty"
refused 1 "$folder/empty" "$pclscope" inspect "$folder/empty" messages --json
head -c 3000 "$dump" >"$folder/half"
run "$pclscope" inspect "$folder/half"
[ "$status" -le 1 ] || fail "status $status"
[ "$(wc -l <"$folder/err")" -eq 1 ] || fail "not one line"

# --- text ---
run "$pclscope" inspect "$dump"
expect_status 0
expect_no_err
expect_out '123,456 matched'
expect_out '3 sends and 1 receives'
run "$pclscope" inspect "$dump" regions
expect_out ' 7  3-5 '
run "$pclscope" inspect "$dump" messages
expect_out 'first 20 of 100'
[ "$(wc -l <"$folder/out")" -eq 22 ] || fail "20 rows, a title, a note"
run "$pclscope" inspect "$dump" messages --sort ratio --limit 1
expect_out '2 -> 3 .* 51.0 '
[ "$(wc -l <"$folder/out")" -eq 2 ] || fail "one row"
run "$pclscope" inspect "$dump" criteria
expect_out 'inter-node .* 100 us'

run "$pclscope" inspect "$dump" calls
expect_out '^ *2.25 s .* 100+0 .* Send  *halo.cpp:42 Grid::exchange$'
expect_out ' Recv  *libhalo.so+0x1001$'
expect_out 'unknown$'
expect_out '^MPI_Recv  *100  *30.0 s  *40% '
expect_out 'rank 3 in MPI_Recv (halo.cpp:42) waits for rank 4 in MPI_Recv (libhalo.so+0x1001) waits for rank 3'
grep -q -e 'inside a call' "$folder/out" && fail "the run ended in order: nobody is inside a call"
grep -q -e $'\033' "$folder/out" && fail "an escape sequence reaches the terminal"
run "$pclscope" inspect "$cut" calls
expect_out '^   5  MPI_.*'
run "$pclscope" inspect "$dump" calls --limit 1
[ "$(grep -c -e ' halo.cpp:42' "$folder/out")" -eq 1 ] || fail "one call site"

# --- evolution, order, delays ---
run "$pclscope" inspect "$dump" evolution
expect_out 'region 7, ranks 3-5: 100,000 messages'
expect_out 'growth ... .*12:35:09.039Z'
expect_out 'highest 10.0x'
run "$pclscope" inspect "$dump" evolution --region 7 --json
expect_json '[r["id"] for r in o["regions"]] == [7]'
expect_json '[p["kind"] for p in o["regions"][0]["periods"]] == ["steady", "growth"]'
expect_json 'len(o["regions"][0]["windows"]) == 10 and o["regions"][0]["windows"][9]["mean_ratio"] == 10'
run "$pclscope" inspect "$dump" evolution --csv
expect_out '^7,growth,1,12.25,12.5,3,'
run "$pclscope" inspect "$dump" links --json
expect_json '[(l["a"], l["b"]) for l in o["links"]] == [(1, 7), (1, 8)]'
run "$pclscope" inspect "$dump" links --region 7 --csv
expect_out '^1,7,600,'
[ "$(wc -l <"$folder/out")" -eq 2 ] || fail "one row and a title"
run "$pclscope" inspect "$dump" regions
expect_out 'growing since 12.2 s'
expect_out '^1 - 7 '
run "$pclscope" inspect "$dump" regions --cut 3 --json
expect_json '[r["ranks"] for r in o["regions"]] == [[0, 1, 2], [3, 4], [5]] and o["regions"][0]["messages"] == 34'
expect_json 'o["partial"] in (True, False)'
expect_json 'sum(r["messages"] for r in o["regions"]) + sum(l["messages"] for l in o["links"]) == 100'
run "$pclscope" inspect "$dump" regions --cut-height 0.6
expect_out ' 3,4 '
run "$pclscope" inspect "$dump" dag --from 10ms --to 20ms --json
expect_status 0
expect_json 'o["messages"] == 10 and len(o["edges"]) == 10 and all(e["from"] < e["to"] for e in o["edges"])'
expect_json 'o["from_s"] == 0.01 and o["ranks"][0]["node"] == "n1" and not o["partial"] and o["why_partial"] is None'
run "$pclscope" inspect "$dump" dag --region 7 --from 0 --to 50ms
expect_out '^region 7, 0 s to 50.0 ms: 16 messages of 3 ranks'
expect_out 'rank:received>sent'
run "$pclscope" inspect "$dump" dag --region 7 --from 0 --to 50ms --fold --json
expect_json 'len(o["nodes"]) == 3'
run "$pclscope" inspect "$dump" dag --rank 0,1 --from -20 --to 50ms --dot
expect_out '^digraph'
run "$pclscope" inspect "$dump" dag --limit 30 --json
expect_status 0
expect_err 'not all is known: there are 70 more messages'
expect_json 'o["partial"] and o["messages"] == 30 and o["messages_missing"] == 70 and "70 more" in o["why_partial"]'
run "$pclscope" inspect "$dump" delays
expect_out '3.25 s  *5  *7  halo.cpp:42  '
run "$pclscope" inspect "$dump" delays --json
expect_json 'o["delays"][0]["rank"] == 5 and o["delays"][0]["site"] == "/src/halo.cpp:42"'
expect_json 'o["totals"]["messages_left_out"] == 0 and not o["partial"]'
run "$pclscope" inspect "$dump" delays --from 0 --to 50ms --json
expect_status 0
expect_json 'o["totals"]["waits"] >= 15 and o["delays"][0]["rank"] == 5'
run "$pclscope" inspect "$dump" delays --csv --limit 1
expect_out '^5,7,/src/halo.cpp:42,'
run "$pclscope" inspect "$dump" path --from 0 --to 50ms --json
expect_status 0
expect_json 'o["steps"]'
expect_json 'abs(sum(s["end_s"] - s["begin_s"] for s in o["steps"]) - (o["end_s"] - o["begin_s"])) < 1e-6'
run "$pclscope" inspect "$dump" path
expect_out '^critical path from '
run "$pclscope" inspect "$dump" collectives
expect_out '1,000 operations, 6,000 calls, waited 3.50 s'
expect_out 'MPI_Barrier  *3  *18  *15.0 ms  *1.00 ms  *rank 5, 15.0 ms'
run "$pclscope" inspect "$dump" collectives --from 15ms --to 25ms --rank 0-2 --json
expect_json '[(f["function"], f["operations"], f["calls"]) for f in o["functions"]] == [("MPI_Barrier", 1, 3)]'
expect_json '[f["awaited_rank"] for f in o["functions"]] == [5]'
run "$pclscope" inspect "$dump" messages --from 50ms --to 51ms --json
expect_json '[m["tag"] for m in o["messages"]] == [50]'

# --- JSON and CSV ---
run "$pclscope" inspect "$dump" calls --json
expect_json '[s["sites"] for s in o["sites"]] == [[1, 3], [2], [4], [0]] and o["sites"][0]["line"] == 42'
expect_json 'o["sites"][0]["sends"] == 100 and o["sites"][0]["lost_s"] == 2.25 and o["sites"][1]["waited_s"] == 2'
expect_json 'o["sites"][1]["file"] is None and o["sites"][1]["offset"] == 0x1001'
expect_json 'o["sites"][1]["call"] == "MPI_Recv"'
expect_json 'o["functions"][0]["inside_s"] == 30 and len(o["functions"][1]["history_share"]) == 2 and o["inside"] == []'
expect_json '[m["site"] for m in o["deadlocks"][0]["members"]] == ["/src/halo.cpp:42", "/opt/libhalo.so+0x1001"]'
run "$pclscope" inspect "$cut" calls --json --rank 4
expect_json '[r["rank"] for r in o["inside"]] == [4]'
expect_json '[(s["sites"], s["sends"] + s["receives"]) for s in o["sites"]] == [([2], 33), ([1, 3], 33)]'
run "$pclscope" inspect "$dump" calls --csv
expect_out '^sites,function,file,line,'
expect_out '^1 3,Grid::exchange(int),/src/halo.cpp,42,'
run "$pclscope" inspect "$dump" messages --csv --limit 1
expect_out ',/src/halo.cpp:42,/opt/libhalo.so+0x1001,0,0$'
run "$pclscope" inspect "$dump" --json
expect_json 'o["application"]["ranks"] == 6 and o["application"]["nodes"] == 2 and o["messages"]["matched"] == 123456'
expect_json 'o["time"]["start"] == "2024-05-01T12:34:56.789Z" and "live" not in o'
expect_json 'o["regions"][1]["ranks"] == [3, 4, 5]'
run "$pclscope" inspect "$dump" regions --json --rank 4
expect_json '[r["id"] for r in o["regions"]] == [7]'
run "$pclscope" inspect "$dump" ranks --json --rank 0-1,5
expect_json '[r["rank"] for r in o["ranks"]] == [0, 1, 5]'
run "$pclscope" inspect "$dump" criteria --json --limit 2
expect_json 'len(o["criteria"]) == 2 and o["criteria"][1]["median_s"] == 4e-06'
run "$pclscope" inspect "$dump" messages --json
expect_json 'o["total"] == 100 and [m["tag"] for m in o["messages"]] == list(range(100))'
expect_json 'o["messages"][50]["time_s"] == 0.000102 and abs(o["messages"][50]["ratio"] - 51) < 1e-9'
run "$pclscope" inspect "$dump" messages --json --rank 2 --limit 3
expect_json '[m["tag"] for m in o["messages"]] == [1, 2, 7]'
run "$pclscope" inspect "$dump" messages --csv
[ "$(wc -l <"$folder/out")" -eq 101 ] || fail "100 rows and a title"
run "$pclscope" inspect "$dump" regions --csv
expect_out '^7,3 4 5,0.0,-1.0,-1,100000,'
run "$pclscope" inspect "$dump" --csv
expect_out '^messages.matched,123456$'

# --- incomplete dumps are shown, and said to be incomplete ---
for topic in summary regions links messages ranks calls criteria evolution dag delays; do
  run "$pclscope" inspect "$cut" $topic --json
  expect_status 0
  expect_err "incomplete"
  [ "$(wc -l <"$folder/err")" -eq 1 ] || fail "not one line"
  expect_json 'True'
done
for question in evolution dag "dag --fold" "dag --from 10ms" delays "delays --from 10ms" path collectives \
    "regions --cut 3"; do
  read -ra words <<<"$question"
  run "$pclscope" inspect "$cut" "${words[@]}" --json  # that it is partial is in the object too
  expect_status 0
  expect_json 'o["partial"] and "cut off" in o["why_partial"]'
  run "$pclscope" inspect "$dropped" "${words[@]}" --json
  expect_status 0
  [ "$(wc -l <"$folder/err")" -eq 1 ] || fail "not one line"
  expect_err 'not all is known: .*1,234 events were dropped'
  expect_json 'o["partial"] and "1,234 events were dropped" in o["why_partial"]'
  run "$pclscope" inspect "$dump" "${words[@]}" --json
  expect_json 'not o["partial"] and o["why_partial"] is None'
  expect_no_err
done
run "$pclscope" inspect "$dropped" dag --limit 30 --json
expect_json '"70 more" in o["why_partial"] and "dropped" in o["why_partial"]'
run "$pclscope" inspect "$cut" dag --dot
expect_out 'partial: .*cut off'

# --- readers that go away, disks that are full ---
"$pclscope" inspect "$dump" messages --csv 2>"$folder/err" | head -1 >"$folder/out"
expect_no_err
if [ -w /dev/full ]; then
  "$pclscope" inspect "$dump" --json >/dev/full 2>"$folder/err"
  status=$?
  expect_status 1
  expect_err "cannot write"
fi
finish
