# Sourced by scripts/rig: two emulated arm64 machines, both with Debian 12's PREEMPT_RT kernel and QEMU 10 of bookworm-backports.
# `arm64`, QEMU's virt, runs Debian's systemd; `pi`, its raspi3b, has the drivers i2c-bcm2835 and pinctrl-bcm2835 over
# controllers that behave. Everything is unpacked below .build/rig/arm64, nothing is installed. What cannot be had here is said,
# as a skipped check.
# shellcheck shell=bash
arm64=$rig/arm64

# unavailable REASON: the whole part is skipped.
unavailable() {
  echo "skipped: $part: $*"
  echo "0 passed, 0 failed, 1 skipped"
  exit 75
}

# with_apt ARCHITECTURE SUITE… -- CMD…: CMD with options of an apt that has a state of its own.
with_apt() {
  local state=$arm64/apt-$1 architecture=$1 options=()
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
  : > "$state/sources.list"
  while shift && [[ $1 != -- ]]; do
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg arch=$architecture] $mirror $1 main" >> "$state/sources.list"
  done
  shift
  options=(-q -o Dir::State::Lists="$state/lists" -o Dir::Cache="$state/cache" -o Dir::Etc::SourceList="$state/sources.list"
    -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Extended_States="$state/extended" -o APT::Install-Recommends=0
    -o APT::Sandbox::User=root -o Debug::NoLocking=1 -o Acquire::Languages=none -o Acquire::Retries=3
    -o APT::Architecture="$architecture" -o APT::Architectures="$architecture")
  # Of another architecture nothing is installed here; of ours, what is here need not be fetched.
  [[ $architecture == amd64 ]] || options+=(-o Dir::State::Status=/dev/null)
  "$1" "${options[@]}" "${@:2}"
}

# fetch ARCHITECTURE SUITE… -- PACKAGE…: their files, in the present folder, and nothing that they need.
fetch() {
  local architecture=$1 suites=()
  while shift && [[ $1 != -- ]]; do suites+=("$1"); done
  shift
  with_apt "$architecture" "${suites[@]}" -- apt-get update > "$rig/apt.log" 2>&1 &&
    with_apt "$architecture" "${suites[@]}" -- apt-get download "$@" >> "$rig/apt.log" 2>&1 ||
    unavailable "Debian's packages $* cannot be fetched: $(tail -n 1 "$rig/apt.log")"
}

# unpack FOLDER: every package of the present folder, into a new folder.
unpack() {
  local package
  rm -rf "$1.part"
  for package in ./*.deb; do dpkg-deb -x "$package" "$1.part"; done
  rm ./*.deb
  mv "$1.part" "$1"
}

prepare_arm64() {
  ((EUID == 0)) || unavailable "needs root, to make a root file system"
  unshare -U -m -p -f true 2> /dev/null || unavailable "this machine grants no user namespace"
  [[ -e /usr/share/keyrings/debian-archive-keyring.gpg ]] || unavailable "needs Debian's package debian-archive-keyring"
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' | sed -n 's/ bookworm$//p' | head -n 1)
  [[ -n $mirror ]] || unavailable "apt knows no mirror of Debian 12"
  # It brings what QEMU needs in libraries.
  scripts/setup qemu-system-x86 mmdebstrap > "$rig/apt.log" 2>&1 || unavailable "$(tail -n 1 "$rig/apt.log")"
  mkdir -p "$arm64/packages"
  if [[ ! -d $arm64/qemu ]]; then
    (cd "$arm64/packages" && fetch amd64 bookworm bookworm-backports -- {qemu-system-arm,qemu-system-data,qemu-user}/bookworm-backports &&
      unpack "$arm64/qemu")
  fi
  if [[ ! -d $arm64/kernel ]]; then
    (cd "$arm64/packages" && fetch arm64 bookworm -- linux-image-rt-arm64 busybox-static &&
      package=$(dpkg-deb -f linux-image-rt-arm64_*.deb Depends | sed 's/ .*//') && rm linux-image-rt-arm64_*.deb &&
      fetch arm64 bookworm -- "$package" && unpack "$arm64/kernel")
  fi
  [[ -s $arm64/root.tar ]] || make_root
  rm -rf "$arm64"/apt-*
}

