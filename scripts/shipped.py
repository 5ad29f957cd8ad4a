#!/usr/bin/env python3
"""Reads what users get: the oldest C and C++ libraries that it runs with, and the libraries inside.

Usage: shipped.py floor PATH                the newest symbol versions that the file, or those below the folder, need
       shipped.py changes VERSION           the section of CHANGELOG.md
       shipped.py release PACKAGES BUILD    checks the packages that scripts/release.sh made from the build tree
                                            BUILD, and writes SHA256SUMS, an SBOM (SPDX 2.3) and release notes

release fails where a file needs a newer symbol than docs/install.md states, a library that is neither inside nor
a dependency, or where a library inside has no licence here or no copyright file in the package.
"""
import collections
import datetime
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import uuid
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PREFIXES = ("GLIBC", "GLIBCXX", "CXXABI")
# Libraries that every system has: glibc and the C++ library. All others are in the package or its dependencies.
SYSTEM = re.compile(r"(ld-linux-x86-64|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))\.so\.\d+")
# SPDX licences by Debian source package. The licences of npm packages are in web/package-lock.json.
LICENCES = {
    "bzip2": "bzip2-1.0.6",
    "cli11": "BSD-3-Clause",
    "fmtlib": "MIT",
    "libisal": "BSD-3-Clause",
    "libxlsxwriter": "BSD-2-Clause",
    "libzip": "BSD-3-Clause",
    "libzstd": "BSD-3-Clause OR GPL-2.0-only",
    "minizip": "Zlib",
    "openssl": "Apache-2.0",
    "pugixml": "MIT",
    "simdjson": "Apache-2.0",
    "sqlite3": "blessing",
    "zlib": "Zlib",
}
# Packages without code in the program, though it includes their headers: system libraries, libraries of the
# tests, and libraries that are opened at run time.
NOT_INSIDE = re.compile(r"(libc6|linux-libc|libgcc-|libstdc\+\+|libgtest|libcairo|libpng|.*mpi)")

Part = collections.namedtuple("Part", "name version licence purl package relation")


class Wrong(Exception):
    """An error that stops the release."""


def output(*words, **options):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


# -- programs and libraries

Elf = collections.namedtuple("Elf", "path soname needed versions")


def elf_files(folder):
    """Yields each program and shared library below the folder; `folder` may also be one file."""
    for path in [folder] if folder.is_file() else sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF":
            dump = output("objdump", "-p", str(path), env={**os.environ, "LC_ALL": "C"})
            soname = re.search(r"^ +SONAME +(\S+)", dump, re.M)
            references = dump.partition("Version References:")[2]
            yield Elf(path, soname and soname[1], re.findall(r"^ +NEEDED +(\S+)", dump, re.M),
                      re.findall(r"^ +0x\S+ +0x\S+ +\d+ +(\S+)", references, re.M))


def number(version):
    return tuple(int(part) for part in version.split("."))


def floor(elfs):
    """Returns the newest version of each prefix that any of the files needs."""
    newest = {}
    for elf in elfs:
        for version in elf.versions:
            # DT_RELR (compact relative relocations) needs the loader of glibc 2.36
            prefix, _, digits = ("GLIBC_2.36" if version == "GLIBC_ABI_DT_RELR" else version).rpartition("_")
            if prefix not in PREFIXES:
                continue
            if not re.fullmatch(r"[0-9.]+", digits):
                raise Wrong(f"{elf.path.name} needs {version}")
            newest[prefix] = max(newest.get(prefix, digits), digits, key=number)
    return newest


def in_words(newest):
    return ", ".join(f"{prefix}_{newest[prefix]}" for prefix in PREFIXES if prefix in newest) or "none"


def stated_floor():
    text = (ROOT / "docs/install.md").read_text()
    return {prefix: re.search(rf"`{prefix}_([0-9.]+)`", text)[1] for prefix in PREFIXES}


# -- libraries inside

