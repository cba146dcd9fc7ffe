"""Clients that come in by a certificate: curl, openssl s_client and websockets, against a daemon with service.client_ca."""
import asyncio
import json
import re
import ssl
import subprocess

import pytest
import websockets

from certificates import Authority
from daemon import ROOT
from test_tls import SecureDaemon, curl

RULES = [
    {"name": "phone-lost", "scope": "none"},
    {"name": "phone-*", "scope": "control"},
    {"name": "*@example.org", "scope": "read"},
    {"name": "desk", "scope": "admin"},
]


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"), "house")


@pytest.fixture(scope="module")
def clients(authority):
    below = Authority(authority.folder, "cellar", above=authority)
    other = Authority(authority.folder, "stranger")
    return {
        "phone": authority.client("phone-anna"),
        "lost": authority.client("phone-lost"),
        "desk": authority.client("desk"),
        "mail": authority.client("mail", subject="/O=somebody", names="IP:192.0.2.1,email:bob@example.org"),
        "below": below.client("phone-below"),
        "nobody": authority.client("nobody"),
        "nameless": authority.client("nameless", subject="/O=somebody"),
        "odd": authority.client("odd", subject="/CN=phone-\u202eanna"),
        "server": authority.client("phone-server", usage="serverAuth"),
        "expired": authority.client("phone-expired", start="20200101000000Z", end="20200201000000Z"),
        "early": authority.client("phone-early", start="20480101000000Z", end="20490101000000Z"),
        "stranger": other.client("phone-stranger"),
    }


@pytest.fixture(scope="module")
def daemon(tmp_path_factory, authority):
    folder = tmp_path_factory.mktemp("daemon")
    with SecureDaemon(folder, tls="self-signed", client_ca=str(authority.file), client_scopes=RULES) as running:
        yield running


def ask(daemon, client, path="/api/status", *more):
    """The status and the document with which the daemon answers curl with a client's certificate."""
    identity = ("--cert", client.file, "--key", client.key) if client else ()
    made = curl("--cacert", daemon.certificate, *identity, "-w", "\n%{http_code}", *more, daemon.url + path)
    assert made.returncode == 0, made.stderr
    text, status = made.stdout.rsplit("\n", 1)
    return int(status), json.loads(text) if text.startswith("{") else text


def post(daemon, client, path, *more):
    return ask(daemon, client, path, "-X", "POST", "-H", "Content-Type: application/json", *more)


def lines(daemon, needle):
    return [json.loads(line) for line in daemon.log.splitlines() if line.startswith("{") and needle in line]


def test_a_certificate_is_the_caller_its_scope_is_its_rules_and_its_name_is_in_the_log(daemon, clients):
    assert ask(daemon, clients["phone"])[0] == 200
    assert post(daemon, clients["phone"], "/api/robot/stop", "-d", "{}")[0] == 200
    daemon.wait_for_line("cert:phone-anna")
    done = lines(daemon, '"tokenId":"cert:phone-anna"')[-1]
    assert (done["action"], done["system"], done["result"], done["caller"]) == ("stop", "robot", "ok", "127.0.0.1")
    status, answer = ask(daemon, clients["phone"], "/api/settings")
    assert (status, answer["code"]) == (403, "SCOPE_DENIED")
    assert ask(daemon, clients["desk"], "/api/settings")[0] == 200
    assert ask(daemon, clients["mail"])[0] == 200  # its first mail address, since it has no common name
    assert post(daemon, clients["mail"], "/api/robot/stop", "-d", "{}")[1]["code"] == "SCOPE_DENIED"


def test_an_intermediate_authority_is_followed_and_missing_refused(daemon, clients):
    below = clients["below"]
    assert ask(daemon, below)[0] == 200
    made = curl("--cacert", daemon.certificate, "--cert", below.alone, "--key", below.key, daemon.url + "/api/status")
    assert json.loads(made.stdout)["code"] == "CERTIFICATE_UNTRUSTED"


