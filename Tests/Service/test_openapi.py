"""The running server against its own document, by schemathesis: examples, coverage, fuzzing, wrong data."""
import os
import subprocess
import sys
from pathlib import Path

SEED = os.environ.get("TACTUS_FUZZ_SEED", "20260203")
EXAMPLES = os.environ.get("TACTUS_FUZZ_COUNT", "25")
LIMIT_SECONDS = 900


def test_the_server_does_what_its_document_says(own_daemon, tmp_path, capsys):
    # Nobody answers at that port: the broker's routes are there all the same.
    daemon = own_daemon(more="pump: {backend: sim}\nvideo: {}\nmqtt: {device: test, port: 1}\n")
    with capsys.disabled():
        print(f"\nschemathesis: seed {SEED}, at most {EXAMPLES} examples a route (TACTUS_FUZZ_SEED, TACTUS_FUZZ_COUNT)")
    result = subprocess.run(
        [Path(sys.executable).parent / "schemathesis", "--config-file", Path(__file__).parent / "schemathesis.toml",
         "run", daemon.url + "/api/openapi.json",
         "--header", f"Authorization: Bearer {daemon.admin}", "--phases", "examples,coverage,fuzzing",
         "--max-examples", EXAMPLES, "--seed", SEED, "--request-timeout", "60", "--continue-on-failure", "--no-color"],
        cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    # What it has injected must not keep the daemon from stopping its motors.
    daemon.post("/api/sim/fault", {"fault": "clear"})
    report = (result.stdout + result.stderr).replace(daemon.admin, "TOKEN")
    assert result.returncode == 0, report
    assert daemon.get("/api/status").status_code == 200
    # What was injected last may keep the motors' stop from being confirmed, and the daemon says so with its exit status.
    assert daemon.post("/api/sim/fault", {"fault": "clear"}).status_code == 200