def packages_of(paths):
    """Returns the Debian package of each file. dpkg may list a path in /lib, from before /lib became a link."""
    found = {}
    for prefix in ("", "/usr"):
        names = {path.removeprefix(prefix): path for path in paths if path not in found}
        if names:
            listed = subprocess.run(["dpkg-query", "-S", *names], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            for line in listed.stdout.splitlines():
                package, _, name = line.partition(": ")
                found[names[name]] = package.split(":")[0]
    missing = sorted(set(paths) - set(found))
    if missing:
        raise Wrong(f"no package has {', '.join(missing)}")
    return found


@functools.lru_cache(maxsize=None)
def package_of(path):
    return packages_of([path])[path]


@functools.lru_cache(maxsize=None)
def debian_part(package, relation):
    name, version = output("dpkg-query", "-W", "-f", "${source:Package}\n${source:Version}", package).split()
    if name not in LICENCES:
        raise Wrong(f"{name} ({package}) is inside: add its licence to scripts/shipped.py")
    return Part(name, version, LICENCES[name], f"pkg:deb/debian/{name}@{version}?arch=source", package, relation)


def npm_parts():
    """Returns the packages of web/package-lock.json by name ("duckdb" for @duckdb/...)."""
    parts = {}
    for path, entry in json.loads((ROOT / "web/package-lock.json").read_text())["packages"].items():
        if path:
            name = path.removeprefix("node_modules/")
            short = "duckdb" if name.startswith("@duckdb/") else name
            parts[short] = Part(name, entry["version"], entry["license"],
                                f"pkg:npm/{name.replace('@', '%40')}@{entry['version']}", short, "CONTAINS")
    return parts


def linked_parts(build):
    """Returns the parts of the program: static libraries of its link line, header-only libraries, and ECharts."""
    ninja = (build / "build.ninja").read_text()
    rule = ninja[ninja.index("build rankscope: "):]
    archives = re.findall(r"/usr/\S+\.a\b", rule[:rule.index("\n\n")])
    parts = {package_of(a): debian_part(package_of(a), "STATIC_LINK") for a in archives}
    inside = {part.name for part in parts.values()}
    # the objects of the program and its libraries, not those of tests
    objects = re.findall(r"^build (src/\S+\.o):", ninja, re.M)
    headers = set(re.findall(r"^ +(/usr/\S+)", output("ninja", "-C", str(build), "-t", "deps", *objects), re.M))
    for package in sorted(set(packages_of({os.path.realpath(h) for h in headers}).values())):
        if not NOT_INSIDE.match(package):
            part = debian_part(package, "STATIC_LINK")
            if part.name not in inside and ".so\n" not in output("dpkg", "-L", package):
                parts[package] = part  # a header-only library
    npm = npm_parts()
    if (build / "page_assets/echarts.min.js.gz").stat().st_size < 100:
        raise Wrong("the program has no charts: scripts/web_parts.sh")
    return list(parts.values()) + [npm[name] for name in ("echarts", "zrender", "tslib")]


def library_parts(elfs):
    known = dict(re.findall(r"^\s+(\S+) \(.*x86-64.*\) => (\S+)$", output("ldconfig", "-p"), re.M))
    for elf in elfs:
        if elf.path.name == "libduckdb.so":
            yield npm_parts()["duckdb"]
        elif elf.soname and not elf.soname.startswith("librankscope"):
            yield debian_part(package_of(os.path.realpath(known[elf.soname])), "CONTAINS")


# -- packages

def unpack(package, folder):
    if package.suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True)
    elif package.suffix == ".whl":
        zipfile.ZipFile(package).extractall(folder)
    else:
        tarfile.open(package).extractall(folder)


def check_needed(package, elfs):
    """Fails if a file needs a library that is not in the package, not on every system and not in a dependency."""
    inside = {elf.soname or elf.path.name for elf in elfs}
    depends = output("dpkg-deb", "-f", str(package), "Depends") if package.suffix == ".deb" else ""
    for elf in elfs:
        for name in elf.needed:
            if name in inside or SYSTEM.fullmatch(name):
                continue
            system = re.search(rf"^\s+{re.escape(name)} .*=> (\S+)$", output("ldconfig", "-p"), re.M)
            if not system or package_of(os.path.realpath(system[1])) not in re.split(r"[ ,]+", depends):
                raise Wrong(f"{package.name}: {elf.path.name} needs {name}, which is neither inside nor a dependency")