@pytest.mark.parametrize("client, code, words", [
    ("stranger", "CERTIFICATE_UNTRUSTED", "expected one that an authority in service.client_ca has signed"),
    ("server", "CERTIFICATE_UNTRUSTED", "purpose"),
    ("expired", "CERTIFICATE_EXPIRED", "was valid until 2020-02-01T00:00:00Z"),
    ("early", "CERTIFICATE_TOO_EARLY", "is valid from 2048-01-01T00:00:00Z on"),
    ("nameless", "CERTIFICATE_NAMELESS", "expected a common name"),
    ("odd", "CERTIFICATE_NAMELESS", "control characters"),
    ("nobody", "CERTIFICATE_WITHOUT_SCOPE", "no rule of service.client_scopes is for the client 'nobody'"),
    ("lost", "CERTIFICATE_WITHOUT_SCOPE", "the rule 'phone-lost' of service.client_scopes"),
])
def test_what_is_refused_says_why_to_the_client_and_in_the_log(daemon, clients, client, code, words):
    status, answer = ask(daemon, clients[client])
    assert (status, answer["code"]) == (403, code)
    assert words in answer["message"]
    daemon.wait_for_line(code)
    line = lines(daemon, f'"code":"{code}"')[-1]
    assert line["level"] == "warning" and "127.0.0.1" in json.dumps(line)
    # A token opens what the certificate does not, and what is open to all is open.
    assert ask(daemon, clients[client], "/api/status", "-H", f"Authorization: Bearer {daemon.admin}")[0] == 200
    assert ask(daemon, clients[client], "/api/health")[0] == 200


def test_no_secret_is_in_the_log(daemon, clients):
    assert ask(daemon, clients["stranger"])[0] == 403
    assert "PRIVATE KEY" not in daemon.log and "BEGIN CERTIFICATE" not in daemon.log and daemon.admin not in daemon.log


def test_without_a_certificate_the_tokens_rule_holds_and_a_token_goes_before_a_certificate(daemon, clients):
    status, answer = ask(daemon, None)
    assert (status, answer["code"]) == (401, "TOKEN_MISSING")
    bearer = ("-H", f"Authorization: Bearer {daemon.admin}")
    assert ask(daemon, None, "/api/settings", *bearer)[0] == 200
    assert ask(daemon, clients["phone"], "/api/settings", *bearer)[0] == 200
    status, answer = ask(daemon, clients["phone"], "/api/status", "-H", "Authorization: Bearer wrong-wrong-wrong")
    assert (status, answer["code"]) == (401, "TOKEN_INVALID")


def test_a_page_from_elsewhere_cannot_use_a_browsers_certificate(daemon, clients):
    status, answer = post(daemon, clients["phone"], "/api/e-stop", "-H", "Origin: https://evil.example", "-d", "{}")
    assert (status, answer["code"]) == (403, "ORIGIN_DENIED")


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_openssl_s_client_is_asked_for_a_certificate_of_the_authority(daemon, clients, version):
    phone = clients["phone"]
    made = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{daemon.port}", "-cert", phone.file, "-key", phone.key, "-CAfile",
         daemon.certificate, version, "-ign_eof"],
        input="GET /api/status HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", capture_output=True, text=True, timeout=20)
    assert "HTTP/1.1 200 OK" in made.stdout
    assert re.search(r"Acceptable client certificate CA names\s+CN ?= ?house", made.stdout)


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_a_resumed_session_shows_its_certificate_again(daemon, clients, tmp_path, version):
    below = clients["below"]
    session = tmp_path / "session"
    for option in ("-sess_out", "-sess_in"):
        if option == "-sess_in":
            assert session.exists()
        made = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{daemon.port}", "-cert", below.alone, "-cert_chain", below.file, "-key",
             below.key, option, session, version, "-ign_eof"],
            input="GET /api/status HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", capture_output=True, text=True, timeout=20)
        assert "HTTP/1.1 200 OK" in made.stdout, made.stdout + made.stderr


