"""People are told: real receivers on real sockets, a daemon that is killed in the middle, a receiver that is away and comes back."""
import base64
import email
import email.policy
import http.server
import json
import os
import re
import socket
import socketserver
import subprocess
import threading
import time

import pytest

from daemon import PROGRAM, ROOT, Daemon, free_port


def wait_for(condition, seconds=60):
    limit = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < limit, "it did not come to that"
        time.sleep(0.05)
    return found


class Hook:
    """A web server that keeps what is posted to it; `status` is what it answers."""

    def __init__(self, port=None):
        self.port, self.status, self.posts, self.headers, self.server = port or free_port(), 200, [], [], None

    def __enter__(self):
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.headers.append((self.path, dict(self.headers)))
                if hook.status == 200:
                    hook.posts.append(json.loads(body))
                self.send_response(hook.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_HEAD(self):
                self.send_response(404)
                self.end_headers()

            def log_message(self, *_):
                pass

        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def said(self):
        return [(one["stage"], one["condition"]) for one in self.posts if "stage" in one]


class Post:
    """A mail server of a few lines that keeps what it gets; `refuse` is a command that it refuses."""

    def __init__(self):
        self.port, self.mails, self.logins, self.refuse, self.greeting = free_port(), [], [], None, b"220 test\r\n"

    def __enter__(self):
        post = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                self.wfile.write(post.greeting)
                while line := self.rfile.readline():
                    word = line.split()[0].upper().decode() if line.split() else ""
                    if word == post.refuse:
                        self.wfile.write(b"550 not here\r\n")
                    elif word == "EHLO":
                        self.wfile.write(b"250-test\r\n250 AUTH PLAIN LOGIN\r\n")
                    elif word == "AUTH":
                        post.logins.append(base64.b64decode(line.split()[2]).split(b"\0")[1:])
                        self.wfile.write(b"235 in\r\n")
                    elif word == "DATA":
                        self.wfile.write(b"354 go\r\n")
                        data = b""
                        while (part := self.rfile.readline()) != b".\r\n":
                            data += part
                        post.mails.append(email.message_from_bytes(data, policy=email.policy.default))
                        self.wfile.write(b"250 queued as 7\r\n")
                    elif word == "QUIT":
                        self.wfile.write(b"221 bye\r\n")
                        return
                    else:
                        self.wfile.write(b"250 ok\r\n")

        socketserver.ThreadingTCPServer.allow_reuse_address = True
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def hook():
    with Hook() as hook:
        yield hook


@pytest.fixture
def post():
    with Post() as post:
        yield post


def section(*receivers, rules=""):
    return "notify:\n  receivers:\n" + "".join(f"    - {{ {one} }}\n" for one in receivers) + rules


def webhook(hook, name="hook", more=""):
    return f"name: {name}, url: 'http://127.0.0.1:{hook.port}/secret-path-1234'{more}"


def mail(post):
    return (f"name: office, kind: mail, server: 127.0.0.1, port: {post.port}, tls: 'off', user: me, password: '${{MAIL_WORD}}', "
            "from: pi@example.org, to: [me@example.org, you@example.org]")


SECRETS = {"HOOK_WORD": "hush-hush-token", "MAIL_WORD": "hush-hush-word"}
STOP = "robot/e-stop"


def test_each_kind_is_told_when_it_begins_and_when_it_is_over_and_nobody_learns_a_secret(tmp_path, hook, post):
    more = section(
        webhook(hook, more=", token: '${HOOK_WORD}'"),
        f"name: phone, kind: ntfy, url: 'http://127.0.0.1:{hook.port}/garden-topic'", mail(post))
    with Daemon(tmp_path, more, environment=SECRETS) as daemon:
        assert daemon.post("/api/robot/e-stop").status_code == 200
        wait_for(lambda: ("begins", STOP) in hook.said() and post.mails)
        daemon.reset()
        wait_for(lambda: ("over", STOP) in hook.said() and len(post.mails) == 2)
        wait_for(lambda: len([one for one in hook.posts if "topic" in one]) == 2)
        told = daemon.get("/api/notices").json()
        shown = json.dumps(told) + daemon.get("/metrics").text + daemon.log
    begins = next(one for one in hook.posts if one.get("stage") == "begins")
    assert begins["severity"] == "critical" and begins["title"] == "robot: emergency stop" and begins["wayOut"]
    path, headers = next(one for one in hook.headers if one[0] != "/")
    assert path == "/secret-path-1234" and headers["Authorization"] == "Bearer hush-hush-token"
    phone = [one for one in hook.posts if "topic" in one]
    assert phone[0]["topic"] == "garden-topic" and phone[0]["priority"] == 5 and "robot" in phone[0]["tags"]
    assert post.logins[0] == [b"me", b"hush-hush-word"]
    assert post.mails[0]["Subject"] == "robot: emergency stop" and post.mails[0]["To"].count("@") == 2
    assert "then reset" in post.mails[0].get_content()
    assert {one["name"]: one["sent"] for one in told["receivers"]} == {"hook": 2, "phone": 2, "office": 2}
    assert told["isKept"] and [one["outcome"] for one in told["recent"]] == ["sent"] * 6
    assert 'tactus_notices_total{receiver="office",outcome="sent"} 2' in shown
    for secret in ["hush-hush", "secret-path-1234", "garden-topic"]:
        assert secret not in shown


def test_a_receiver_that_is_away_gets_what_waits_when_it_is_back_also_after_kill_9_and_nothing_twice(tmp_path):
    away = Hook()
    daemon = Daemon(tmp_path, section(webhook(away)))
    daemon.start()
    daemon.post("/api/robot/e-stop")
    wait_for(lambda: "a message could not be delivered" in daemon.log)
    waiting = daemon.get("/api/notices").json()
    assert waiting["receivers"][0]["waiting"] == 1 and waiting["receivers"][0]["isReached"] is False
    assert [one["id"] for one in waiting["conditions"]] == [STOP]
    daemon.process.kill()
    daemon.process.wait()
    with away:
        daemon.start()
        # It was stopped before the end, and is so still, as after every end.
        wait_for(lambda: ("happened", "occurrence/start") in away.said(), 120)
        assert away.said().count(("begins", STOP)) == 1
        assert "killed or crashed" in next(one["title"] for one in away.posts if one["kind"] == "start")
        daemon.stop()
        daemon.start()
        wait_for(lambda: daemon.get("/api/notices").json()["conditions"])
        daemon.stop()
        assert sorted(away.said()) == [("begins", STOP), ("happened", "occurrence/start")]
        # The first one was tried twice or more, and has the same identification in the file and outside.
        assert len({one["id"] for one in away.posts}) == len(away.posts)


def test_a_reload_changes_the_rules_and_a_receiver_needs_a_restart(tmp_path, hook):
    more = section(webhook(hook), rules="  rules:\n    - { kinds: [alert] }\n")
    with Daemon(tmp_path, more) as daemon:
        def reload():
            return daemon.command("reload", "--port", daemon.port, environment={"TACTUS_TOKEN": daemon.admin})

        daemon.post("/api/robot/e-stop")
        wait_for(lambda: daemon.get("/api/notices").json()["conditions"])
        assert hook.posts == []
        whole = daemon.config.read_text()
        daemon.config.write_text(whole.replace("- { kinds: [alert] }", "- { kinds: [alert] }\n    - { kinds: [e-stop] }"))
        done = reload()
        assert done.returncode == 0 and "notify.rules[1].kinds" in done.stdout, done.stderr
        wait_for(lambda: ("begins", STOP) in hook.said())
        daemon.config.write_text(whole.replace("kinds: [alert]", "kinds: [flood]"))
        refused = reload()
        assert refused.returncode == 1 and "notify.rules[0].kinds: expected one of e-stop" in refused.stderr
        daemon.config.write_text(whole.replace("secret-path-1234", "secret-path-5678"))
        refused = reload()
        assert refused.returncode == 1 and "until the next start" in refused.stderr and "secret-path" not in refused.stderr


def beside_a_deaf_receiver(tmp_path, hook, seconds):
    """Sends a message to a receiver that never answers, and to one that does."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        more = section(f"name: deaf, url: 'http://127.0.0.1:{deaf.getsockname()[1]}/'", webhook(hook))
        with Daemon(tmp_path, more) as daemon:
            daemon.post("/api/robot/e-stop")
            wait_for(lambda: ("begins", STOP) in hook.said(), seconds)
            assert daemon.get("/api/health").status_code == 200
            told = {one["name"]: one for one in daemon.get("/api/notices").json()["receivers"]}
            assert told["deaf"]["sent"] == 0 and told["deaf"]["waiting"] == 1


def test_a_receiver_that_hangs_keeps_no_other_from_being_told(tmp_path, hook):
    beside_a_deaf_receiver(tmp_path, hook, seconds=60)


# What would be delayed would come later, in the end.
@pytest.mark.real_time
def test_a_receiver_that_hangs_delays_no_other_and_no_loop(tmp_path, hook):
    beside_a_deaf_receiver(tmp_path, hook, seconds=10)


def test_the_command_sends_a_test_and_says_what_was_answered(tmp_path, hook, post):
    config = tmp_path / "c.yaml"
    config.write_text("motors: { backend: sim }\n" + section(webhook(hook), mail(post)))

    def run(*arguments):
        return subprocess.run(
            [PROGRAM, *arguments, "--config", config], capture_output=True, text=True, timeout=60, env={**os.environ, **SECRETS})

    done = run("notify", "test")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "hook: taken: status 200\noffice: taken: 250 queued as 7\n"
    assert hook.posts[0]["kind"] == "test" and "a test message" in post.mails[0]["Subject"]
    hook.status, post.refuse = 403, "RCPT"
    done = run("notify", "test")
    assert done.returncode == 1 and done.stdout == ""
    assert "hook: not taken: the receiver answered with status 403" in done.stderr
    assert "office: not taken: the mail server refused a recipient: 550 not here" in done.stderr
    assert run("notify", "test", "nobody").returncode == 64
    found = json.loads(run("doctor", "--json").stdout)
    of = {one["name"]: one for one in found["checks"] if one["name"].startswith("receiver ")}
    assert of["receiver hook"]["status"] == "ok" and of["receiver office"]["status"] == "ok"
    post.greeting = b"HTTP/1.1 400 Bad Request\r\n"
    found = json.loads(run("doctor", "--json").stdout)
    office = next(one for one in found["checks"] if one["name"] == "receiver office")
    assert office["status"] == "warn" and "no mail server" in office["found"]


def test_the_alert_rules_for_prometheus_are_right_and_name_metrics_that_there_are():
    promtool = os.environ.get("PROMTOOL", "promtool")
    for what in (["check", "rules", "prometheus-alerts.yaml"], ["test", "rules", "prometheus-alerts-test.yaml"]):
        folder = ROOT / ("config" if what[0] == "check" else "Tests/Service/alerts")
        done = subprocess.run([promtool, *what], cwd=folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
    text = (ROOT / "config/prometheus-alerts.yaml").read_text()
    recorded = (ROOT / "Tests/Service/recorded/all/metrics.txt").read_text()
    # Those are there where the file has a section notify.
    ours = (ROOT / "Sources/TactusDaemon/Notify/NoticeDesk+Documents.swift").read_text()
    for name in set(re.findall(r"tactus_[a-z_]+", "\n".join(line for line in text.splitlines() if "expr:" in line))):
        assert name in recorded or name in ours, name
