"""HTTPS and wss, in a build with the trait TLS: curl, websockets, openssl and `tactus top` as the peers."""
import asyncio
import hashlib
import json
import re
import socket
import ssl
import subprocess
import time

import pytest
import websockets

from daemon import Daemon, PROGRAM, free_port


class SecureDaemon(Daemon):
    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    @property
    def certificate(self):
        return self.folder / "tls.crt"

    def start(self):
        # The certificate does not exist before the first start: readiness is a line of the log.
        self.start_process()
        self.wait_for_line('"serving https"')

    @property
    def fingerprint(self):
        return re.search(r'"fingerprint_sha256":"([0-9A-F:]+)"', self.log).group(1)


@pytest.fixture
def secure(tmp_path):
    with SecureDaemon(tmp_path, tls="self-signed") as daemon:
        yield daemon


def curl(*arguments):
    return subprocess.run(["curl", "-sS", "--max-time", "10", *map(str, arguments)], capture_output=True, text=True)


def test_first_start_makes_a_certificate_that_curl_accepts_by_file(secure):
    made = curl("--cacert", secure.certificate, "-H", f"Authorization: Bearer {secure.admin}", secure.url + "/api/status")
    assert made.returncode == 0, made.stderr
    assert '"ok":true' in made.stdout
    assert curl(secure.url + "/api/health").returncode == 60  # not trusted by the machine
    assert (secure.folder / "tls.key").stat().st_mode & 0o077 == 0


def test_the_fingerprint_in_the_log_is_that_of_the_certificate_served(secure):
    served = ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(secure.address))
    digest = hashlib.sha256(served).hexdigest().upper()
    assert secure.fingerprint == ":".join(digest[i:i + 2] for i in range(0, 64, 2))


def test_a_second_start_keeps_the_certificate(secure):
    before = secure.certificate.read_bytes()
    secure.stop()
    secure.start()
    assert secure.certificate.read_bytes() == before


def test_events_over_wss(secure):
    async def hello():
        context = ssl.create_default_context(cafile=str(secure.certificate))
        headers = {"Authorization": f"Bearer {secure.admin}"}
        url = f"wss://127.0.0.1:{secure.port}/ws"
        async with websockets.connect(url, ssl=context, additional_headers=headers) as socket:
            return await asyncio.wait_for(socket.recv(), 10)

    assert '"type":"hello"' in asyncio.run(hello())


@pytest.mark.parametrize("version", ["--tlsv1.2 --tls-max 1.2", "--tlsv1.3"])
def test_tls_versions(secure, version):
    made = curl("--cacert", secure.certificate, *version.split(), secure.url + "/api/health")
    assert made.returncode == 0, made.stderr


def test_tls_1_1_is_refused(secure):
    assert curl("--cacert", secure.certificate, "--tls-max", "1.1", secure.url + "/api/health").returncode != 0


def test_plain_http_on_the_tls_port_is_closed_and_the_next_client_served(secure):
    with socket.create_connection(secure.address, timeout=10) as plain:
        plain.sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        # TLS's own alert at most; never an answer.
        assert b"HTTP/1.1" not in plain.recv(4096)
    assert curl("--cacert", secure.certificate, secure.url + "/api/health").returncode == 0


def test_top_trusts_the_pinned_certificate_and_no_other(secure):
    token = {"environment": {"TACTUS_TOKEN": secure.admin}}
    pinned = secure.command("top", secure.url, "--fingerprint", secure.fingerprint, "--once", **token)
    assert pinned.returncode == 0 and "robot.motors" in pinned.stdout, pinned.stderr
    wrong = "00" + secure.fingerprint[2:] if not secure.fingerprint.startswith("00") else "01" + secure.fingerprint[2:]
    other = secure.command("top", secure.url, "--fingerprint", wrong, "--once", **token)
    assert other.returncode == 1 and "fingerprint is not the one given" in other.stderr
    none = secure.command("top", secure.url, "--once", **token)
    assert none.returncode == 1 and "--fingerprint" in none.stderr


TICKET = r"https://\S+/#/ticket/(\S+)"


def redeemed(daemon, printed):
    """The new token, by the address that the picture has."""
    ticket = re.search(TICKET, printed)
    assert ticket, printed
    got = curl("--cacert", daemon.certificate, daemon.url + "/api/ticket", "--json", json.dumps({"ticket": ticket[1]}))
    assert got.returncode == 0, got.stderr
    return json.loads(got.stdout)["token"]


def test_a_picture_in_the_terminal_lets_a_device_in_with_the_pinned_certificate_and_no_other(secure):
    token = {"environment": {"TACTUS_TOKEN": secure.admin}}
    make = ("token", "create", "--name", "phone", "--qr", secure.url)
    none = secure.command(*make, **token)
    assert none.returncode == 1 and "--fingerprint" in none.stderr, none.stderr
    wrong = ("00" if not secure.fingerprint.startswith("00") else "01") + secure.fingerprint[2:]
    other = secure.command(*make, "--fingerprint", wrong, **token)
    assert other.returncode == 1 and "fingerprint is not the one given" in other.stderr, other.stderr
    plain = secure.command("token", "create", "--name", "phone", "--qr", "http://127.0.0.1", "--fingerprint", wrong, **token)
    assert plain.returncode == 64 and "https://" in plain.stderr, plain.stderr
    made = secure.command(*make, "--fingerprint", secure.fingerprint, **token)
    assert made.returncode == 0, made.stderr
    assert redeemed(secure, made.stdout)


