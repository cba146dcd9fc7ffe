"""`tactus record` and `tactus replay`: a running daemon's ticks, run again by another process."""
import re

from daemon import Daemon


def record(daemon, file, *more):
    return daemon.command(
        "record", "--host", daemon.url, "--output", file, *more, environment={"TACTUS_TOKEN": daemon.admin})


def replay(daemon, file):
    return daemon.command("replay", file, "--config", daemon.config)


def used(daemon):
    """Each of the systems does something."""
    daemon.post("/api/robot/drive", {"left": 30, "right": 20})
    daemon.post("/api/leg/arm", {})
    daemon.post("/api/zone/2/on", {"minutes": 1})
    daemon.post("/api/e-stop", {})
    daemon.post("/api/reset", {})


def test_what_ran_runs_again_with_no_difference(tmp_path):
    with Daemon(tmp_path) as daemon:
        used(daemon)
        first = record(daemon, tmp_path / "first.record")
        assert first.returncode == 0, first.stderr
        assert re.search(r"robot.*\n?", first.stdout) and "replay" in first.stdout
        # The printed line, as it is.
        again = replay(daemon, tmp_path / "first.record")
        assert again.returncode == 0, again.stdout + again.stderr
        assert "no difference" in again.stdout
        # What exists is not overwritten.
        assert record(daemon, tmp_path / "first.record").returncode == 1
        last = record(daemon, tmp_path / "last.record", "--last", "1s")
        assert last.returncode == 0, last.stderr
        assert replay(daemon, tmp_path / "last.record").returncode == 0


def test_only_an_admin_gets_a_recording_and_no_secret_is_in_it(tmp_path):
    with Daemon(tmp_path) as daemon:
        used(daemon)
        assert daemon.get("/api/recording", token=None).status_code == 401
        answer = daemon.get("/api/recording?last=5")
        assert answer.status_code == 200 and answer.content.startswith(b"TACTUS-RECORD-1\n")
        assert daemon.admin.encode() not in answer.content
        assert daemon.get("/api/recording?last=0").status_code == 422
        assert daemon.get("/api/recording?first=1").status_code == 422


def test_a_damaged_file_and_another_configuration_are_said(tmp_path):
    with Daemon(tmp_path) as daemon:
        file = tmp_path / "a.record"
        assert record(daemon, file).returncode == 0
        whole = file.read_bytes()
        for content, said in [
            (whole[:-1], "cut off"), (whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], "changed"), (b"", "got no file or an empty one"), (b"TACTUS", "begins with"),
        ]:
            (tmp_path / "b.record").write_bytes(content)
            refused = replay(daemon, tmp_path / "b.record")
            assert refused.returncode == 65 and said in refused.stderr, refused.stderr
        other = tmp_path / "other.yaml"
        other.write_text("pump:\n  backend: sim\n")
        refused = daemon.command("replay", file, "--config", other)
        assert refused.returncode == 65 and "has none of them" in refused.stderr, refused.stderr


def test_without_a_recorder_there_is_nothing_to_record(tmp_path):
    with Daemon(tmp_path) as daemon:
        text = daemon.config.read_text().replace("  lock_memory: false\n", "  lock_memory: false\n  recorder_kilobytes: 0\n")
        daemon.config.write_text(text)
        daemon.stop()
        daemon.start()
        refused = record(daemon, tmp_path / "a.record")
        assert refused.returncode == 1 and "runtime.recorder_kilobytes is 0" in refused.stderr, refused.stderr
