"""HTTPS and wss, in a build with the trait TLS: curl, websockets, openssl and `tactus top` as the peers."""
import asyncio
import hashlib
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
