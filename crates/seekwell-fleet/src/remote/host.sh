# What runs on a host. $1: the version wanted, empty to copy the program in any case; the others are
# the program's arguments. Standard input: the program where it is needed; its end says that nobody
# waits any more. Standard output: one word a line, and files as `file NAME SIZE` and their bytes.
umask 077
wanted=$1
shift
dir=$(mktemp -d) || { echo no-room; exit 0; }
run='' watch=''
leave() {
  trap '' HUP INT TERM PIPE
  [ -z "$run" ] || { kill -TERM "$run" 2>/dev/null; wait "$run"; }
  [ -z "$watch" ] || kill "$watch" 2>/dev/null
  rm -rf "$dir"
}
trap leave EXIT
trap 'exit 1' HUP INT TERM PIPE

program=$(command -v seekwell)
if [ -z "$wanted" ] || [ "$("$program" --version 2>/dev/null)" != "$wanted" ]; then
  program=$dir/seekwell
  echo need
  read -r size || exit 0
  head -c "$size" >"$program"
  [ "$(($(wc -c <"$program")))" -eq "$size" ] || { echo no-room; exit 0; }
  chmod 700 "$program"
  "$program" --version >/dev/null || { echo no-start; exit 0; }
fi

echo running
exec 3<&0
SEEKWELL_RUNS=$dir/runs "$program" "$@" </dev/null >"$dir/output" 3<&- &
run=$!
{ cat <&3; kill -TERM "$run"; } >/dev/null 2>&1 &
watch=$!
wait "$run"
status=$?
run=''

file() {
  printf 'file %s %s\n' "$1" "$(($(wc -c <"$2")))"
  cat "$2"
}
file output "$dir/output"
for document in "$dir"/runs/*/run.json; do
  [ -e "$document" ] || continue
  file detail "${document%/*}/detail.json"
  file run "$document"
done
echo "end $status"
