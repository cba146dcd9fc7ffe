#!/usr/bin/env bash
# Tests/Service/bonjour.sh PROGRAM [--records]: the announcement of `PROGRAM run` on the network, with Debian's avahi-daemon on a D-Bus
# and in a network of its own: nothing of this machine is touched, nothing is announced outside. Where CLIENT_TERMINAL is the program of
# Examples/client-terminal, it must discover what is announced.
#
# One line a check, then "N passed, N failed, N skipped". Exit status 0 when none failed. With --records: what is announced for a robot, a leg
# and a sprinkler, a type and its TXT record a line, instead of checks.
set -euo pipefail

if [ "${1-}" = --inside ]; then
  program=$2 what=${3-}
else
  program=$(readlink -f "${1:?usage: Tests/Service/bonjour.sh PROGRAM [--records]}")
  skip() { echo "skipped: $*"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
  PATH=$PATH:/usr/sbin:/sbin
  for tool in avahi-daemon:avahi-daemon avahi-browse:avahi-utils dbus-daemon:dbus-daemon ip:iproute2 curl:curl \
    unshare:util-linux; do
    command -v "${tool%%:*}" > /dev/null || skip "${tool%%:*} is not installed (Debian: ${tool#*:})"
  done
  ldd "$program" | grep libsystemd > /dev/null || skip "this build has no announcement: trait Bonjour is off"
  spaces=(--mount --net --pid --fork --kill-child)
  [ "$(id -u)" = 0 ] || spaces+=(--map-root-user)
  unshare "${spaces[@]}" true 2> /dev/null || skip "this machine grants no namespaces (unshare)"
  exec unshare "${spaces[@]}" "$(readlink -f "$0")" --inside "$program" "${2-}"
fi

# ---- in namespaces of our own: what is started here ends with us ----
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mount -t tmpfs tmpfs /run
ip link set lo up
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$folder/bus
# Whatever is kept is kept here.
export HOME=$folder/home XDG_STATE_HOME=$folder/home/.local/state XDG_CONFIG_HOME=$folder/home/.config XDG_CACHE_HOME=$folder/home/.cache \
  XDG_RUNTIME_DIR=$folder/home/run
mkdir -p "$XDG_RUNTIME_DIR"
unset NOTIFY_SOCKET TACTUS_TOKEN
passed=0 failed=0

check() { # TITLE COMMAND…: 20 tries, since what is awaited comes over the network
  local title=$1 try
  shift
  for try in {1..20}; do
    if "$@"; then
      echo "passed: $title"
      passed=$((passed + 1))
      return
    fi
    read -rt 0.5 <> <(:) || true
  done
  echo "failed: $title"
  tail -n 5 "$folder"/*.log || true
  failed=$((failed + 1))
}

cat > "$folder/bus.conf" << CONF
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path=$folder/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/><allow user="*"/>
  </policy>
</busconfig>
CONF
printf '[server]\nuse-ipv4=yes\nuse-ipv6=no\nhost-name=bench\nallow-interfaces=lo\nallow-point-to-point=yes\n[wide-area]\nenable-wide-area=no\n' \
  > "$folder/avahi.conf"

# The network is our own, and so are its ports.
configure() { # NAME ADDRESS PORT [LINE…]: a robot, and what the lines say
  cat > "$folder/$1.yaml" << CONF
network: { bind_address: $2, motor_udp_port: 0, http_port: $3 }
motors: { backend: sim }
$(printf '%s\n' "${@:4}")
logging: { level: debug }
service: { token_file: $folder/$1.tokens }
CONF
}
start() { # NAME: its process id in $started
  "$program" run --config "$folder/$1.yaml" 2> "$folder/$1.log" > /dev/null &
  started=$!
}
start_avahi() {
  avahi-daemon --no-drop-root --no-chroot --no-rlimits -f "$folder/avahi.conf" 2> "$folder/avahi.log" &
  avahi=$!
}
says() { grep -q "$2" "$folder/$1.log"; }
browse() { avahi-browse -rpt _tactus._tcp 2> /dev/null || true; }
shows() { grep -q "$1" <<< "$(browse)"; }
shows_not() { ! shows "$1"; }
resolved() { # the one that is called "Tactus on HOST"
  local line
  line=$(browse | grep '^=' | grep "Tactus\\\\032on\\\\032$(hostname -s);") || return 1
  [[ $line == *";$port;"* && $line == *'"api=/api"'* && $line == *'"tls=0"'* && $line == *'"systems=robot"'* \
    && $line == *'"version='* ]]
}

discovered() { # by TactusClient, which asks without Avahi of its own
  grep -q "^Tactus on $(hostname -s): http://127.0.0.1:$port api=\"/api\" systems=\"robot\" tls=\"0\" version=" <<< "$("$CLIENT_TERMINAL" discover 1)"
}

# sprinkler_resolved: as a phone app looks for it.
sprinkler_resolved() {
  local line
  line=$(avahi-browse -rpt _sprinkler._tcp 2> /dev/null | grep '^=' | grep "Sprinkler\\\\032on\\\\032$(hostname -s);") || return 1
  [[ $line == *";8104;"* && $line == *'"path=/api/status"'* && $line == *'"tls=0"'* && $line == *'"version='* ]]
}
sprinkler_answers() { # at the address, port and path that were resolved
  local line address path
  line=$(avahi-browse -rpt _sprinkler._tcp 2> /dev/null | grep '^=' | head -n 1) || return 1
  address=$(cut -d';' -f8 <<< "$line")
  path=$(sed 's/.*"path=\([^"]*\)".*/\1/' <<< "$line")
  curl -sf -H "Authorization: Bearer $TACTUS_TOKEN" "http://$address:$(cut -d';' -f9 <<< "$line")$path" | grep -q '"zones":'
}
sprinkler_gone() { ! avahi-browse -rpt _sprinkler._tcp 2> /dev/null | grep -q Sprinkler; }

port=8101
configure one 0.0.0.0 $port
configure two 0.0.0.0 8102
configure loopback 127.0.0.1 8103
configure garden 0.0.0.0 8104 "sprinkler: { backend: sim, zones: [{ pin: 17 }] }" "store: { folder: $folder/state }"

if [ "$what" = --records ]; then
  configure all 0.0.0.0 8104 "leg: { backend: sim }" "sprinkler: { backend: sim, zones: [{ pin: 17 }] }" "store: { folder: $folder/state }"
  dbus-daemon --config-file="$folder/bus.conf" --nofork 2> "$folder/bus.log" &
  check "(a D-Bus of our own)" test -S "$folder/bus" >&2
  start_avahi
  start all
  check "announced" sprinkler_resolved >&2
  for type in _tactus._tcp _sprinkler._tcp; do
    avahi-browse -rpt "$type" 2> /dev/null | grep '^=' | cut -d';' -f4,5,10- | sort -u | sed "s/$(hostname -s)/HOST/"
  done
  kill -TERM "$started" && wait "$started" || true
  exit "$failed"
fi

start one
first=$started
check "no D-Bus: told in one debug line, the program runs" says one 'not announced: no system bus'
kill -TERM "$first" && wait "$first" || true

dbus-daemon --config-file="$folder/bus.conf" --nofork 2> "$folder/bus.log" &
check "(a D-Bus of our own)" test -S "$folder/bus"
start one
first=$started
check "no Avahi: told in one debug line, the program runs" says one 'not announced: Avahi is not running'
start_avahi
check "Avahi comes: announced" says one 'announced as'
check "browsed and resolved: name, port, TXT record" resolved
[ -z "${CLIENT_TERMINAL-}" ] || check "client-terminal discovers it: name, address, port, TXT record" discovered
start two
second=$started
check "the same name a second time: the newcomer takes #2" shows 'Tactus\\032on\\032.*\\032\\0352'
kill -TERM "$avahi" && wait "$avahi" || true
check "Avahi goes: told" says one 'not announced: Avahi has gone'
start_avahi
check "Avahi comes back: announced again" resolved
kill -TERM "$first" && wait "$first" || true
check "the program stops: withdrawn" shows_not "Tactus\\\\032on\\\\032$(hostname -s);"
kill -TERM "$second" && wait "$second" || true
check "a robot alone: no sprinkler is announced" sprinkler_gone
export TACTUS_TOKEN=0123456789abcdef0123456789abcdef
start garden
check "with a sprinkler: _sprinkler._tcp is browsed and resolved, its path in the TXT record" sprinkler_resolved
check "where it was resolved, /api/status answers" sprinkler_answers
kill -TERM "$started" && wait "$started" || true
check "the sprinkler's daemon stops: withdrawn" sprinkler_gone
start loopback
check "(it runs)" says loopback '"msg":"started"'
check "loopback only: nothing is announced" shows_not Tactus
kill -TERM "$started" && wait "$started" || true

echo "$passed passed, $failed failed, 0 skipped"
((failed == 0))
