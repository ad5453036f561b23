#!/usr/bin/env python3
"""What tacit and tacitd are made of, as SPDX 2.3 in JSON. Nothing of it is kept by hand: the build folder knows what was compiled (its record of
headers) and linked (the executables' own lists, and what these need in turn), dpkg knows which Debian package each file is of, and the package's copyright
file its license.

usage: make_sbom.py BUILD FILE
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

EXECUTABLES = ("tacit", "tacitd")
BUILT_WITH = ("gcc", "meson", "ninja-build")
# How Debian's copyright files call what SPDX calls otherwise; every other name is left out, as NOASSERTION.
LICENSES = {"Apache-2.0": "Apache-2.0", "BSD-3-clause": "BSD-3-Clause", "EPL-2.0 or EDL-1.0": "EPL-2.0 OR BSD-3-Clause", "Expat": "MIT", "ISC": "ISC", "Zlib": "Zlib"}


def output(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True).stdout


def linked(program):
    """Paths of all shared libraries that the loader takes."""
    return set(re.findall(r"(/\S+) \(0x", output("ldd", program)))


def compiled(build):
    """Headers of others that went into the objects of rooms and programs."""
    records = re.split(r"\n(?=\S)", output("ninja", "-C", build, "-t", "deps"))
    return {path for record in records if not record.startswith(("tests/", "bench/")) for path in re.findall(r"^ +(/usr/\S+)$", record, re.M)}


def packages_of(files):
    """Debian packages that own these files, whatever link leads to them."""
    owners = set()
    real = {os.path.realpath(path) for path in files}
    known = files | real | {path.removeprefix("/usr") for path in real} | {"/usr" + path for path in files if path.startswith("/lib")}
    done = subprocess.run(["dpkg-query", "--search", *sorted(known)], capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        names, _, path = line.rpartition(": ")
        if path in known:
            owners |= {name.strip() for name in names.split(",")}
    return owners


def license_of(package):
    path = pathlib.Path("/usr/share/doc") / package.split(":")[0] / "copyright"
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    main = re.search(r"^Files: +\*\n(?:.+\n)*?License: *(\S.*)$", text, re.M)
    return LICENSES.get(main[1].strip() if main else "", "NOASSERTION")


def identity(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def debian(package):
    name, version, architecture, origin = output("dpkg-query", "-W", "-f", "${Package}\n${Version}\n${Architecture}\n${source:Package}", package).split("\n")
    return {"name": name, "SPDXID": identity("Package-" + name), "versionInfo": version, "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": license_of(package), "copyrightText": "NOASSERTION",
            "sourceInfo": f"built from Debian's source package {origin}",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{name}@{version.replace('+', '%2B')}?arch={architecture}"}]}


def executable(path):
    data = path.read_bytes()
    return {"fileName": "./" + path.name, "SPDXID": identity("File-" + path.name), "fileTypes": ["BINARY"], "licenseConcluded": "Apache-2.0",
            "copyrightText": "NOASSERTION",
            "checksums": [{"algorithm": kind, "checksumValue": hashlib.new(kind, data).hexdigest()} for kind in ("SHA1", "SHA256")]}


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def document(build):
    commit, seconds = output("git", "log", "-1", "--format=%H %ct").split()
    version = re.search(r"version: '(.*)'", pathlib.Path("meson.build").read_text(encoding="utf-8"))[1]
    files = [executable(build / name) for name in EXECUTABLES]
    parts, relations = set(BUILT_WITH), []
    for name in EXECUTABLES:
        needed = packages_of(linked(build / name))
        parts |= needed
        relations += [relation(identity("File-" + name), "DYNAMIC_LINK", identity("Package-" + part.split(":")[0])) for part in sorted(needed)]
        relations += [relation("SPDXRef-tacit", "CONTAINS", identity("File-" + name))]
    headers = packages_of(compiled(build))
    parts |= headers
    relations += [relation("SPDXRef-tacit", "DEPENDS_ON", identity("Package-" + part.split(":")[0])) for part in sorted(headers)]
    relations += [relation(identity("Package-" + part), "BUILD_TOOL_OF", "SPDXRef-tacit") for part in BUILT_WITH]
    code = hashlib.sha1("".join(sorted(file["checksums"][0]["checksumValue"] for file in files)).encode()).hexdigest()
    tacit = {"name": "tacit", "SPDXID": "SPDXRef-tacit", "versionInfo": f"{version}+{commit}", "supplier": "Organization: The tacit authors",
             "downloadLocation": "NOASSERTION", "filesAnalyzed": True, "packageVerificationCode": {"packageVerificationCodeValue": code},
             "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "licenseInfoFromFiles": ["Apache-2.0"], "copyrightText": "NOASSERTION",
             "primaryPackagePurpose": "APPLICATION"}
    for file in files:
        file["licenseInfoInFiles"] = ["Apache-2.0"]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"tacit-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/tacit-{version}-{commit}-{code}",
            "creationInfo": {"created": datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                             "creators": ["Organization: The tacit authors", "Tool: make_sbom.py"]},
            "packages": [tacit, *map(debian, sorted(parts))], "files": files,
            "relationships": [relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-tacit"), *relations]}


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: make_sbom.py BUILD FILE")
    pathlib.Path(sys.argv[2]).write_text(json.dumps(document(pathlib.Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")