def context(daemon, client):
    made = ssl.create_default_context(cafile=str(daemon.certificate))
    if client:
        made.load_cert_chain(*client.files)
    return made


def test_a_websocket_comes_in_by_certificate_drives_and_names_its_client(daemon, clients):
    async def talk(client):
        url = f"wss://127.0.0.1:{daemon.port}/ws"
        async with websockets.connect(url, ssl=context(daemon, client)) as socket:
            return json.loads(await asyncio.wait_for(socket.recv(), 10))

    assert asyncio.run(talk(clients["phone"]))["type"] == "hello"
    for client, status in (("stranger", 403), ("expired", 403), ("nobody", 403), (None, 401)):
        with pytest.raises(websockets.InvalidStatus) as refused:
            asyncio.run(talk(clients[client] if client else None))
        assert refused.value.response.status_code == status


def changed(daemon, old, new):
    text = daemon.config.read_text()
    assert old in text
    daemon.config.write_text(text.replace(old, new))


def test_reload_takes_rules_and_authorities_and_closes_the_websocket_of_who_is_out(tmp_path, authority, clients):
    ca = tmp_path / "ca.pem"
    ca.write_bytes(authority.file.read_bytes())
    other = Authority(tmp_path, "annex")
    guest = other.client("phone-guest")
    with SecureDaemon(tmp_path, tls="self-signed", client_ca=str(ca), client_scopes=RULES) as daemon:
        bearer = ("-H", f"Authorization: Bearer {daemon.admin}")

        def reload():
            return post(daemon, None, "/api/reload", *bearer)

        assert ask(daemon, guest)[1]["code"] == "CERTIFICATE_UNTRUSTED"
        ca.write_bytes(authority.file.read_bytes() + other.file.read_bytes())
        status, answer = reload()
        assert status == 200 and [change["key"] for change in answer["changed"]] == ["service.client_ca"]
        assert ask(daemon, guest)[0] == 200

        async def stay_until_closed():
            url = f"wss://127.0.0.1:{daemon.port}/ws"
            async with websockets.connect(url, ssl=context(daemon, guest)) as socket:
                await asyncio.wait_for(socket.recv(), 10)
                changed(daemon, '"phone-*", "scope": "control"', '"phone-a*", "scope": "read"')
                status, answer = await asyncio.to_thread(reload)
                assert status == 200, answer
                assert {change["key"] for change in answer["changed"]} == {
                    "service.client_scopes[1].name", "service.client_scopes[1].scope"}
                # Every token is looked at once a second at the latest; a busy machine may need longer.
                async with asyncio.timeout(4):
                    try:
                        while True:
                            await socket.recv()
                    except websockets.ConnectionClosed as closed:
                        return closed.rcvd.code, closed.rcvd.reason

        assert asyncio.run(stay_until_closed()) == (4001, "CERTIFICATE_WITHOUT_SCOPE")
        assert ask(daemon, guest)[1]["code"] == "CERTIFICATE_WITHOUT_SCOPE"
        assert post(daemon, clients["phone"], "/api/robot/stop", "-d", "{}")[1]["code"] == "SCOPE_DENIED"

        ca.write_text("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n")
        status, answer = reload()
        assert (status, answer["code"]) == (422, "BAD_CONFIG") and "service.client_ca: expected 1…64 certificates" in answer["message"]
        assert ask(daemon, clients["phone"])[0] == 200


