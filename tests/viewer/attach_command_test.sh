#!/bin/bash
# shellcheck disable=SC2317  # functions are called by until_true
# pclscope attach, detach and key where nothing is there to attach to; names of nodes; the lines for srun.
# Depends on: nothing.
# shellcheck source=expect.sh
. "$(dirname "$0")/expect.sh"

# --- attach and detach ---
refused 1 "no-such-job" "$pclscope" attach no-such-job-0
refused 1 "no-such-job" "$pclscope" detach no-such-job-0
refused 2 "--frobnicate" "$pclscope" attach --frobnicate
refused 2 "5ms" "$pclscope" attach x --window 5ms
refused 2 "pigeon" "$pclscope" attach x --publish pigeon
refused 2 "quote" "$pclscope" attach x --launcher-args "'open"
refused 2 "extra" "$pclscope" detach x extra
for command in attach detach key; do
  run "$pclscope" $command --help
  expect_status 0
  expect_out "usage: pclscope $command"
done
# A job that was started by `pclscope run` needs no attaching.
"$helpers/viewer_fake_job" ours-1 "ipc://$folder/run/fake" "$folder/never" &
background=$!
listed() { "$pclscope" list --json | grep -q ours-1; }
until_true listed
refused 1 "recorded already" "$pclscope" attach ours-1
refused 1 "ours-1" "$pclscope" detach ours-1
run "$pclscope" list
expect_out "job .*state .*ranks"
expect_out "ours-1  *recorded"
run "$pclscope" list --json
expect_json '[j["state"] for j in o["jobs"] if j["name"] == "ours-1"] == ["recorded"]'
expect_json '"dormant" in o'

# --- key ---
export PCLSCOPE_KEY_FILE=$folder/curve.key
run "$pclscope" key
expect_status 0
expect_no_err
expect_out "file  *$folder/curve.key"
expect_out "public  *[^ ]\{40\}$"
[ "$(stat -c %a "$folder/curve.key")" = 600 ] || fail "the key file can be read by others"
while read -r name key; do
  case $name in *-secret) grep -q -F -e "$key" "$folder/out" && fail "a secret key was printed" ;; esac
done <"$folder/curve.key"
cp "$folder/out" "$folder/first"
run "$pclscope" key
cmp -s "$folder/out" "$folder/first" || fail "the keys changed by looking at them"
run "$pclscope" key --path
expect_out "^$folder/curve.key$"
[ "$(wc -l <"$folder/out")" -eq 1 ] || fail "more than the path"
run "$pclscope" key --new
expect_status 0
expect_err "keep the old"
cmp -s "$folder/out" "$folder/first" && fail "the keys are still the old ones"
[ "$(stat -c %a "$folder/curve.key")" = 600 ] || fail "the new key file can be read by others"
chmod 644 "$folder/curve.key"
refused 1 "$folder/curve.key" "$pclscope" key
PCLSCOPE_KEY_FILE=/no/such/place/key refused 1 "/no/such/place" "$pclscope" key
finish
