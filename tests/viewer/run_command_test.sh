#!/bin/bash
# pclscope run with an mpirun that only writes down how it was called: options, environment, statuses, signals, tidying.
# Depends on: nothing.
# shellcheck source=expect.sh
. "$(dirname "$0")/expect.sh"
# An installation of our own: the real pclscope, and pieces that only have to be there.
mkdir -p "$folder/bin" "$folder/lib" "$folder/path" "$folder/mpich"
cp "$pclscope" "$folder/bin/pclscope"
pclscope=$folder/bin/pclscope
for piece in bin/pclscope-rank bin/pclscope-aggregator-openmpi bin/pclscope-aggregator-mpich \
    lib/libpclscope-openmpi.so lib/libpclscope-mpich.so; do
  printf '#!/bin/sh\n' >"$folder/$piece"
  chmod +x "$folder/$piece"
done
# Writes its arguments one per line and its environment, then does what the file "act" says.
cat >"$folder/path/mpirun.openmpi" <<SCRIPT
#!/bin/bash
printf '%s\n' "\$@" >"$folder/arguments"
env >"$folder/environment"
ls /dev/shm >"$folder/shm"
[ -f "$folder/act" ] && . "$folder/act"
exit 0
SCRIPT
chmod +x "$folder/path/mpirun.openmpi"
cp "$folder/path/mpirun.openmpi" "$folder/path/mpirun.mpich"
ln -s mpirun.openmpi "$folder/path/mpirun"
PATH=$folder/path:$PATH
app=$folder/app
cp "$(type -P true)" "$app"
token() { sed -n 's/^PCLSCOPE_JOB=//p' "$folder/environment"; }
none_started() { [ ! -e "$folder/arguments" ] || fail "something was started"; }
nothing_left() {
  [ -z "$(find /dev/shm -maxdepth 1 -name "*$(token)*")" ] || fail "files left in /dev/shm"
  [ -z "$(find "$folder/run" -type f -o -type s)" ] || fail "left: $(find "$folder/run" -type f -o -type s)"
}

# --- refused before anything starts ---
refused 2 "-n" "$pclscope" run -- "$app"
refused 2 "-n" "$pclscope" run -n 0 -- "$app"
refused 2 "many" "$pclscope" run -n many -- "$app"
refused 2 "application" "$pclscope" run -n 2
refused 2 "application" "$pclscope" run -n 2 --
refused 2 "--frobnicate" "$pclscope" run -n 2 --frobnicate -- "$app"
refused 2 "5ms" "$pclscope" run -n 2 --window 5ms -- "$app"
refused 2 "61s" "$pclscope" run -n 2 --window 61s -- "$app"
refused 2 "'100'" "$pclscope" run -n 2 --window 100 -- "$app"
refused 2 "lam" "$pclscope" run -n 2 --mpi lam -- "$app"
refused 2 "pigeon" "$pclscope" run -n 2 --publish pigeon -- "$app"
refused 2 "quote" "$pclscope" run -n 2 --launcher-args "'open" -- "$app"
refused 2 "-np" "$pclscope" run -n 2 --launcher-args "-np 3" -- "$app"
refused 2 "maybe" "$pclscope" run -n 2 --overflow maybe -- "$app"
refused 2 "sundial" "$pclscope" run -n 2 --clock sundial -- "$app"
refused 2 "--dump" "$pclscope" run -n 2 --dump "" -- "$app"
refused 127 "no-such-program" "$pclscope" run -n 2 -- no-such-program
echo data >"$folder/data"
refused 126 "$folder/data" "$pclscope" run -n 2 -- "$folder/data"
refused 1 "/no/such" "$pclscope" run -n 2 --dump /no/such/run.h5 -- "$app"
refused 1 "$folder/run" "$pclscope" run -n 2 --dump "$folder/run" -- "$app"
refused 1 "/dev/null" "$pclscope" run -n 2 --dump /dev/null -- "$app"
refused 1 "launcher" "$pclscope" run -n 2 --quiet --launcher /no/mpirun -- "$app"
chmod 755 "$folder/run"
mkdir -m 755 "$folder/run/pclscope"
refused 1 "$folder/run/pclscope" "$pclscope" run -n 2 --quiet -- "$app"
rmdir "$folder/run/pclscope"
chmod 700 "$folder/run"
mv "$folder/bin/pclscope-rank" "$folder/bin/away"
refused 1 "pclscope-rank" "$pclscope" run -n 2 --quiet -- "$app"
mv "$folder/bin/away" "$folder/bin/pclscope-rank"
for mpi in openmpi mpich; do
  other=$([ $mpi = openmpi ] && echo mpich || echo openmpi)
  [ -x "$helpers/viewer_links_$mpi" ] || continue
  refused 2 "--mpi $other" "$pclscope" run -n 2 --mpi "$other" -- "$helpers/viewer_links_$mpi"
