#!/usr/bin/env python3
"""Makes the packages in target/packages (.deb, .rpm, wheel, npm) of a build, and tries each as installed.

packages.py FOLDER [--tree]: the folder with the program and the recorder's library, such as target/release. With --tree
only the files are put in place and tried there: packing them takes a minute.

All four have one tree of files, as below /usr: the program finds its library and its sample beside itself.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "target" / "packages"
STAGE = OUT / "stage"
TOOLS = ROOT / "target" / "python" / "bin"
LIBRARY = "libmemory_city_agent.so"
SAMPLE = "share/memory-city/sample-data/person-leak"
VERSION = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M).group(1)
# The C library that the program asks for; that of packaging/nfpm.yaml.
GLIBC = (2, 35)


def run(*command, **more):
    subprocess.run([str(word) for word in command], check=True, **more)


def output(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **more).stdout


def put(source, place, mode=0o644):
    path = STAGE / place
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, path)
    path.chmod(mode)
    return path


def needed_glibc(path):
    symbols = output("objdump", "-T", path)
    return max(tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", symbols))


def stage(built):
    shutil.rmtree(OUT, ignore_errors=True)
    STAGE.mkdir(parents=True)
    library = next(path for path in (built / LIBRARY, built / "deps" / LIBRARY) if path.exists())
    for source, place, mode in [(built / "memory-city", "bin/memory-city", 0o755), (library, f"lib/memory-city/{LIBRARY}", 0o644)]:
        path = put(source, place, mode)
        run("strip", "--strip-unneeded", path)
        assert needed_glibc(path) <= GLIBC, f"{source} asks for glibc {needed_glibc(path)}"
    sample = ROOT / "sample-data/person-leak"
    for source in sorted(path for path in sample.rglob("*") if path.is_file()):
        put(source, f"{SAMPLE}/{source.relative_to(sample)}")
    put(ROOT / "packaging/memory-city.desktop", "share/applications/memory-city.desktop")
    put(ROOT / "packaging/memory-city.metainfo.xml", "share/metainfo/memory-city.metainfo.xml")
    put(ROOT / "packaging/memory-city.svg", "share/icons/hicolor/scalable/apps/memory-city.svg")
    put(ROOT / "packaging/memory-city-mime.xml", "share/mime/packages/memory-city.xml")
    program = STAGE / "bin/memory-city"
    for shell, place in [
        ("bash", "share/bash-completion/completions/memory-city"),
        ("zsh", "share/zsh/vendor-completions/_memory-city"),
        ("fish", "share/fish/vendor_completions.d/memory-city.fish"),
    ]:
        path = STAGE / place
        path.parent.mkdir(parents=True)
        path.write_text(output(program, "completions", shell))
    pages = STAGE / "share/man/man1"
    run(program, "man", "-o", pages)
    for page in sorted(pages.iterdir()):
        with open(page, "rb") as plain, gzip.GzipFile(f"{page}.gz", "wb", mtime=0) as packed:
            shutil.copyfileobj(plain, packed)
        page.unlink()
    licences()


def licences():
    """The licences of all crates in the program, with their texts; and the crates as a CycloneDX list."""
    folder = STAGE / "share/doc/memory-city"
    folder.mkdir(parents=True)
    own = "Memory City is licensed under the MIT license or the Apache License 2.0, as you choose.\n\n"
    texts = [(ROOT / name).read_text() for name in ("LICENSE-MIT", "LICENSE-APACHE")]
    (folder / "copyright").write_text(own + "\n\n".join(texts))
    target = "x86_64-unknown-linux-gnu"
    tree = output("cargo", "tree", "--locked", "-e", "normal", "--target", target, "-p", "memory-city", "-p", "memory-city-agent",
                  "--prefix", "none", "--format", "{p}", cwd=ROOT)
    linked = {tuple(line.split()[:2]) for line in tree.splitlines() if line.strip()}
    metadata = json.loads(output("cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target, cwd=ROOT))
    packages = [package for package in metadata["packages"] if package["source"] and (package["name"], f"v{package['version']}") in linked]
    packages.sort(key=lambda package: (package["name"], package["version"]))
    with open(folder / "THIRD-PARTY.txt", "w") as out:
        for package in packages:
            out.write(f"{'=' * 80}\n{package['name']} {package['version']}: {package['license']}\n")
            source = Path(package["manifest_path"]).parent
            for path in sorted(source.iterdir()):
                if path.is_file() and re.match(r"(?i)(licen[cs]e|copying|copyright|notice|unlicense|ofl)", path.name):
                    out.write(f"\n{path.name}\n\n{path.read_text(errors='replace').strip()}\n")
    components = [
        {"type": "library", "name": package["name"], "version": package["version"], "purl": f"pkg:cargo/{package['name']}@{package['version']}",
         "licenses": [{"expression": package["license"]}]}
        for package in packages
    ]
    own = {"type": "application", "name": "memory-city", "version": VERSION}
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": own}, "components": components}
    (folder / "sbom.cdx.json").write_text(json.dumps(bom, indent=1))


def system_packages():
    environment = dict(os.environ, VERSION=VERSION)
    for kind in ("deb", "rpm"):
        run(TOOLS / "nfpm", "package", "-f", "packaging/nfpm.yaml", "-p", kind, "-t", OUT, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    return next(OUT.glob("*.deb")), next(OUT.glob("*.rpm"))


def wheel():
    tree = OUT / "wheel" / f"memory_city-{VERSION}"
    data, info = tree / f"memory_city-{VERSION}.data", tree / f"memory_city-{VERSION}.dist-info"
    info.mkdir(parents=True)
    (data / "scripts").mkdir(parents=True)
    shutil.copy(STAGE / "bin/memory-city", data / "scripts/memory-city")
    shutil.copytree(STAGE / "lib", data / "data/lib")
    shutil.copytree(STAGE / "share", data / "data/share")
    about = f"Metadata-Version: 2.1\nName: memory-city\nVersion: {VERSION}\nSummary: The heap of a program as a 3D city\nLicense: MIT OR Apache-2.0\n"
    (info / "METADATA").write_text(about + "Description-Content-Type: text/markdown\n\n" + (ROOT / "README.md").read_text())
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: memory-city\nRoot-Is-Purelib: false\nTag: py3-none-manylinux_{GLIBC[0]}_{GLIBC[1]}_x86_64\n")
    run(TOOLS / "python", "-m", "wheel", "pack", tree, "-d", OUT, stdout=subprocess.DEVNULL)
    shutil.rmtree(OUT / "wheel")
    return next(OUT.glob("*.whl"))


def npm():
    path = OUT / f"memory-city-{VERSION}.tgz"
    about = dict(json.loads((ROOT / "packaging/npm.json").read_text()), version=VERSION)
    (OUT / "package.json").write_text(json.dumps(about, indent=2))
    with tarfile.open(path, "w:gz") as out:
        out.add(OUT / "package.json", "package/package.json")
        out.add(ROOT / "README.md", "package/README.md")
        for folder in ("bin", "lib", "share/memory-city", "share/doc"):
            out.add(STAGE / folder, f"package/{folder}")
    (OUT / "package.json").unlink()
    return path


def works(program, beside):
    """The sample is read, and the recorder finds its library."""
    sample = beside / SAMPLE
    said = output(program, "report", sample, env=dict(os.environ, MEMORY_CITY_CACHE=""))
    assert said.startswith("LEAK  PersonRegistry.PERSONS"), said[:200]
    with tempfile.TemporaryDirectory() as folder:
        java = ["--", "java", "-Xmx50m", "-version"]
        done = subprocess.run([program, "record", "-o", f"{folder}/run", *java], capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0 and LIBRARY not in done.stderr, done.stderr


def check_pages(tree):
    for page in (tree / "share/man/man1").iterdir():
        assert gzip.decompress(page.read_bytes()).startswith((b".ie", b".TH")), page


def try_all(deb, wheel, npm):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        run("dpkg-deb", "-x", deb, folder / "deb")
        works(folder / "deb/usr/bin/memory-city", folder / "deb/usr")
        run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
        run(TOOLS / "pip", "--python", folder / "venv/bin/python", "install", "--quiet", "--no-index", wheel)
        works(folder / "venv/bin/memory-city", folder / "venv")
        (folder / "npm").mkdir()
        run("tar", "-xzf", npm, "-C", folder / "npm")
        link = folder / "memory-city"
        link.symlink_to(folder / "npm/package/bin/memory-city")
        works(link, folder / "npm/package")
        check_pages(folder / "deb/usr")


def main():
    only_tree = sys.argv[2:] == ["--tree"]
    if len(sys.argv) != (3 if only_tree else 2):
        sys.exit(__doc__)
    stage(ROOT / sys.argv[1])
    if only_tree:
        works(STAGE / "bin/memory-city", STAGE)
        check_pages(STAGE)
        return
    size = sum(path.stat().st_size for path in STAGE.rglob("*") if path.is_file())
    deb, rpm = system_packages()
    made = [deb, rpm, wheel(), npm()]
    try_all(made[0], made[2], made[3])
    print(f"installed: {size / 1e6:.0f} MB")
    for path in made:
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.0f} MB")


main()
