"""`tactus backup` and `tactus restore`: configuration, tokens and what the store keeps, all or in parts, from and into a running daemon, and as the files
of one that is stopped."""
import contextlib
import hashlib
import json
import re
import resource
import socket
import sqlite3
import subprocess
import tarfile
import time

import pytest

from broker import eventually
from daemon import PROGRAM, Daemon


def plants(daemon):
    return [plant["name"] for plant in daemon.get("/api/plants").json()["plants"]]


def schedules(daemon):
    return [schedule["name"] for schedule in daemon.get("/api/schedules").json()["schedules"]]


def fill(daemon):
    """A plant and a schedule, of two systems."""
    assert daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"]}).status_code == 201
    assert daemon.post("/api/schedules", {
        "name": "Beds", "days": ["Mon"], "startTimes": ["06:30"], "zones": [{"zoneId": 1, "minutes": 5}]}).status_code == 201


def empty(daemon):
    plant = daemon.get("/api/plants").json()["plants"][0]["id"]
    assert daemon.request("DELETE", f"/api/plants/{plant}").status_code == 200
    assert daemon.request("DELETE", f"/api/schedules/{daemon.get('/api/schedules').json()['schedules'][0]['id']}").status_code == 200
    assert plants(daemon) == schedules(daemon) == []


def entries(file):
    """The files of a whole backup, as tar has them."""
    with tarfile.open(file) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


def asked(daemon, *words, token=None):
    return daemon.command(words[0], "--host", daemon.url, *words[1:], environment={"TACTUS_TOKEN": token or daemon.admin})


def stopped(daemon, *words):
    return daemon.command(*words, "--config", daemon.config, "--simulate")


@pytest.fixture
def filled(tmp_path):
    with Daemon(tmp_path) as daemon:
        fill(daemon)
        yield daemon


def test_from_a_running_daemon_and_into_it(filled, tmp_path):
    file = tmp_path / "backup.tar"
    made = asked(filled, "backup", "--output", file)
    assert made.returncode == 0 and f"{file}: {file.stat().st_size} bytes" in made.stdout, made.stderr
    lines = made.stdout.splitlines()
    assert any(re.match(r"sprinkler: zones \d+; schedules 1; ", line) for line in lines) and any(line.startswith("plants: plants 1; ") for line in lines), made.stdout
    assert file.stat().st_mode & 0o777 == 0o600
    # What is there is not overwritten.
    kept = file.read_bytes()
    again = asked(filled, "backup", "--output", file)
    assert again.returncode == 1 and "File exists: give another name with --output" in again.stderr and file.read_bytes() == kept
    empty(filled)
    taken = asked(filled, "restore", file)
    assert taken.returncode == 0 and "restore --undo" in taken.stdout and "Configuration and tokens stay" in taken.stdout, taken.stderr
    # The plants' desk reads it anew at its next beat.
    eventually(lambda: plants(filled) == ["Basil"])
    assert schedules(filled) == ["Beds"]
    lines = [json.loads(line) for line in filled.log.splitlines() if '"action":"' in line]
    assert [line["result"] for line in lines if line["system"] == "store"] == ["ok", "ok"]


def test_of_a_stopped_daemon_and_on_a_new_machine(filled, tmp_path):
    file = tmp_path / "backup.tar"
    store = tmp_path / "state/simulated/store.sqlite"
    file.write_bytes(b"x")
    running = stopped(filled, "restore", file)
    assert running.returncode == 1 and "another process has it open: stop the daemon first" in running.stderr
    # The store of that file is meant, not of whatever daemon answers.
    assert "another process has it open" in stopped(filled, "backup", "--output", tmp_path / "other.sqlite").stderr
    file.unlink()
    filled.stop()
    unanswered = asked(filled, "backup", "--output", file)
    assert unanswered.returncode == 1 and "give --config FILE" in unanswered.stderr and not file.exists()
    made = stopped(filled, "backup", "--output", file)
    assert made.returncode == 0, made.stderr
    # Another card: nothing is there, and nothing is no backup.
    for one in sorted(store.parent.rglob("*"), reverse=True):
        one.rmdir() if one.is_dir() else one.unlink()
    none = stopped(filled, "backup", "--output", tmp_path / "none.sqlite")
    assert none.returncode == 1 and "there is no store" in none.stderr and not list(store.parent.iterdir()) and not (tmp_path / "none.sqlite").exists()
    fresh = stopped(filled, "restore", file)
    assert fresh.returncode == 0 and "made; there was none" in fresh.stderr, fresh.stderr
    filled.start()
    assert plants(filled) == ["Basil"] and schedules(filled) == ["Beds"]
    empty(filled)
    filled.stop()
    # Put back, and the way back from that: a store's file, as every backup of before is.
    replaced = stopped(filled, "restore", file)
    assert replaced.returncode == 0 and f"configuration: {filled.config}, the same\n" in replaced.stdout, replaced.stderr
    before = re.search(r"^store: .*; what was there before: (.*)$", replaced.stdout, re.MULTILINE)[1]
    filled.start()
    assert plants(filled) == ["Basil"] and schedules(filled) == ["Beds"]
    filled.stop()
    assert stopped(filled, "restore", before).returncode == 0
    filled.start()
    assert plants(filled) == schedules(filled) == []


