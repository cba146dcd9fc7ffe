#!/usr/bin/env python3
"""bill-of-materials.py PROGRAMS STATE VERSION EPOCH ARCHITECTURE SBOM LICENCES: what is linked into the programs, as SPDX 2.3,
and the texts of its licences.

PROGRAMS is a folder of SwiftPM with the programs and the lists of the object files they were linked from; STATE the
workspace-state.json of that build, with the checkouts beside it.
"""

import datetime
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
# Where a target's sources are is its own affair.
OWN = {target["name"] for target in json.loads(
    subprocess.check_output(["swift", "package", "dump-package"], cwd=REPOSITORY))["targets"]}
NAMES = ["tactus", "tactus-video", "tactus-cameras", "tactus-detect"]
# Code of others inside the packages: by the module that holds it, its name, origin, licence and the file of its text.
INSIDE = {
    "CNIOLLHTTP": ("llhttp", "https://github.com/nodejs/llhttp", "MIT", "Sources/CNIOLLHTTP/LICENSE"),
    "CYaml": ("libyaml", "https://github.com/yaml/libyaml", "MIT", None),
    "CNIOBoringSSL": ("BoringSSL", "https://boringssl.googlesource.com/boringssl", "Apache-2.0 AND ISC AND OpenSSL", None),
}
# Swift's own libraries, which are linked statically, each with a text that every program with it contains.
SWIFT = [
    ("swift", "swift_retain", "https://github.com/swiftlang/swift", "Apache-2.0 WITH Swift-exception"),
    ("swift-corelibs-libdispatch", "_dispatch_main_queue", "https://github.com/swiftlang/swift-corelibs-libdispatch",
     "Apache-2.0 WITH Swift-exception"),
    ("swift-foundation", "FoundationEssentials", "https://github.com/swiftlang/swift-foundation",
     "Apache-2.0 WITH Swift-exception"),
    ("swift-corelibs-foundation", "$s10Foundation", "https://github.com/swiftlang/swift-corelibs-foundation",
     "Apache-2.0 WITH Swift-exception"),
    ("swift-foundation-icu", "icudt", "https://github.com/swiftlang/swift-foundation-icu",
     "Apache-2.0 WITH Swift-exception AND Unicode-3.0"),
]


def modules(programs: pathlib.Path, name: str) -> set[str]:
    path = programs / f"{name}.product" / "Objects.LinkFileList"
    if not path.exists():
        sys.exit(f"bill-of-materials.py: {path}: expected the list of object files that SwiftPM leaves, there is none")
    return set(re.findall(r"([^/\n]+)\.build/", path.read_text()))


def holder(module: str, checkouts: pathlib.Path, folders: list[str]) -> str | None:
    """The checkout that has a module's folder; `None` if it is ours."""
    if module in OWN:
        return None
    found = [each for each in folders if any(path.is_dir() for path in (checkouts / each).glob(f"Sources/**/{module}"))]
    # A target need not be in the folder of its name.
    declared = re.compile(r'arget\(\s*name: *"' + re.escape(module) + '"')
    found = found or [each for each in folders if declared.search((checkouts / each / "Package.swift").read_text())]
    if not found:
        sys.exit(f"bill-of-materials.py: no package is known that has the module {module}")
    return found[0]


def licence(text: str) -> str:
    if "Apache License" in text:
        return "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in text else "Apache-2.0"
    if "Permission is hereby granted, free of charge" in text:
        return "MIT"
    sys.exit(f"bill-of-materials.py: an unknown licence: {text[:80]!r}")


def swift_version(program: bytes) -> str | None:
    """Of the compiler, if it has left it in the program."""
    found = re.search(rb"swift-([0-9.]+)-RELEASE", program)
    return found[1].decode() if found else None


def package(name: str, version: str, origin: str, terms: str, **more: object) -> dict:
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
        "downloadLocation": origin, "filesAnalyzed": False, "licenseConcluded": terms, "licenseDeclared": terms,
        "copyrightText": "NOASSERTION", **more}


programs, state = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
version, epoch, architecture = sys.argv[3], int(sys.argv[4]), sys.argv[5]
checkouts = state.parent / "checkouts"
known = {
    each["subpath"]: each for each in json.loads(state.read_text())["object"]["dependencies"]
    if each["packageRef"]["kind"] == "remoteSourceControl"}

# The compiler's own, beside it.
compiler = pathlib.Path(shutil.which("swift") or sys.exit("bill-of-materials.py: swift is not found in PATH")).resolve()
swift_licence = (compiler.parent.parent / "share/swift/LICENSE.txt").read_text()

parts: dict[str, dict] = {}
links: list[tuple[str, str]] = []
texts: dict[str, str] = {}
version_of_swift: str | None = None


def add(program: str, part: dict, text: str) -> None:
    parts[part["SPDXID"]] = part
    texts[part["name"]] = text
    if (program, part["SPDXID"]) not in links:
        links.append((program, part["SPDXID"]))


for name in NAMES:
    if not (programs / name).exists():
        continue
    own = package(name, version, "NOASSERTION", "Apache-2.0", primaryPackagePurpose="APPLICATION")
    parts[own["SPDXID"]] = own
    names = modules(programs, name)
    for module in sorted(names):
        folder = holder(module, checkouts, sorted(known))
        if not folder:
            continue
        at = known[folder]["state"]["checkoutState"]
        text = "\n".join(path.read_text() for path in sorted((checkouts / folder).glob("LICENSE*")))
        notice = "\n".join(path.read_text() for path in sorted((checkouts / folder).glob("NOTICE*")))
        origin = known[folder]["packageRef"]["location"]
        revision = at["revision"]
        add(own["SPDXID"], package(
            known[folder]["packageRef"]["identity"], at.get("version") or revision, f"git+{origin}@{revision}", licence(text),
            externalRefs=[{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": f"pkg:swift/{re.sub('^https://|[.]git$', '', origin)}@{at.get('version') or revision}"}]),
            text + notice)
        if module in INSIDE:
            title, origin, terms, file = INSIDE[module]
            add(own["SPDXID"], package(title, "NOASSERTION", origin, terms, comment=f"Part of {folder}."),
                (checkouts / folder / file).read_text() if file else f"See {folder} in this file.\n")
    program = (programs / name).read_bytes()
    # Not every program tells it; all are built by one compiler.
    version_of_swift = version_of_swift or swift_version(program)
    for title, mark, origin, terms in SWIFT:
        if mark.encode() in program:
            add(own["SPDXID"], package(title, version_of_swift or "NOASSERTION", origin, terms), swift_licence)

described = [part["SPDXID"] for part in parts.values() if part.get("primaryPackagePurpose")]
document = {
    "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"tactus-{version}-{architecture}",
    "creationInfo": {
        "created": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "creators": ["Tool: tactus-scripts-package"]},
    "documentDescribes": described, "packages": [parts[key] for key in sorted(parts)],
    "relationships": [
        {"spdxElementId": program, "relationshipType": "STATIC_LINK", "relatedSpdxElement": part} for program, part in links]}
digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
document["documentNamespace"] = f"https://spdx.org/spdxdocs/tactus-{version}-{architecture}-{digest}"
pathlib.Path(sys.argv[6]).write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
rule = "=" * 80
pathlib.Path(sys.argv[7]).write_text("\n".join(f"{rule}\n{name}\n{rule}\n\n{texts[name]}" for name in sorted(texts)))