done
refused 2 "named twice" "$pclscope" run -n 2 --quiet --hosts a,a -- "$app"
refused 2 "-n asks for 3" "$pclscope" run -n 3 --quiet --hosts a:1,b:1 -- "$app"
refused 2 "'a:x'" "$pclscope" run -n 2 --quiet --hosts a:x,b -- "$app"
refused 2 "cannot be read" "$pclscope" run -n 2 --quiet --mpi openmpi --launcher-args "--hostfile /no/hosts" -- "$app"
refused 2 "--print" "$pclscope" run -n 2 --quiet --mpi openmpi --hosts a:2,b --launcher srun -- "$app"
none_started

# --- --print starts nothing ---
run "$pclscope" run -n 3 --print --quiet --mpi openmpi --hosts a:2,b:2 --launcher srun -- "$app"
expect_status 0
expect_out "srun --ntasks=5 --nodes=2 .*--distribution=arbitrary"
run "$pclscope" run -n 3 --print --quiet --mpi mpich --hosts a:2,b:2 -- "$app"
expect_out "PCLSCOPE_TOOL_RANKS=2 .*mpirun.mpich -hosts a:2,b:1,a:1,b:1 -n 3 "
run "$pclscope" run -n 3 --print --quiet --mpi mpich --dump "$folder/x.h5" -- "$app" "two words"
expect_status 0
expect_out "PCLSCOPE_RANKS=3 .*mpirun.mpich -n 3 $folder/bin/pclscope-rank $app 'two words' : -n 1 "
expect_out "--dump $folder/x.h5"
run "$pclscope" run -np 3 --print --quiet --mpi mpich "$app" -np 5
expect_status 0
expect_out "PCLSCOPE_RANKS=3 .*-n 3 $folder/bin/pclscope-rank $app -np 5 : -n 1 "
none_started
[ ! -e "$folder/x.h5" ] || fail "a dump was made"

# --- what the launcher gets ---
(cd "$folder" && "$pclscope" run -n 2 --dump run.h5 --window 0.25s --launcher-args "--mca btl self" \
  --launcher-args "-v" --ring-events 4096 --ring-limit 8192 --stacks 3 --ring-dir /tmp \
  --overflow drop --overflow-wait 7 \
  --clock monotonic --mpi openmpi -- ./app -n "two words" -- x) \
  >"$folder/out" 2>"$folder/err"
status=$?
expect_status 0
expect_no_out
expect_err '^pclscope: job app-[0-9]* starts.*pclscope watch app-'
tr '\n' '|' <"$folder/arguments" >"$folder/out"
expect_out "|--mca|btl|self|-v|"
expect_out "|-n|2|$folder/bin/pclscope-rank|./app|-n|two words|--|x|:|-n|1|"
expect_out "|$folder/bin/pclscope-rank|--aggregator|$folder/bin/pclscope-aggregator-openmpi|--job|app-[0-9]*|--command|"
expect_out "|--dump|$folder/run.h5|--window-ms|250|--publish|ipc://$folder/run/pclscope/app-[0-9]*|"
for pair in RANKS=2 TOOL_RANKS=1 "PRELOAD=$folder/lib/libpclscope-openmpi.so" RING_EVENTS=4096 RING_LIMIT=8192 \
    STACKS=3 \
    RING_DIR=/tmp OVERFLOW=drop OVERFLOW_WAIT_MS=7 CLOCK=monotonic; do
  grep -q -x "PCLSCOPE_$pair" "$folder/environment" || fail "no PCLSCOPE_$pair"
done
token | grep -q -x '[0-9a-f]\{32\}' || fail "no token"
grep -q "$(token)" "$folder/arguments" && fail "the token stands in a command line that everybody can read"
grep -q -x "pclscope-$(token)-[0-9a-f]\{8\}-board" "$folder/shm" || fail "no board while the job ran"
nothing_left

# --- the application without "--", and options after its name belong to it ---
run "$pclscope" run --quiet -n2 --mpi=mpich "$app" --dump nothing
expect_status 0
expect_no_err
tr '\n' '|' <"$folder/arguments" >"$folder/out"
expect_out "^-n|2|$folder/bin/pclscope-rank|$app|--dump|nothing|:|"

