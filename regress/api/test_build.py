"""The Makefile: what a header rebuilds, install and uninstall; the files
beside the code."""

import os
import pathlib
import re
import subprocess

import pytest

import sbx

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


def make(*args):
    san = ["SAN=1"] if sbx.SAN else []
    env = {k: v for k, v in os.environ.items()
           if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(["make", "--no-print-directory", *san, *args],
                          cwd=TOP, env=env, capture_output=True, text=True,
                          timeout=300)


@pytest.mark.parametrize("header,yes,no", [
    ("common/utf8.h", ["common/utf8.o", "common/log_escape.o"],
     ["common/imsg.o", "sbxctl/parser.o"]),
    ("common/imsg.h", ["common/imsg.o", "frontend/frontend.o",
                       "spawner/spawner.o", "parent/child_proc.o"],
     ["common/utf8.o", "frontend/http_parse.o"]),
    ("sbxd/parent/config.h", ["obj/parse.o", "parent/config.o"],
     ["frontend/http.o"]),
])
def test_header_dependencies(header, yes, no):
    """A change of a header rebuilds what includes it and nothing else."""
    done = make("-n", "-W", header, "all")
    assert done.returncode == 0, done.stderr
    built = re.findall(r"-c -o (\S+\.o)", done.stdout)
    for name in yes:
        assert any(o.endswith(name) for o in built), (name, built)
    for name in no:
        assert not any(o.endswith(name) for o in built), (name, built)


def test_nothing_to_rebuild():
    done = make("-q", "all")
    assert done.returncode == 0, done.stdout


def test_install_and_uninstall(tmp_path):
    """Installed anywhere, it finds its parts, and leaves no file."""
    where = [f"DESTDIR={tmp_path}", "PREFIX=/usr"]
    done = make("install", *where)
    assert done.returncode == 0, done.stderr
    have = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")
            if p.is_file()}
    assert have == {
        "usr/sbin/sbxd", "usr/sbin/sbxctl", "usr/libexec/sbxd/frontend",
        "usr/libexec/sbxd/spawner", "usr/libexec/sbxd/reporter",
        "usr/share/man/man5/sbxd.conf.5", "usr/share/man/man8/sbxd.8",
        "usr/share/man/man8/sbxctl.8", "usr/share/sbxd/sbxd.conf",
        "usr/lib/systemd/system/sbxd.service",
        "usr/lib/sysusers.d/sbxd.conf"}
    unit = (tmp_path / "usr/lib/systemd/system/sbxd.service").read_text()
    assert "ExecStart=/usr/sbin/sbxd -d\n" in unit and "@" not in unit

    daemon = sbx.Daemon()
    try:
        daemon.command = lambda: [str(tmp_path / "usr/sbin/sbxd"), "-d",
                                  "-f", str(daemon.conf)]
        for path in [tmp_path, *tmp_path.parents]:
            if path.owner() == "root" and path.stat().st_mode & 0o777 == 0o700:
                os.chmod(path, 0o711)
        daemon.start()
        exe = os.readlink(f"/proc/{daemon.pids['spawner']}/exe")
        assert exe == str(tmp_path / "usr/libexec/sbxd/spawner")
        assert daemon.stop() == 143
    finally:
        daemon.cleanup()

    done = make("uninstall", *where)
    assert done.returncode == 0, done.stderr
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_files_name_no_machine():
    """Nothing in the tree speaks of the place where it was written."""
    done = subprocess.run(["git", "grep", "-nIE", r"/home/[a-z]|/root/\.|"
                           r"deb\.debian\.org|registry\.npmjs"],
                          cwd=TOP, capture_output=True, text=True)
    hits = [line for line in done.stdout.splitlines()
            if not line.startswith("regress/api/test_build.py:")]
    assert hits == []


def test_shell_scripts():
    for script in ("etc/install-deps", ".ci/run"):
        done = subprocess.run(["sh", "-n", script], cwd=TOP,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert os.access(TOP / script, os.X_OK)


def test_install_deps_has_nothing_to_do():
    """What the tests need is there by now; a second run is silent."""
    done = subprocess.run(["etc/install-deps", "check"], cwd=TOP,
                          capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = subprocess.run(["etc/install-deps"], cwd=TOP,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr == "usage: install-deps run | check\n"


def test_dockerfile_packages():
    """The image has every library that the programs are linked with."""
    text = (TOP / "Dockerfile").read_text()
    needed = set()
    for name in ("sbin/sbxd", "sbin/sbxctl", "libexec/sbxd/frontend",
                 "libexec/sbxd/spawner", "libexec/sbxd/reporter"):
        done = subprocess.run(["readelf", "-d", str(sbx.BUILD / name)],
                              capture_output=True, text=True, check=True)
        needed |= set(re.findall(r"NEEDED.*\[(lib[^\]]+)\]", done.stdout))
    for lib in sorted(needed):
        if re.match(r"libc\.|libasan|libubsan", lib):
            continue
        done = subprocess.run(["dpkg-query", "-S", f"*/{lib}"],
                              capture_output=True, text=True)
        packages = {line.split(":")[0] for line in done.stdout.splitlines()}
        assert any(re.search(rf"\b{re.escape(p)}\b", text)
                   for p in packages), (lib, packages)