def test_a_stopped_daemons_store_takes_a_backup_from_a_pipe(filled, tmp_path):
    file = tmp_path / "backup.tar"
    assert asked(filled, "backup", "--output", file).returncode == 0
    empty(filled)
    filled.stop()
    taken = subprocess.run(
        ["sh", "-c", 'cat "$0" | "$1" restore /dev/stdin --config "$2" --simulate', file, PROGRAM, filled.config], capture_output=True, text=True,
        env=filled.own_environment())
    assert taken.returncode == 0 and "/dev/stdin: restored." in taken.stdout, taken.stderr
    filled.start()
    assert plants(filled) == ["Basil"] and schedules(filled) == ["Beds"]


def test_a_file_alone_standard_output_and_json(filled, tmp_path):
    file = tmp_path / "alone.tar"
    made = json.loads(asked(filled, "backup", file, "--json").stdout)
    assert made["ok"] is True and made["file"] == str(file) and made["bytes"] == file.stat().st_size
    assert made["entries"] == ["configuration.yaml", "store.sqlite"] and made["notInIt"] == []
    assert [part["part"] for part in made["parts"]] == [part["part"] for part in filled.get("/api/store").json()["parts"]]
    assert asked(filled, "backup", file, "--output", tmp_path / "other.sqlite").returncode == 64
    # A pipe gets the file's bytes, and nothing is called "-".
    piped = subprocess.run(
        [PROGRAM, "backup", "-o", "-", "--host", filled.url], stdin=subprocess.DEVNULL, capture_output=True, cwd=tmp_path,
        env=filled.own_environment(TACTUS_TOKEN=filled.admin))
    assert piped.returncode == 0 and piped.stdout.startswith(b"manifest.json\0"), piped.stderr
    assert piped.stderr == f"{len(piped.stdout)} bytes\n".encode() and not (tmp_path / "-").exists()
    looked = json.loads(asked(filled, "restore", "--look", "--json", file).stdout)
    assert looked["ok"] is True and {part["part"] for part in looked["parts"]} >= {"sprinkler", "plants"}
    support = json.loads(asked(filled, "support", "--json", "-o", tmp_path / "support.txt").stdout)
    assert support == {"ok": True, "file": str(tmp_path / "support.txt"), "bytes": (tmp_path / "support.txt").stat().st_size}


