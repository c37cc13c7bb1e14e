# A fleet on one machine: an sshd for each sshd-ADDRESS of folder $1, in namespaces of its own, which
# end with this shell. The other words are the command; $stop hosts that run make it be interrupted.
# Afterwards $1/left has what the command left on the hosts.
fleet=$1
shift
mount -t tmpfs none /run && mkdir /run/sshd
ip link set lo up
for small in "$fleet"/*/small; do
  [ -e "$small" ] && mount -t tmpfs -o size=512k none "$small/../tmp"
done
for config in "$fleet"/sshd-*; do
  /usr/sbin/sshd -f "$config" -E "$fleet/log" || exit 99
  # It writes its number once it listens.
  host=${config#"$fleet"/sshd-}
  until [ -s "$fleet/$host/pid" ]; do sleep 0.05; done
done
"$@" &
run=$!
if [ -n "$stop" ]; then
  until [ "$(ls "$fleet"/*/tmp/*/runs/*/.lock 2>/dev/null | wc -l)" -ge "$stop" ]; do
    sleep 0.1
  done
  kill -INT "$run"
fi
wait "$run"
status=$?
# A host that lost its connection needs a moment to notice.
for _ in $(seq 600); do
  find "$fleet"/*/tmp -mindepth 1 >"$fleet/left"
  [ -s "$fleet/left" ] || break
  sleep 0.1
done
exit $status