# --- which MPI ---
run "$pclscope" run -n 1 -- "$app"
expect_status 0
expect_err "links no MPI"
printf '#!/bin/sh\n' >"$folder/script"
chmod +x "$folder/script"
run "$pclscope" run -n 1 -- "$folder/script"
expect_err "cannot tell which MPI"
for mpi in openmpi mpich; do
  [ -x "$helpers/viewer_links_$mpi" ] || continue
  run "$pclscope" run -n 1 --quiet -- "$helpers/viewer_links_$mpi"
  expect_status 0
  expect_no_err
  grep -q "aggregator-$mpi" "$folder/arguments" || fail "not $mpi"
done
printf '#!/bin/sh\necho srun\n' >"$folder/strange"
chmod +x "$folder/strange"
refused 1 "--mpi" "$pclscope" run -n 1 --quiet --launcher "$folder/strange" -- "$folder/script"
run "$pclscope" run -n 1 --quiet --mpi openmpi --launcher "$folder/strange" -- "$folder/script"
expect_status 0
refused 1 "no mpirun of MPICH" env PATH=/nowhere "$pclscope" run -n 1 --mpi mpich -- "$app"

# --- statuses and signals come through ---
quiet=("$pclscope" run --quiet -n 1 --mpi openmpi -- "$app")
for code in 0 1 2 3 42 255; do
  echo "exit $code" >"$folder/act"
  run "${quiet[@]}"
  expect_status $code
  expect_no_err
done
echo 'kill -KILL $$' >"$folder/act"
run "${quiet[@]}"
expect_status 137
nothing_left
# Once: a second one would come within 0.3 s; on a busy machine it may be missed, but what is right is never called
# wrong.
for signal in INT TERM HUP; do
  echo "n=0; trap 'n=\$((n+1)); [ \$n = 1 ] && (sleep 0.3; touch $folder/more) & ' $signal; touch $folder/ready
    for i in \$(seq 4800); do sleep 0.05; [ -e $folder/more ] && break; done; exit \$((50 + n))" >"$folder/act"
  rm -f "$folder/ready" "$folder/more"
  # A background job of a shell ignores SIGINT for good, and one of nohup SIGHUP; env gives the defaults back.
  env --default-signal=INT,TERM,HUP "${quiet[@]}" >"$folder/out" 2>"$folder/err" </dev/null &
  pid=$!
  until_true [ -e "$folder/ready" ]
  kill -$signal $pid
  wait $pid
  status=$?
  expect_status 51  # once
done

# --- standard input goes on ---
echo "cat >$folder/input" >"$folder/act"
echo hello | "${quiet[@]}" 2>"$folder/err"
[ "$(cat "$folder/input")" = hello ] || fail "no input"

# --- a dead pclscope takes the launcher with it ---
echo "trap 'rm $folder/alive; exit 1' TERM; touch $folder/alive
  for i in \$(seq 2400); do sleep 0.05; done" >"$folder/act"
"${quiet[@]}" >"$folder/out" 2>"$folder/err" </dev/null &
pid=$!
until_true [ -e "$folder/alive" ]
kill -KILL $pid
wait $pid 2>/dev/null
until_true [ ! -e "$folder/alive" ]  # the launcher has noticed
rm -f /dev/shm/pclscope-"$(token)"-*

# --- a job that published, with and without an orderly end ---
# The fake job takes the place of the aggregator: it finds name and endpoint in the arguments.
cat >"$folder/act" <<'SCRIPT'
job=$(printf '%s\n' "$@" | sed -n '/^--job$/{n;p}' | tail -1)
endpoint=$(printf '%s\n' "$@" | sed -n '/^--publish$/{n;p}' | tail -1)
SCRIPT
# It ends when pclscope listens to it and has had time to hear of it.
cat >>"$folder/act" <<'SCRIPT'
is_heard() {
  awk -v begin="${endpoint#ipc://}" '$6 == "03" && index($8, begin) == 1 { heard = 1 } END { exit !heard }' \
    /proc/net/unix
}
SCRIPT
echo "(for i in \$(seq 4800); do is_heard && break; sleep 0.05; done; sleep 2; touch $folder/enough) &
  \"$helpers/viewer_fake_job\" \$job \$endpoint $folder/enough \$how" >>"$folder/act"
how=finish run env how=finish "$pclscope" run -n 1 --mpi openmpi -- "$app"
expect_status 0
expect_err 'messages matched'
expect_err 'worst region 7'
nothing_left
rm -f "$folder/enough"
run env how=die "$pclscope" run -n 1 --mpi openmpi -- "$app"
nothing_left
finish