def test_a_file_that_cannot_be_written_whole_is_not_left(filled, tmp_path):
    # The file may have no byte, as on a disk that is full; Python ignores the signal that comes with it, and so does what it starts.
    for command in ["backup", "support", "record"]:
        file = tmp_path / command
        result = filled.command(
            command, "--host", filled.url, "-o", file, environment={"TACTUS_TOKEN": filled.admin}, restore_signals=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        assert result.returncode == 1 and f"{file}: File too large: nothing was written" in result.stderr, result.stderr
        assert not file.exists()
        # Before anything is asked of a daemon.
        file.write_text("x")
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            result = filled.command(command, "--port", silent.getsockname()[1], "-o", file)
        assert result.returncode == 1 and f"{file}: File exists: give another name" in result.stderr and file.read_text() == "x"


def test_in_parts_looked_at_before_and_undone(filled, tmp_path):
    file = tmp_path / "sprinkler.sqlite"
    assert asked(filled, "backup", "--parts", "sprinkler", "--output", file).returncode == 0
    # Nothing of the plants is in it.
    assert b"Basil" not in file.read_bytes() and b"Beds" in file.read_bytes()
    assert filled.request("DELETE", "/api/schedules/1").status_code == 200
    assert filled.post("/api/plants", {"name": "Mint", "sensors": ["0x36"]}).status_code == 201
    nothing = asked(filled, "restore", "--undo")
    assert nothing.returncode == 1 and "no restore has replaced anything" in nothing.stderr
    looked = asked(filled, "restore", "--look", file)
    assert looked.returncode == 0 and "  schedules: 0 now, 1 in the backup: 0 lost, 0 overwritten, 1 added" in looked.stdout, looked.stderr
    assert "plants: not in the backup, stays as it is" in looked.stdout
    assert schedules(filled) == [] and filled.get("/api/store").json()["undoISO"] is None
    assert asked(filled, "restore", file).returncode == 0
    assert schedules(filled) == ["Beds"] and plants(filled) == ["Basil", "Mint"]
    assert asked(filled, "restore", "--undo").returncode == 0
    assert schedules(filled) == [] and plants(filled) == ["Basil", "Mint"]
    # The store of a daemon that is stopped, by the same words.
    filled.stop()
    assert stopped(filled, "restore", "--undo").returncode == 0
    looked = stopped(filled, "restore", "--look", file)
    assert looked.returncode == 0 and "  schedules: 1 now, 1 in the backup: 0 lost, 0 overwritten, 0 added" in looked.stdout, looked.stderr
    filled.start()
    assert schedules(filled) == ["Beds"] and plants(filled) == ["Basil", "Mint"]


def test_a_restore_of_the_sprinkler_deletes_no_plant(filled):
    whole = filled.get("/api/backup").content
    assert filled.request("DELETE", "/api/schedules/1").status_code == 200
    assert filled.post("/api/plants", {"name": "Mint", "sensors": ["0x36"]}).status_code == 201
    file = {"data": whole, "headers": {"Content-Type": "application/octet-stream"}}
    assert filled.request("POST", "/api/sprinkler/restore", **file).status_code == 200
    assert schedules(filled) == ["Beds"] and plants(filled) == ["Basil", "Mint"]
    assert b"Basil" not in filled.get("/api/sprinkler/backup").content
    # Whoever asks for the plants' part gets it, and what that replaced is had back.
    assert filled.request("POST", "/api/restore?parts=plants", **file).json()["parts"] == ["plants"]
    eventually(lambda: plants(filled) == ["Basil"])
    assert filled.post("/api/restore/undo").json()["parts"] == ["plants"]
    eventually(lambda: plants(filled) == ["Basil", "Mint"])


def test_parts_that_nobody_knows(filled, tmp_path):
    file = tmp_path / "backup.tar"
    expected = "expected parts of the store with commas between them, of "
    for refused in asked(filled, "backup", "--parts", "zones", "--output", file), stopped(filled, "backup", "--parts", "zones", "--output", file):
        assert refused.returncode == 1 and expected in refused.stderr and 'got "zones"' in refused.stderr and "sprinkler" in refused.stderr, refused.stderr
        assert not file.exists()
    refused = filled.get("/api/backup?parts=sprinkler,")
    assert refused.status_code == 422 and refused.json()["field"] == "parts" and expected in refused.json()["message"]
    for words in ["restore"], ["restore", "--undo", file], ["restore", "--look", "--parts", "plants", file]:
        assert asked(filled, *words).returncode == 64


def test_what_is_in_a_whole_backup_and_what_is_not(tmp_path):
    key = "a-key-of-more-than-32-characters-0123456789"
    with Daemon(tmp_path, jwt_key=key) as daemon:
        fill(daemon)
        daemon.config.write_text("# Anna's boat\n" + daemon.config.read_text())
        phone = daemon.create_token("control", "phone")
        file = tmp_path / "backup.tar"
        made = asked(daemon, "backup", file)
        assert made.returncode == 0 and "not in it: service.jwt_key: a secret in the file; ${SERVICE_JWT_KEY} stands in its place\n" in made.stdout, made.stderr
        held = entries(file)
        assert list(held) == ["manifest.json", "configuration.yaml", "tokens.json", "store.sqlite"]
        manifest = json.loads(held["manifest.json"])
        assert manifest["format"] == 1 and manifest["program"] == "tactus"
        assert manifest["entries"] == [
            {"name": name, "bytes": len(held[name]), "sha256": hashlib.sha256(held[name]).hexdigest()} for name in list(held)[1:]]
        # The file as it is on the disk, with its comments, and without what opens anything.
        assert held["configuration.yaml"].decode() == daemon.config.read_text().replace(f'"{key}"', "'${SERVICE_JWT_KEY}'")
        assert held["tokens.json"] == daemon.tokens.read_bytes()
        assert key.encode() not in file.read_bytes() and phone.encode() not in file.read_bytes() and daemon.admin.encode() not in file.read_bytes()
        # One with an error is not what a start takes: what is kept comes all the same.
        daemon.config.write_text(daemon.config.read_text() + "nonsense: 1\n")
        refused = asked(daemon, "backup", tmp_path / "refused.tar")
        assert refused.returncode == 1 and "nonsense: expected a known key" in refused.stderr and not (tmp_path / "refused.tar").exists(), refused.stderr
        assert daemon.get("/api/backup").json()["code"] == "BAD_CONFIG"
        assert asked(daemon, "backup", "--parts", "plants", tmp_path / "part.sqlite").returncode == 0


def test_all_of_it_on_another_card(tmp_path):
    key = "a-key-of-more-than-32-characters-0123456789"
    with Daemon(tmp_path, jwt_key=key) as daemon:
        fill(daemon)
        phone = daemon.create_token("control", "phone")
        file = tmp_path / "backup.tar"
        assert asked(daemon, "backup", file).returncode == 0
        before = daemon.config.read_text(), daemon.tokens.read_bytes()
        running = stopped(daemon, "restore", file)
        assert running.returncode == 1 and "another process has it open" in running.stderr
        assert (daemon.config.read_text(), daemon.tokens.read_bytes()) == before and not list(tmp_path.glob("*.replaced-*"))
        daemon.stop()
        for one in sorted((tmp_path / "state").rglob("*"), reverse=True):
            one.rmdir() if one.is_dir() else one.unlink()
        daemon.tokens.unlink()
        daemon.config.write_text("motors: {backend: sim}\n")
        looked = stopped(daemon, "restore", "--look", file)
        assert looked.returncode == 1 and daemon.config.read_text() == "motors: {backend: sim}\n"
        taken = stopped(daemon, "restore", file)
        assert taken.returncode == 0 and f"{file}: restored.\n" in taken.stdout, taken.stderr
        # The secret is asked for, and without it the daemon does not start with another.
        assert "Still to bring: service.jwt_key: the environment variable SERVICE_JWT_KEY, which is not set here\n" in taken.stdout
        assert daemon.config.read_text() == before[0].replace(f'"{key}"', "'${SERVICE_JWT_KEY}'") and daemon.tokens.read_bytes() == before[1]
        assert daemon.tokens.stat().st_mode & 0o777 == 0o600
        [kept] = tmp_path.glob("*.replaced-*")
        assert kept.name.startswith("tactus.yaml.replaced-") and kept.read_text() == "motors: {backend: sim}\n"
        assert kept.stat().st_mode & 0o777 == 0o600 and str(kept) in taken.stdout
        assert daemon.command("check", daemon.config).returncode == 78
        daemon.environment["SERVICE_JWT_KEY"] = key
        daemon.start()
        assert plants(daemon) == ["Basil"] and schedules(daemon) == ["Beds"]
        assert daemon.get("/api/plants", token=phone).status_code == 200


def test_what_is_revoked_stays_revoked(filled, tmp_path):
    lost, phone = filled.create_token("control", "lost"), filled.create_token("control", "phone")
    file = tmp_path / "backup.tar"
    assert asked(filled, "backup", file).returncode == 0
    assert filled.command("token", "revoke", "lost", "--config", filled.config).returncode == 0
    new = filled.create_token("control", "new")
    before = filled.tokens.read_bytes()
    filled.stop()
    assert stopped(filled, "restore", file).returncode == 0
    [kept] = tmp_path.glob("tokens.json.replaced-*")
    assert kept.read_bytes() == before
    filled.start()
    assert [filled.get("/api/plants", token=token).status_code for token in (lost, phone, new)] == [401, 200, 401]
    # Of one that holds parts, and of the parts that are named, configuration and tokens stay.
    filled.config.write_text(filled.config.read_text() + "# later\n")
    filled.stop()
    assert stopped(filled, "restore", "--parts", "plants", file).returncode == 0
    assert filled.config.read_text().endswith("# later\n")


def test_a_daemon_that_keeps_nothing_has_a_backup_of_its_files(tmp_path):
    config = tmp_path / "robot.yaml"
    config.write_text(f"motors: {{backend: sim}}\nservice: {{token_file: {tmp_path}/tokens.json}}\n")
    file = tmp_path / "backup.tar"
    daemon = Daemon(tmp_path)
    made = daemon.command("backup", file, "--config", config)
    assert made.returncode == 0 and list(entries(file)) == ["manifest.json", "configuration.yaml"], made.stderr
    text = config.read_text()
    config.unlink()
    assert daemon.command("restore", file, "--config", config).returncode == 0 and config.read_text() == text


def test_a_restore_that_is_killed_leaves_the_one_or_the_other(filled, tmp_path):
    files = {name: tmp_path / f"{name}.tar" for name in ("full", "empty")}
    assert asked(filled, "backup", "--output", files["full"]).returncode == 0
    empty(filled)
    assert asked(filled, "backup", "--output", files["empty"]).returncode == 0
    filled.stop()

    def count(file):
        (tmp_path / "count.sqlite").write_bytes(entries(file)["store.sqlite"])
        with sqlite3.connect(tmp_path / "count.sqlite") as database:
            return database.execute("SELECT count(*) FROM plants_plant").fetchone()[0]

    # The first is not killed: how long one takes on this machine.
    kept, taken = 0, 60
    for number in range(41):
        began = time.monotonic()
        command = subprocess.Popen(
            [PROGRAM, "restore", files[("full", "empty")[number % 2]], "--config", filled.config, "--simulate"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            command.wait(taken * number / 40 if number else taken)
        if number == 0:
            assert command.returncode == 0
            taken = time.monotonic() - began
        command.kill()
        command.wait()
        file = tmp_path / f"after-{number}.tar"
        after = stopped(filled, "backup", "--output", file)
        # Nothing was set aside or taken from a snapshot.
        assert after.returncode == 0 and after.stderr == "", after.stderr
        # A half would be another number, or no table.
        before, kept, wanted = kept, count(file), 1 - number % 2
        assert kept in ((wanted,) if number == 0 else (before, wanted)), number


def test_what_is_no_backup_changes_nothing(filled, tmp_path):
    nonsense = tmp_path / "nonsense"
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE songs (name TEXT)")
    good, part = tmp_path / "good.tar", tmp_path / "part.sqlite"
    assert asked(filled, "backup", "--output", good).returncode == 0
    assert asked(filled, "backup", "--parts", "plants", "--output", part).returncode == 0
    nonsense.write_bytes(part.read_bytes()[:-5000])
    cut, flipped = tmp_path / "cut", tmp_path / "flipped"
    cut.write_bytes(good.read_bytes()[:-5000])
    one = bytearray(good.read_bytes())
    one[-5000] ^= 1
    flipped.write_bytes(one)
    answer = filled.request("POST", "/api/restore", data=bytes(one), headers={"Content-Type": "application/x-tar"})
    assert answer.status_code == 422 and answer.json()["message"].startswith("the backup: damaged: store.sqlite: expected "), answer.text
    changed = r"store\.sqlite: expected (\d+) bytes with the SHA-256 [0-9a-f]{64}, got \1 with [0-9a-f]{64}; nothing was changed"
    for path in cut, flipped:
        refused = asked(filled, "restore", path)
        assert refused.returncode == 1 and re.search(changed if path == flipped else "store.sqlite: expected all of the file", refused.stderr), refused.stderr
    for path, expected in [(nonsense, "damaged"), (other, "expected a store of this program"), (tmp_path / "nowhere", "got no file"), (tmp_path, "is not a file")]:
        refused = asked(filled, "restore", path)
        assert refused.returncode == 1 and expected in refused.stderr, refused.stderr
    assert plants(filled) == ["Basil"] and schedules(filled) == ["Beds"]
    filled.stop()
    for path in nonsense, other, cut, flipped:
        assert stopped(filled, "restore", path).returncode == 1
    filled.start()
    assert plants(filled) == ["Basil"] and schedules(filled) == ["Beds"]


def test_only_an_admin_gets_it_and_gives_it(filled, tmp_path):
    file = tmp_path / "backup.tar"
    control = filled.create_token("control")
    refused = asked(filled, "backup", "--output", file, token=control)
    assert refused.returncode == 1 and "admin" in refused.stderr and not file.exists()
    assert filled.post("/api/restore", token=control).status_code == 403
    assert filled.get("/api/backup", token=None).status_code == 401
    assert filled.post("/api/restore").json()["code"] == "BODY_MISSING"


def test_the_daemons_own_account_needs_no_token(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    with Daemon(tmp_path, environment={"RUNTIME_DIRECTORY": str(folder)}) as daemon:
        eventually((folder / "safe-state-door").exists)
        here = {"environment": {"RUNTIME_DIRECTORY": str(folder), "TACTUS_TOKEN": ""}}
        for words in ["backup", "--output", tmp_path / "own.sqlite"], ["status"], ["logs"], ["call", "status"], ["top", "--once"]:
            done = daemon.command(*words, **here)
            assert done.returncode == 0, (words, done.stderr)
        # An address that somebody names is asked as everybody asks.
        assert daemon.command("logs", daemon.url, **here).returncode == 1
