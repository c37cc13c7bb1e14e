#!/bin/sh
# A fleet's ssh without a network: flood sends the run in $RUN again and again, hang says nothing and
# leaves a process behind that keeps the connection open, the others are this machine.
for command; do :; done
while [ "$1" != -- ]; do shift; done
file() { echo "file $1 $(($(wc -c <"$RUN/$1.json")))"; cat "$RUN/$1.json"; }
case $2 in
flood) echo running; while file detail && file run; do :; done 2>/dev/null ;;
hang) setsid sleep 1000 & echo $! >"$RUN/held"; exec sleep 1000 ;;
*) exec sh -c "$command" ;;
esac