# Debian 12 for arm64 with what the package depends on. Its maintainer scripts run under QEMU's user emulation, which is
# registered in a user namespace of its own: nothing stays registered here.
make_root() {
  local ready child
  echo "scripts/rig: making the root file system for arm64, once: some minutes" >&2
  ready=$(mktemp -u "$arm64/ready.XXXXXX")
  mkfifo "$ready"
  unshare --user --mount --pid --fork bash -euc '
    read -r _ < "$1"
    registry=$(mktemp -d)
    mount -t binfmt_misc none "$registry"
    magic="\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
    mask="\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
    printf "%s" ":rig-arm64:M::$magic:$mask:$2:FP" > "$registry/register"
    mount -t proc proc /proc
    shift 2
    exec "$@"' bash "$ready" "$arm64/qemu/usr/bin/qemu-aarch64" \
    mmdebstrap --architectures=arm64 --mode=root --skip=check/qemu --variant=minbase \
    --include=systemd-sysv,udev,kmod,procps,dbus,i2c-tools,libi2c0,libsqlite3-0,libmosquitto1,libssl3,libstdc++6 \
    bookworm "$arm64/root.part.tar" "deb $mirror bookworm main" > "$rig/mmdebstrap.log" 2>&1 &
  local making=$!
  until child=$(pgrep -P "$making"); do read -rt 0.1 -u 9 _ 9<> "$ready" || true; done
  echo "0 0 65536" > "/proc/$child/uid_map"
  echo "0 0 65536" > "/proc/$child/gid_map"
  echo > "$ready"
  wait "$making" || unavailable "the root file system could not be made: $(tail -n 1 "$rig/mmdebstrap.log")"
  rm "$ready"
  mv "$arm64/root.part.tar" "$arm64/root.tar"
}