def read_package(package, linked):
    """Returns (floor, parts) of a package. Prints the floor of each file."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        unpack(package, folder)
        elfs = list(elf_files(folder))
        print(package.name)
        for elf in elfs:
            print(f"  {elf.path.name:28} {in_words(floor([elf]))}")
        check_needed(package, elfs)
        parts = sorted(set(linked) | set(library_parts(elfs)))
        if not any(part.package == "duckdb" for part in parts):
            raise Wrong(f"{package.name} is without DuckDB: scripts/web_parts.sh")
        notices = {path.name for path in folder.rglob("copyright.*")}
        lacking = [part.name for part in parts if f"copyright.{part.package}" not in notices]
        if lacking:
            raise Wrong(f"{package.name} has no copyright file of {', '.join(lacking)}")
        return floor(elfs), parts


# -- what is written

def spdx(version, created, packages):
    """Returns the SBOM. packages: a list of (path, SHA-256, floor, parts)."""
    def entry(identifier, name, version, licence, **more):
        return {"SPDXID": identifier, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
                "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence,
                "copyrightText": "NOASSERTION", **more}

    def identifier(name):
        return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name)

    entries, relations = {}, []
    for path, digest, _, parts in packages:
        own = identifier(path.name)
        entries[own] = entry(own, path.name, version, "MIT", packageFileName=path.name,
                             checksums=[{"algorithm": "SHA256", "checksumValue": digest}])
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", own))
        for part in parts:
            other = identifier(part.name)
            entries[other] = entry(other, part.name, part.version, part.licence, externalRefs=[
                {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": part.purl}])
            relations.append((own, part.relation, other))
    digests = "".join(digest for _, digest, _, _ in packages)
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"rankscope-{version}",
        "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digests)}",
        "creationInfo": {"created": created, "creators": ["Tool: rankscope/scripts/shipped.py"]},
        "packages": list(entries.values()),
        "relationships": [{"spdxElementId": a, "relationshipType": r, "relatedSpdxElement": b} for a, r, b in relations],
    }


def changes(version):
    """Returns the section of a version in CHANGELOG.md, without its heading."""
    text = (ROOT / "CHANGELOG.md").read_text()
    found = re.search(rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not found:
        raise Wrong(f"CHANGELOG.md has no section {version}")
    return found[1].strip() + "\n"


def notes(version, packages):
    rows = "".join(f"| `{path.name}` | {path.stat().st_size / 1e6:.1f} | {in_words(newest)} |\n"
                   for path, _, newest, _ in packages)
    return (f"# rankscope {version}\n\n{changes(version)}\n## Files\n\n"
            "`docs/install.md` says how each is installed. Each needs these symbol versions of glibc and libstdc++ or "
            "newer ones:\n\n| file | MB | needs |\n|---|---|---|\n" + rows)


def release(folder, build):
    packages = sorted(p for p in folder.iterdir() if p.suffix in (".deb", ".whl") or p.name.endswith(".tar.gz"))
    if len(packages) != 3:
        raise Wrong(f"{folder} has {len(packages)} packages, not a .deb, a .tar.gz and a .whl")
    version = packages[0].name.split("-" if packages[0].suffix != ".deb" else "_")[1]
    stated = stated_floor()
    linked = linked_parts(build)
    read = []
    for package in packages:
        newest, parts = read_package(package, linked)
        read.append((package, hashlib.sha256(package.read_bytes()).hexdigest(), newest, parts))
        print(f"  all: {in_words(newest)}")
        if any(number(newest[prefix]) > number(stated[prefix]) for prefix in newest):
            raise Wrong(f"{package.name} needs {in_words(newest)}; docs/install.md states {in_words(stated)}")
        tag = re.search(r"manylinux_(\d+)_(\d+)_", package.name)
        if tag and number(f"{tag[1]}.{tag[2]}") < number(newest["GLIBC"]):
            raise Wrong(f"{package.name} needs glibc {newest['GLIBC']}")
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or datetime.datetime.now().timestamp())
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    sbom = folder / f"rankscope-{version}.spdx.json"
    sbom.write_text(json.dumps(spdx(version, created, read), indent=1) + "\n")
    (folder / "RELEASE_NOTES.md").write_text(notes(version, read))
    listed = [package for package, _, _, _ in read] + [sbom, folder / "RELEASE_NOTES.md"]
    (folder / "SHA256SUMS").write_text(
        "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in listed))


def main(words):
    if len(words) == 2 and words[0] == "floor":
        for prefix, version in floor(elf_files(pathlib.Path(words[1]))).items():
            print(prefix, version)
    elif len(words) == 3 and words[0] == "release":
        release(pathlib.Path(words[1]), pathlib.Path(words[2]))
    elif len(words) == 2 and words[0] == "changes":
        sys.stdout.write(changes(words[1]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Wrong as wrong:
        sys.exit(f"shipped.py: {wrong}")
