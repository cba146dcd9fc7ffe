"""What the scripts say of themselves, without installing, building or starting anything."""
import os
import re
import subprocess

import pytest

from daemon import ROOT

SCRIPTS = sorted(path.name for path in (ROOT / "scripts").iterdir() if path.is_file())
# What would install, build or start something.
TOOLS = ["apt-get", "sudo", "swift", "swiftc", "cc", "c++", "pip", "python3-venv", "docker"]


def owner_parts(page):
    """The page without what stands below a heading that says that it is of a checkout, and without the targets of links."""
    parts = re.split(r"^(?=#+ )", (ROOT / "docs" / page).read_text(), flags=re.M)
    return re.sub(r"\]\([^)]*\)", "]", "".join(part for part in parts if "checkout" not in part.partition("\n")[0]))


@pytest.mark.parametrize("page", ["install.md", "updates.md", "first-hour.md"])
def test_an_owner_of_the_package_reads_no_path_of_a_checkout(page):
    found = re.findall(r"\S*(?:config/|scripts/|\.build|Tests/)\S*", owner_parts(page))
    assert not found, found


def test_the_installation_names_files_that_a_package_brings():
    """The package's examples are what stands in `config`; there is no checkout beside them."""
    lines = [line.split("  #")[0].split(" # ")[0].strip() for line in owner_parts("install.md").splitlines() if line.startswith("    ")]
    assert (ROOT / "packaging/debian/tactus.examples").read_text() == "config/*\n"
    files = [word for line in lines for word in line.split() if word.endswith((".yaml", ".md")) and not word.startswith("/etc/")]
    assert "cd /usr/share/doc/tactus/examples" in lines and len(files) >= 3
    for file in files:
        assert (ROOT / "config" / file).is_file() and "/" not in file, file


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_a_script_says_what_it_does_before_it_does_anything(name, option, tmp_path):
    done = tmp_path / "done"
    for tool in TOOLS:
        (tmp_path / tool).write_text(f'#!/bin/sh\necho "$0 $*" >> {done}\nexit 1\n')
        (tmp_path / tool).chmod(0o755)
    before = set((ROOT / ".build").glob("*")) if (ROOT / ".build").exists() else set()
    said = subprocess.run(
        [ROOT / "scripts" / name, option], cwd=tmp_path, capture_output=True, text=True, timeout=120,
        stdin=subprocess.DEVNULL, env={**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert said.returncode == 0, said.stderr
    assert f"scripts/{name}" in said.stdout
    assert not done.exists(), done.read_text()
    assert before == (set((ROOT / ".build").glob("*")) if before else set())