# What is tested: the package of a folder (`deb`), or else the program that scripts/arm64 has built (`program`), or neither.
find_program() {
  local built=.build-arm64/aarch64-unknown-linux-gnu/release/tactus found
  program='' deb=''
  if [[ -n $packages ]]; then
    found=("$packages"/tactus_*_arm64.deb)
    [[ ${#found[@]} == 1 ]] && dpkg-deb --contents "${found[0]}" > /dev/null 2>&1 ||
      { echo "scripts/rig: $packages: expected one whole tactus_VERSION_arm64.deb, got ${found[*]##*/}" >&2; exit 66; }
    deb=${found[0]}
  elif [[ -x $built ]]; then
    program=$arm64/tactus
    llvm-objcopy --strip-all "$built" "$program" 2> /dev/null || cp "$built" "$program"
    chmod +x "$program"
  fi
}

# A package of a later version beside `this.deb`, with the same in it.
make_later() { # FOLDER
  local later=$arm64/later
  rm -rf "$later"
  dpkg-deb -R "$1/this.deb" "$later"
  sed -i 's/^Version: .*/&+later/' "$later/DEBIAN/control"
  sed -n 's/^Version: //p' "$later/DEBIAN/control" > "$1/later"
  dpkg-deb -Zgzip -z1 --build "$later" "$1/later.deb" > /dev/null
  rm -rf "$later"
}

# Debian's system with systemd, and the checks as its last service.
make_systemd_root() { # FOLDER
  tar -x -C "$1" -f "$arm64/root.tar" --exclude='./dev/*' --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' \
    --exclude='./usr/share/locale/*' --exclude='./var/lib/apt/lists/*' --exclude='./var/cache/apt/*.bin'
  ln -sfn lib/systemd/systemd "$1/init"
  cp Tests/Rig/Guest/arm64 "$1/checks"
  cp config/tactus-update "$1/update"
  if [[ -n $deb ]]; then
    install -D "$deb" "$1/packages/this.deb"
    make_later "$1/packages"
  elif [[ -n $program ]]; then
    install -D "$program" "$1/usr/local/bin/tactus"
    # As the unit says that it is done by hand.
    install -D -m 644 config/tactus.service "$1/etc/systemd/system/tactus.service"
    install -D -m 644 packaging/debian/tactus.sysusers.conf "$1/etc/sysusers.d/tactus.conf"
    install -D -m 644 packaging/debian/tactus.udev "$1/etc/udev/rules.d/60-tactus.rules"
  fi
  rm -f "$1/etc/machine-id"
  install -D -m 644 /dev/stdin "$1/etc/systemd/system/rig.service" <<'UNIT'
[Unit]
After=network.target
[Service]
ExecStart=bash /checks
ExecStopPost=echo "RIG end"
StandardOutput=file:/dev/console
StandardError=file:/dev/console
UNIT
  mkdir -p "$1/etc/systemd/system/multi-user.target.wants"
  ln -s ../rig.service "$1/etc/systemd/system/multi-user.target.wants/"
  ln -sfn /dev/null "$1/etc/systemd/system/serial-getty@ttyAMA0.service"
}

# What the checks need, and no more: an initramfs may take half of the Raspberry Pi's memory.
make_pi_root() { # FOLDER
  local module tree=$arm64/tree
  rm -rf "$tree"
  mkdir -p "$tree" "$1/bin" "$1/lib" "$1/modules"
  tar -x -C "$tree" -f "$arm64/root.tar" ./usr ./lib
  cp Tests/Rig/Guest/init "$1/init"
  cp Tests/Rig/Guest/pi "$1/checks"
  cp Tests/Rig/Guest/checks "$1/daemon-checks"
  chmod +x "$1/init"
  for module in i2c-dev i2c-bcm2835; do cp "$(find "$arm64/kernel/lib/modules" -name "$module.ko")" "$1/modules/"; done
  cp "$tree"/usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1 "$1/lib/"
  install -t "$1/bin" "$arm64/kernel/bin/busybox" "$tree/usr/bin/bash" "$tree"/usr/sbin/i2c{get,set,transfer} ${program:+"$program"}
  for program in "$1"/bin/*; do copy_libraries "$program" "$tree/usr/lib/aarch64-linux-gnu" "$1/lib"; done
  rm -rf "$tree"
}

# copy_libraries PROGRAM FROM TO: the shared libraries that it needs, and theirs.
copy_libraries() {
  local library
  for library in $(objdump -p "$1" | sed -n 's/^ *NEEDED *//p'); do
    [[ ! -e $3/$library ]] || continue
    cp -L "$2/$library" "$3/"
    copy_libraries "$3/$library" "$2" "$3"
  done
}

make_arm64_initramfs() {
  local root=$arm64/root
  rm -rf "$root"
  mkdir -p "$root"
  if [[ $part == pi ]]; then make_pi_root "$root"; else make_systemd_root "$root"; fi
  (cd "$root" && find . | cpio -o -H newc --quiet) > "$arm64/initramfs"
  rm -rf "$root"
}

# Time is virtual in both, as in the other machines of the rig.
boot_arm64() {
  local machine=() folder device
  folder=$(echo "$arm64"/kernel/usr/lib/linux-image-*)
  if [[ $part == arm64 ]]; then
    # Two serial lines of a PCI card, each at the other's end: a robot's line, and what it would have received.
    machine=(-machine virt -cpu cortex-a72 -m 2048 -append "console=ttyAMA0 quiet panic=-1"
      -chardev "socket,id=one,path=$arm64/line,server=on,wait=off" -chardev "socket,id=other,path=$arm64/line"
      -device pci-serial,chardev=one -device pci-serial,chardev=other)
  else
    # The boards are memories of 256 bytes: what was written is read back, register by register. The checks read the GPIO
    # controller's registers, which its driver has (iomem=relaxed).
    machine=(-machine raspi3b -m 1024 -dtb "$folder/broadcom/bcm2837-rpi-3-b.dtb" -append "console=ttyAMA0,115200 quiet panic=-1 iomem=relaxed")
    for device in 0x16 0x2b 0x40; do
      machine+=(-device "at24c-eeprom,bus=i2c-bus.1,address=$device,rom-size=256")
    done
  fi
  rm -f "$arm64/line"
  exec 7< <(QEMU_MODULE_DIR=$arm64/qemu exec timeout 900 "$arm64/qemu/usr/bin/qemu-system-aarch64" -L "$arm64/qemu/usr/share/qemu" "${machine[@]}" \
    -accel tcg,thread=single -icount shift=2,sleep=off -rtc base=2026-01-01,clock=vm -seed 1 \
    -nodefaults -no-user-config -display none -no-reboot -serial stdio \
    -kernel "$(echo "$arm64"/kernel/boot/vmlinuz-*)" -initrd "$arm64/initramfs" < /dev/null 2>&1)
  emulator=$!
  trap 'kill "$emulator" 2> /dev/null || true' EXIT # also when this script is ended
  local line
  # The Raspberry Pi does not power off by itself.
  while read -r line <&7; do
    echo "${line%$'\r'}"
    [[ $line != "RIG end"* && $line != *"Kernel panic"* ]] || break
  done > "$rig/console.log"
  kill "$emulator" 2> /dev/null || true
  exec 7<&-
}