@pytest.mark.parametrize("service, words", [
    ({"client_ca": "/absent.pem", "client_scopes": RULES}, "/absent.pem: service.client_ca: expected a file that can be read"),
    ({"client_ca": "{authority}", "client_scopes": RULES, "tls": "off"}, "service.client_ca: expected service.tls self-signed or files"),
    ({"client_ca": "{authority}"}, "service.client_scopes: expected a rule at least"),
    ({"client_scopes": RULES}, "service.client_scopes: expected service.client_ca with it, got none"),
    ({"client_ca": "{authority}", "client_scopes": [{"scope": "read"}]}, "service.client_scopes[0].name: expected the name of a client"),
    ({"client_ca": "{authority}", "client_scopes": [{"name": "a", "scope": "boss"}]}, "client_scopes[0].scope: expected one of"),
])
def test_settings_that_do_not_fit_are_refused_with_their_key(tmp_path, authority, service, words):
    service = {"tls": "self-signed", **service}
    if service.get("client_ca") == "{authority}":
        service["client_ca"] = str(authority.file)
    daemon = SecureDaemon(tmp_path, **service)
    checked = daemon.command("check", str(daemon.config))
    assert checked.returncode != 0 and words in checked.stdout + checked.stderr


def test_the_terminals_commands_show_a_certificate(daemon, clients, tmp_path):
    def run(client, *words):
        pinned = ("--fingerprint", daemon.fingerprint)
        return daemon.command(*words, *pinned, "--cert", client.file, "--key", client.key, environment={"TACTUS_TOKEN": ""})

    assert "robot.motors" in run(clients["phone"], "top", daemon.url, "--once").stdout
    assert run(clients["below"], "remote", "level", "--host", daemon.url).stdout == "info\n"
    assert run(clients["desk"], "remote", "get", "motors", "--host", daemon.url).returncode == 0
    refused = run(clients["phone"], "remote", "get", "--host", daemon.url)
    assert refused.returncode == 1 and "scope admin" in refused.stderr
    refused = run(clients["expired"], "remote", "get", "--host", daemon.url)
    assert refused.returncode == 1 and "was valid until 2020-02-01T00:00:00Z" in refused.stderr
    # A token goes before it.
    admin = daemon.command(
        "remote", "get", "motors", "--host", daemon.url, "--fingerprint", daemon.fingerprint, "--cert", clients["phone"].file, "--key",
        clients["phone"].key, environment={"TACTUS_TOKEN": daemon.admin})
    assert admin.returncode == 0, admin.stderr


@pytest.mark.parametrize("words, said", [
    (["--cert", "{cert}"], "--cert and --key need each other"),
    (["--cert", "{cert}", "--key", "/absent.key"], "and its key in /absent.key, both PEM"),
    (["--cert", "{cert}", "--key", "{other}"], "expected a certificate in"),
    (["--cert", "{cert}", "--key", "{key}", "--plain"], "--cert needs an https:// address"),
])
def test_a_certificate_that_cannot_be_shown_is_refused_by_the_command(daemon, clients, words, said):
    files = {"{cert}": clients["phone"].file, "{key}": clients["phone"].key, "{other}": clients["desk"].key}
    url = daemon.url.replace("https", "http") if "--plain" in words else daemon.url
    made = daemon.command("status", url, *[files.get(word, word) for word in words if word != "--plain"])
    assert made.returncode != 0 and said in made.stdout + made.stderr


def test_the_lines_of_the_documentation_make_a_phones_certificate_that_comes_in(tmp_path):
    text = (ROOT / "docs/service.md").read_text()
    block = re.search(r"\n((?:    .*\n)*    openssl req -x509 (?:    .*\n|.*\n(?=    ))*)", text).group(1)
    commands = [line for line in block.replace("\\\n", "").splitlines() if line.strip().startswith(("openssl", "printf"))]
    assert len(commands) == 5
    commands[-1] = commands[-1].split("#")[0] + " -passout pass:of-the-test"
    done = subprocess.run(["bash", "-ec", "\n".join(commands)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with SecureDaemon(tmp_path, tls="self-signed", client_ca=str(tmp_path / "clients.pem"), client_scopes=RULES) as daemon:
        for identity in (("--cert", tmp_path / "phone.crt", "--key", tmp_path / "phone.key"),
                         ("--cert-type", "P12", "--cert", f"{tmp_path}/phone.p12:of-the-test")):
            made = curl("--cacert", daemon.certificate, *identity, daemon.url + "/api/status")
            assert '"ok":true' in made.stdout, made.stdout + made.stderr