def open_to_others(folder, **options):
    daemon = SecureDaemon(folder, tls="self-signed", **options)
    daemon.config.write_text(daemon.config.read_text().replace("bind_address: 127.0.0.1", "bind_address: 0.0.0.0"))
    return daemon


def test_the_start_prints_the_line_that_lets_a_phone_in_with_https_and_the_fingerprint(tmp_path):
    with open_to_others(tmp_path) as daemon:
        daemon.wait_for_line("Ctrl-C stops")
        line, = (line.strip() for line in daemon.log.splitlines() if " --qr " in line and not line.startswith("{"))
        assert line.endswith(f" --fingerprint {daemon.fingerprint}"), line
        page = re.search(r" --qr (https://(\S+):\d+) ", line)
        assert page and page[1] + "/" in next(line for line in daemon.log.splitlines() if line.startswith("From another machine: ")), line
        if not page[2].endswith(".local"):  # a machine without a network has no address but that, which nobody may know here
            made = subprocess.run(
                ["bash", "-c", line], capture_output=True, text=True, env=daemon.own_environment(), cwd=tmp_path, timeout=60)
            assert made.returncode == 0 and page[1] + "/#/ticket/" in made.stdout, made.stderr
            assert redeemed(daemon, made.stdout)


def test_the_certificate_names_every_address_that_the_start_prints_and_is_kept_when_another_is_bound(tmp_path):
    with open_to_others(tmp_path) as daemon:
        daemon.wait_for_line("Ctrl-C stops")
        said = subprocess.run(
            ["openssl", "x509", "-in", str(daemon.certificate), "-noout", "-ext", "subjectAltName"],
            capture_output=True, text=True, check=True).stdout
        named = {name.strip().split(":", 1)[1] for name in said.splitlines()[1].split(",")}
        assert {"localhost", "127.0.0.1"} <= named, said
        printed = next(line for line in daemon.log.splitlines() if line.startswith("From another machine: "))
        hosts = re.findall(r"https://(\S+):\d+/", printed)
        assert hosts and set(hosts) <= named, (printed, said)
        made = daemon.certificate.read_bytes()
        daemon.stop()
        daemon.config.write_text(daemon.config.read_text().replace("bind_address: 0.0.0.0", "bind_address: 127.0.0.1"))
        daemon.start()
        assert daemon.certificate.read_bytes() == made


def test_a_service_logs_the_line_that_lets_a_phone_in_and_root_needs_no_fingerprint_for_it(tmp_path):
    runtime = tmp_path / "run"
    runtime.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        environment = {"RUNTIME_DIRECTORY": str(runtime), "NOTIFY_SOCKET": str(tmp_path / "notify")}
        with open_to_others(tmp_path, environment=environment) as daemon:
            limit = time.monotonic() + 60
            while not (runtime / "safe-state-door").exists():
                assert time.monotonic() < limit
                time.sleep(0.02)
            started = next(json.loads(line) for line in daemon.log.splitlines() if '"serving https"' in line)
            words = started["let_a_phone_in"].split()
            assert words[0] == "sudo" and words[2:5] == ["token", "create", "--name"] and words[6] == "--qr", words
            assert words[7].startswith("https://") and words[7] + "/" in started["page"].split(), started
            made = daemon.command(*words[2:], environment={**environment, "TACTUS_TOKEN": ""})
            assert made.returncode == 0 and words[7] + "/#/ticket/" in made.stdout, made.stderr
            assert redeemed(daemon, made.stdout)


def test_certificate_files_that_do_not_fit_stop_the_start_with_their_names(tmp_path):
    (tmp_path / "wrong.pem").write_text("nothing of the kind\n")
    daemon = SecureDaemon(
        tmp_path, tls="files", tls_certificate=str(tmp_path / "wrong.pem"), tls_key=str(tmp_path / "absent.pem"))
    daemon.start_process()
    assert daemon.process.wait(20) == 1
    assert "wrong.pem" in daemon.log or "absent.pem" in daemon.log


def test_leg_moves_over_wss_with_the_pinned_certificate_and_no_other(secure):
    token = {"environment": {"TACTUS_TOKEN": secure.admin}}
    address = f"wss://127.0.0.1:{secure.port}"
    done = secure.command(
        "leg", address, "--fingerprint", secure.fingerprint, "--arm", "--set", "1700", "--for", "300ms", **token)
    assert done.returncode == 0, done.stderr
    wrong = ("00" if not secure.fingerprint.startswith("00") else "01") + secure.fingerprint[2:]
    other = secure.command("leg", address, "--fingerprint", wrong, "--arm", "--for", "300ms", **token)
    assert other.returncode == 1 and "the one given" in other.stdout + other.stderr, other.stdout + other.stderr


def test_the_units_reload_knows_the_certificate_and_needs_no_token(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    runtime = {"RUNTIME_DIRECTORY": str(folder)}
    with SecureDaemon(tmp_path, tls="self-signed", environment=runtime) as daemon:
        limit = time.monotonic() + 10
        while not (folder / "safe-state-door").exists():
            assert time.monotonic() < limit
            time.sleep(0.02)
        reloaded = daemon.command("reload", environment={**runtime, "TACTUS_TOKEN": ""})
        assert reloaded.returncode == 0 and "nothing has changed" in reloaded.stdout, reloaded.stderr
