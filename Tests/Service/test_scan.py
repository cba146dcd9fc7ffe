"""`tactus scan` as people and programs call it: below a folder of files, and with Debian's Avahi on a D-Bus and in a network of its own."""

import json
import os
import shutil
import subprocess

import pytest

PROGRAM = os.environ["TACTUS_PROGRAM"]


def scan(*arguments, **more):
    return subprocess.run([PROGRAM, "scan", *arguments], capture_output=True, text=True, timeout=60, check=False, **more)


@pytest.fixture
def card(tmp_path):
    """A Raspberry Pi's files: an adapter on USB, a camera, an I2C bus."""
    (tmp_path / "dev/serial/by-id").mkdir(parents=True)
    (tmp_path / "dev/i2c-1").touch()
    (tmp_path / "dev/ttyUSB0").touch()
    (tmp_path / "dev/serial/by-id/usb-FTDI_FT232R-if00-port0").symlink_to("../../ttyUSB0")
    usb = tmp_path / "sys/devices/usb1/1-1"
    (usb / "1-1:1.0/ttyUSB0").mkdir(parents=True)
    for name, text in {"idVendor": "0403", "idProduct": "6001", "product": "FT232R USB UART"}.items():
        (usb / name).write_text(text + "\n")
    (tmp_path / "sys/class/tty/ttyUSB0").mkdir(parents=True)
    (tmp_path / "sys/class/tty/ttyUSB0/device").symlink_to("../../../devices/usb1/1-1/1-1:1.0/ttyUSB0")
    camera = tmp_path / "sys/class/video4linux/video0"
    camera.mkdir(parents=True)
    (camera / "name").write_text("HD Webcam\n")
    return tmp_path


def test_a_card(card):
    answer = scan("--root", str(card), "--json")
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert list(found) == ["ble", "i2c", "serial", "sensor", "camera", "mdns"]
    (line,) = found["serial"]["finds"]
    assert line["place"] == "/dev/serial/by-id/usb-FTDI_FT232R-if00-port0"
    assert line["name"] == "FT232R USB UART"
    assert line["details"] == ["/dev/ttyUSB0", "USB 0403:6001"]
    assert [{"key": "leg.serial", "value": line["place"]}] in line["keys"]
    assert [find["name"] for find in found["camera"]["finds"]] == ["HD Webcam"]
    for kind in ("ble", "i2c", "sensor", "mdns"):
        assert found[kind]["finds"] == [] and found[kind]["remarks"]


def test_what_is_found_is_written(card, tmp_path):
    file = tmp_path / "pump.yaml"
    file.write_text("# the pump\npump:\n  role: operator # ours\n")
    answer = scan("--root", str(card), "serial", "-c", str(file), "--write", "pump.device", "--yes")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    place = "/dev/serial/by-id/usb-FTDI_FT232R-if00-port0"
    assert file.read_text() == f"# the pump\npump:\n  device: {place}\n  role: operator # ours\n"
    assert f"+  device: {place}" in answer.stdout
    check = subprocess.run([PROGRAM, "check", str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert check.returncode == 0, check.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["pcmcia"], 64, "pcmcia"),
        (["--write", "pump.device"], 64, "--config"),
        (["-c", "x.yaml", "--write", "pump.log_days"], 64, "expected a key that a scan can fill"),
        (["-c", "/nonexistent.yaml", "--write", "leg.serial=/dev/a"], 78, "/nonexistent.yaml: cannot be read"),
        (["--patience", "0.1s"], 64, "1s…60s"),
    ],
)
def test_misuse(arguments, status, words):
    answer = scan(*arguments)
    assert answer.returncode == status, answer.stderr
    assert words in answer.stderr


NETWORK = """
set -e
mount -t tmpfs tmpfs /run
ip link set lo up
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$1/bus
"$2" scan mdns --json > "$1/no-bus.json"
dbus-daemon --config-file="$1/bus.conf" --fork
"$2" scan mdns --json > "$1/no-avahi.json"
avahi-daemon --no-drop-root --no-chroot --no-rlimits -D -f "$1/avahi.conf"
"$2" scan mdns --json --patience 2s > "$1/nobody.json"
avahi-publish -s 'a broker' _mqtt._tcp 1884 2> "$1/publish.log" > "$1/publish.log" &
for try in $(seq 20); do
  "$2" scan mdns --json --patience 10s > "$1/found.json"
  grep -q 'a broker' "$1/found.json" && exit 0
done
exit 1
"""


@pytest.mark.skipif(
    not all(shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") for name in
            ("avahi-daemon", "avahi-publish", "dbus-daemon", "unshare", "ip")),
    reason="avahi-daemon, avahi-utils, dbus-daemon or unshare is not installed")
def test_network(tmp_path):
    (tmp_path / "bus.conf").write_text(f"""<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={tmp_path}/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
<allow user="*"/></policy></busconfig>""")
    (tmp_path / "avahi.conf").write_text(
        "[server]\nuse-ipv4=yes\nuse-ipv6=no\nhost-name=bench\nallow-interfaces=lo\nallow-point-to-point=yes\n"
        "[wide-area]\nenable-wide-area=no\n")
    spaces = ["--mount", "--net", "--pid", "--fork", "--kill-child"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    if subprocess.run(["unshare", *spaces, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine grants no namespaces (unshare)")
    environment = os.environ | {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
    done = subprocess.run(
        ["unshare", *spaces, "bash", "-c", NETWORK, "scan", str(tmp_path), PROGRAM], env=environment, timeout=240,
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr + (tmp_path / "found.json").read_text()

    def said(name):
        return json.loads((tmp_path / f"{name}.json").read_text())["mdns"]

    assert said("no-bus")["finds"] == [] and "no network browsing" in said("no-bus")["remarks"][0]
    assert said("no-avahi")["remarks"] == ["Avahi is not running (sudo apt install avahi-daemon)"]
    assert said("nobody")["remarks"] == ["nobody announces _mqtt._tcp or _tactus._tcp"]
    (broker,) = said("found")["finds"]
    assert broker["name"] == "a broker" and broker["place"] == "127.0.0.1:1884"
    assert broker["keys"] == [[{"key": "mqtt.broker", "value": "127.0.0.1"}, {"key": "mqtt.port", "value": "1884"}]]
