"""How sbxd starts, and that it does not when something is wrong: one clear
line, exit status 1, nothing left."""

import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile

import pytest
import requests

import sbx
from conftest import needs_root

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
OTHER = 1		# a user who is neither root nor a daemon's


def sbxd(*args, stdin=None, env=None):
    """Runs sbxd to its end, which must be near."""
    return subprocess.run([str(sbx.SBXD), *map(str, args)], text=True,
                          input=stdin, capture_output=True, timeout=30,
                          env={"PATH": "/usr/bin:/bin", **(env or {})})


@pytest.fixture
def path():
    """A directory of one's own."""
    with tempfile.TemporaryDirectory(prefix="sbxd-test-") as tmp:
        os.chmod(tmp, 0o755)
        yield pathlib.Path(tmp)


def conf(path, text, mode=0o600, name="a.conf"):
    file = path / name
    file.write_text(text)
    os.chmod(file, mode)
    return file


def listening(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def refused(daemon, *texts, socket_stays=False):
    """It must end by itself, with one line that contains the texts."""
    daemon.launch()
    assert daemon.wait() == 1, daemon.log_text()
    lines = daemon.log_text().splitlines()
    assert len(lines) == 1, lines
    for text in texts:
        assert text in daemon.log()[0]["message"]
    assert daemon.log()[0]["level"] == "error"
    assert daemon.out() == ""
    assert socket_stays or not daemon.socket.exists()
    assert not listening(daemon.port)
    return daemon.log()[0]["message"]


# The command line.

@pytest.mark.parametrize("args", [["-x"], ["-D"], ["-f"], ["-n", "more"],
                                  ["--help"], ["-n", ""], ["-n", "-"]])
def test_usage(args):
    done = sbxd(*args)
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(r"sbxd: (unknown option|nothing follows|unexpected "
                        r"argument) .*; usage: sbxd \[-dnv\] "
                        r"\[-D macro=value\] \[-f file\]\n", done.stderr)


@pytest.mark.parametrize("macro", ["x", "=x", "a b=c", ""])
def test_bad_macro(macro):
    done = sbxd("-n", "-D", macro)
    assert done.returncode == 1
    assert done.stderr == f"sbxd: -D {macro}: not of the form macro=value\n"


def test_check(path):
    done = sbxd("-n", "-f", conf(path, "pool 3\n"))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "configuration OK\n"


def test_check_opens_nothing(path):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        file = conf(path, f'listen on 127.0.0.1 port {s.getsockname()[1]}\n'
                    f'control socket "{path}/c/s"\nspool "{path}/spool"\n')
        assert sbxd("-n", "-f", file).returncode == 0
    assert [p.name for p in path.iterdir()] == ["a.conf"]


ALL = """
address = "192.0.2.1"
listen on $address port 3030
listen on ::1 port 3030
listen on socket "/run/x y'.sock" mode 0600 group "games" auth none
proxy on 127.0.0.1 port 9
token "not-a-secret-\\\\\\"#"
log level warning
http {
	idle timeout 90s
}
execute {
	async
	artifacts changed
}
control plane {
	url "http://127.0.0.1:1/api/v1"
	token "another-not-secret"
}
profile "small" {
	environment "A" "b c"
	system call remove "socket"
	limits {
		memory 128M
	}
}
language "ruby" {
	command "/usr/bin/ruby"
	profile "small"
	warm 2
}
mount "data" path "/srv/data" read-only
"""


@pytest.mark.parametrize("text", ["", ALL])
def test_round_trip(path, text):
    first = sbxd("-nv", "-f", conf(path, text))
    assert first.returncode == 0, first.stderr
    assert len(first.stdout) > 1000
    second = sbxd("-nv", "-f", "-", stdin=first.stdout)
    assert second.returncode == 0, second.stderr
    assert second.stdout == first.stdout


def test_round_trip_shell(path):
    file = conf(path, ALL)
    done = subprocess.run(["/bin/sh", "-c", '"$0" -nv -f "$1" | '
                           '"$0" -nv -f -', str(sbx.SBXD), str(file)],
                          capture_output=True, text=True, timeout=30)
    assert done.stdout == sbxd("-nv", "-f", file).stdout


def test_macro(path):
    file = conf(path, 'where = "127.0.0.9"\nlisten on $where port 1234\n')
    assert "listen on 127.0.0.9 port 1234" in sbxd("-nv", "-f", file).stdout
    done = sbxd("-nv", "-D", "where=127.0.0.8", "-f", file)
    assert done.returncode == 0
    assert "listen on 127.0.0.8 port 1234" in done.stdout


def test_missing_file(path):
    done = sbxd("-n", "-f", path / "none")
    assert done.returncode == 1
    assert done.stderr == f"{path}/none: No such file or directory\n"
    done = sbxd("-d", "-f", path / "none")
    assert done.returncode == 1
    assert done.stderr == f"{path}/none: No such file or directory\n"
    done = sbxd("-n", "-f", path)
    assert done.returncode == 1 and done.stderr.count("\n") == 1


@pytest.mark.parametrize("option", ["-n", "-d"])
def test_all_errors(path, option):
    other = conf(path, "\nlimits {\n\tmemory 0\n}\n", name="b.conf")
    file = conf(path, 'listen on localhost\npool 4\npool 5\n'
                f'include "{other}"\nfrobnicate\nlog level loud\n')
    done = sbxd(option, "-f", file)
    assert done.returncode == 1 and done.stdout == ""
    places = [line.split(": ", 1)[0] for line in done.stderr.splitlines()]
    assert places == [f"{file}:1", f"{file}:3", f"{other}:3", f"{file}:5",
                      f"{file}:6"]
    assert all(len(line.split(": ", 1)[1]) > 10
               for line in done.stderr.splitlines())


def test_shipped_file(path):
    text = (TOP / "etc/sbxd.conf").read_text()
    done = sbxd("-n", "-f", conf(path, text, 0o644))
    assert done.returncode == 0, done.stderr
    # What is commented out is the default, and right when it is not.
    text = re.sub(r"^(\t?)#(?=\w)", r"\1", text, flags=re.M)
    done = sbxd("-n", "-f", conf(path, text))
    assert "syntax error" not in done.stderr


def manual_examples():
    """The literal displays of the section, as they look when printed."""
    text = (TOP / "sbxd.conf.5").read_text()
    text = text.split(".Sh EXAMPLES\n")[1].split("\n.Sh ")[0]
    found = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed$", text, re.M | re.S)
    return [block.replace("\\e", "\\").replace("\\(dq", '"')
            .replace("\\&", "") for block in found]


def test_manual_examples(path):
    examples = manual_examples()
    assert len(examples) >= 3
    for text in examples:
        done = sbxd("-n", "-f", conf(path, text))
        assert done.returncode == 0, text + done.stderr


# Who may have written the file, and who may read it.

@pytest.mark.parametrize("mode", [0o666, 0o602, 0o620, 0o646])
def test_writable_file(path, mode):
    done = sbxd("-n", "-f", conf(path, "pool 3\n", mode))
    assert done.returncode == 1
    assert done.stderr == (f"{path}/a.conf: must not be writable by its "
                           "group or by others\n")


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o601])
def test_readable_token(path, mode):
    done = sbxd("-n", "-f", conf(path, 'token "0123456789"\n', mode))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "must not be accessible to others" in done.stderr
    assert "0123456789" not in done.stderr
    # Without a token everybody may read it.
    assert sbxd("-n", "-f", conf(path, "pool 3\n", 0o644)).returncode == 0
    # What leads to the token is not it.
    token = conf(path, "0123456789\n", mode, "token")
    done = sbxd("-n", "-f", conf(path, f'token file "{token}"\n', 0o644))
    assert done.returncode == 1
    assert "must not be accessible to others" in done.stderr
    os.chmod(token, 0o600)
    done = sbxd("-n", "-f", path / "a.conf")
    assert done.returncode == 0, done.stderr


def test_included_file(path):
    other = conf(path, "pool 3\n", 0o666, "b.conf")
    done = sbxd("-n", "-f", conf(path, f'include "{other}"\n'))
    assert done.returncode == 1
    assert "must not be writable" in done.stderr


@needs_root
def test_file_of_another(path):
    file = conf(path, "pool 3\n")
    os.chown(file, OTHER, OTHER)
    done = sbxd("-n", "-f", file)
    assert done.returncode == 1
    assert "must be owned by root or the user who runs sbxd" in done.stderr
    os.chown(file, 0, 0)
    link = path / "link.conf"
    link.symlink_to(file)
    assert sbxd("-n", "-f", link).returncode == 0
    os.lchown(link, OTHER, OTHER)
    done = sbxd("-n", "-f", link)
    assert done.returncode == 1 and "link of another user" in done.stderr


# What this machine cannot give.

def test_port_taken(daemon_factory):
    for which in ("port", "proxy_port"):
        daemon = daemon_factory()
        with socket.socket() as s:
            s.bind(("127.0.0.1", getattr(daemon, which)))
            s.listen()
            daemon.port = sbx.free_port()	# for the check afterwards
            refused(daemon, f"port {s.getsockname()[1]}",
                    "Address already in use", "another program")


def test_workspace(daemon_factory):
    daemon = daemon_factory()
    (daemon.dir / "workspace").rmdir()
    refused(daemon, f"workspace {daemon.dir}/workspace: does not exist")
    daemon = daemon_factory()
    (daemon.dir / "workspace").rmdir()
    (daemon.dir / "workspace").write_text("")
    refused(daemon, "Not a directory")


@needs_root
def test_workspace_not_writable(daemon_factory):
    daemon = daemon_factory(uid=sbx.nobody())
    os.chown(daemon.dir / "workspace", 0, 0)
    refused(daemon, "workspace", "not writable: Permission denied")


@needs_root
@pytest.mark.parametrize("who,text", [
    ('user frontend "no-such-user"', "user no-such-user: not there"),
    ('user spawner "root"', "user root: not there, or root"),
    ('user reporter "0"', "user 0: not there, or root"),
    ('user frontend "1234"\nuser reporter "01234"', "have the same id"),
])
def test_user(daemon_factory, who, text):
    refused(daemon_factory(who + "\n"), text)


def test_socket_live(daemon_factory):
    first = daemon_factory().start()
    second = daemon_factory()
    second.base = second.base.replace(str(second.socket), str(first.socket))
    second.write_config()
    second.socket = first.socket
    refused(second, str(first.socket), "in use by a running program",
            socket_stays=True)
    first.ctl("show")


def test_socket_stale(daemon_factory):
    first = daemon_factory().start()
    first.proc.kill()
    assert first.gone(5)
    assert stat.S_ISSOCK(first.socket.stat().st_mode)
    second = daemon_factory()
    second.base = second.base.replace(str(second.socket), str(first.socket))
    second.write_config()
    second.socket = first.socket
    second.start()
    assert second.logged(f"took over the stale socket {first.socket}")
    second.ctl("show")


def test_http_socket_stale(daemon_factory):
    """The same for a socket that clients use."""
    first = daemon_factory()
    http = first.dir / "http.sock"
    first.write_config(f'listen on socket "{http}"\n')
    first.start()
    second = daemon_factory(f'listen on socket "{http}"\n')
    refused(second, str(http), "in use by a running program")
    first.proc.kill()
    assert first.gone(5)
    daemon_factory(f'listen on socket "{http}"\n').start()


@pytest.mark.parametrize("kind", ["file", "directory", "fifo", "link"])
def test_socket_occupied(daemon_factory, kind):
    daemon = daemon_factory()
    target = daemon.dir / "target"
    target.write_text("keep me")
    daemon.socket.parent.mkdir()
    if kind == "file":
        daemon.socket.write_text("keep me")
    elif kind == "directory":
        daemon.socket.mkdir()
    elif kind == "fifo":
        os.mkfifo(daemon.socket)
    else:
        daemon.socket.symlink_to(target)
    before = os.lstat(daemon.socket)
    refused(daemon, str(daemon.socket), "something that is no socket",
            socket_stays=True)
    after = os.lstat(daemon.socket)
    assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)
    assert target.read_text() == "keep me"


def test_socket_directory(daemon_factory):
    daemon = daemon_factory()
    daemon.socket.parent.write_text("")
    refused(daemon, str(daemon.socket.parent), "is not a directory",
            socket_stays=True)


@needs_root
def test_chroot(daemon_factory):
    daemon = daemon_factory()
    (daemon.dir / "empty").mkdir(0o755)
    (daemon.dir / "empty" / "x").write_text("")
    refused(daemon, f"chroot {daemon.dir}/empty: must be empty")
    daemon = daemon_factory()
    (daemon.dir / "empty").mkdir()
    os.chmod(daemon.dir / "empty", 0o777)
    refused(daemon, "must belong to root and be writable by nobody else")
    daemon = daemon_factory()
    (daemon.dir / "empty").mkdir(0o755)
    os.chown(daemon.dir / "empty", OTHER, OTHER)
    refused(daemon, "must belong to root and be writable by nobody else")
    daemon = daemon_factory()
    (daemon.dir / "empty").symlink_to("/proc")
    refused(daemon, "is not a directory")


@needs_root
def test_spool(daemon_factory):
    daemon = daemon_factory()
    (daemon.dir / "spool").mkdir()
    os.chown(daemon.dir / "spool", OTHER, OTHER)
    refused(daemon, f"spool {daemon.dir}/spool: belongs to another user")
    daemon = daemon_factory()
    (daemon.dir / "spool").symlink_to(daemon.dir / "workspace")
    refused(daemon, "spool", "is not a directory")


def test_spool_mode(daemon_factory):
    daemon = daemon_factory()
    (daemon.dir / "spool").mkdir(0o755)
    daemon.start()
    assert (daemon.dir / "spool").stat().st_mode & 0o7777 == 0o700


def test_unknown_group(daemon_factory):
    daemon = daemon_factory()
    daemon.base = daemon.base.replace(
        f'"{daemon.socket}"\n', f'"{daemon.socket}" group "no-such-group"\n')
    daemon.write_config()
    refused(daemon, "there is no group no-such-group")


def test_nothing_for_the_journal(daemon_factory):
    """A token that was made up would be in the journal for ever."""
    refused(daemon_factory(token=None, env={"JOURNAL_STREAM": "8:1234"}),
            "no token is configured")


@pytest.mark.skipif(os.path.exists("/dev/log"), reason="there is a log")
def test_background_without_log(daemon_factory):
    daemon = daemon_factory()
    done = sbxd("-f", daemon.conf)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "/dev/log: no system log" in done.stderr
    assert not daemon.socket.exists() and not listening(daemon.port)


def test_big_configuration(daemon_factory):
    """As long as the manual allows, and then some more than a queue."""
    lines = "".join(f'\tenvironment "V{i}" "x"\n' for i in range(252))
    daemon_factory("".join(f'profile "p{i}" {{\n{lines}}}\n'
                           for i in range(63))).start()


# What somebody else has prepared.

@needs_root
@pytest.mark.parametrize("kind", ["directory", "file", "link", "dangling",
                                  "link to own"])
def test_planted_default(daemon_factory, path, kind):
    """/tmp/sbxd-UID, which an ordinary user has without a run-time dir."""
    uid = 61234
    place = pathlib.Path(f"/tmp/sbxd-{uid}")
    assert not os.path.lexists(place)
    bait = path / "bait"
    bait.mkdir()
    os.chown(bait, uid if kind == "link to own" else OTHER, OTHER)
    daemon = daemon_factory(uid=uid, private=False)
    daemon.socket = place / "sbxd.sock"
    try:
        if kind == "directory":
            place.mkdir()
            os.chmod(place, 0o777)
        elif kind == "file":
            place.write_text("")
        else:
            place.symlink_to("/nonexistent" if kind == "dangling" else bait)
        os.lchown(place, OTHER, OTHER)
        refused(daemon, "/tmp/sbxd-61234", "belongs to another user")
        assert list(bait.iterdir()) == []
        assert kind != "directory" or list(place.iterdir()) == []
        # The client does not trust it either.
        done = daemon_ctl_default(uid)
        assert done.returncode == 1 and "not trusted" in done.stderr
    finally:
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)


def daemon_ctl_default(uid):
    def become():
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    return subprocess.run([str(sbx.SBXCTL), "show"], capture_output=True,
                          text=True, timeout=30, preexec_fn=become,
                          env={"PATH": "/usr/bin:/bin"})


@needs_root
@pytest.mark.parametrize("what", ["spool", "empty", "workspace", "ctl"])
@pytest.mark.parametrize("kind", ["directory", "link"])
def test_planted_configured(daemon_factory, path, what, kind):
    """Places below a directory that everybody can write to, as /tmp."""
    os.chmod(path, 0o1777)
    bait = path / "bait"
    bait.mkdir()
    daemon = daemon_factory()
    daemon.base = daemon.base.replace(f"{daemon.dir}/{what}",
                                      f"{path}/{what}")
    daemon.write_config()
    daemon.socket = path / "ctl/sbxd.sock"
    place = path / what
    if kind == "directory":
        place.mkdir()
        os.chmod(place, 0o777)
    else:
        place.symlink_to(bait)
    os.lchown(place, OTHER, OTHER)
    refused(daemon, str(place))
    assert list(bait.iterdir()) == []
    assert bait.stat().st_uid == 0


@needs_root
def test_http_socket_in_foreign_directory(daemon_factory, path):
    """Its owner could swap the socket for a link under our chmod()."""
    os.chown(path, OTHER, OTHER)
    daemon = daemon_factory(f'listen on socket "{path}/s" mode 0666\n')
    refused(daemon, str(path), "belongs to another user")
    os.chown(path, 0, 0)
    os.chmod(path, 0o777)
    daemon = daemon_factory(f'listen on socket "{path}/s" mode 0666\n')
    refused(daemon, str(path), "can be written by others")
    assert list(path.iterdir()) == []


# Without a file, and with the environment of a container.

class Bare(sbx.Daemon):
    """No -f: the defaults, but for what the environment says."""

    def __init__(self, **kwargs):
        super().__init__(private=False, token=None, **kwargs)
        self.env.update(PORT=str(self.port), PROXY_PORT=str(self.proxy_port))

    def command(self):
        return [str(sbx.SBXD), "-d", *self.args]


def try_line(daemon):
    """Runs what it told the user to run."""
    lines = daemon.out().splitlines()
    assert len(lines) == 2
    token = re.fullmatch(r"token: ([0-9a-f]{40})", lines[0])[1]
    assert lines[1].startswith("try:   curl ")
    command = lines[1][len("try:"):].strip()
    assert token in command
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True,
                          text=True, timeout=30)
    assert "sbxd_http_requests_total" in done.stdout, done.stderr
    done = subprocess.run(["/bin/sh", "-c", command + " -o /dev/null -s "
                           "-w '%{http_code}'"], capture_output=True,
                          text=True, timeout=30)
    assert done.stdout == "200"
    assert token not in daemon.log_text()
    return token


no_system_file = pytest.mark.skipif(
    os.path.exists("/etc/sbxd/sbxd.conf"), reason="this machine has a file")


@no_system_file
def test_no_file_as_user():
    daemon = Bare(uid=sbx.nobody() if sbx.ROOT else None)
    try:
        run = daemon.dir / "run"
        run.mkdir(0o700)
        if sbx.ROOT:
            os.chown(run, daemon.uid, daemon.uid)
        daemon.env["XDG_RUNTIME_DIR"] = str(run)
        daemon.socket = run / "sbxd/sbxd.sock"
        daemon.start()
        try_line(daemon)
        names = sorted(p.name for p in (run / "sbxd").iterdir())
        assert names == ["results", "sbxd.sock", "workspace"]
        assert (run / "sbxd/workspace").stat().st_mode & 0o7777 == 0o700
        assert daemon.stop() == 143
        assert not daemon.socket.exists()
    finally:
        daemon.cleanup()


def somebody_at(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        return s.connect_ex(path) == 0


@needs_root
@no_system_file
def test_no_file_as_root():
    places = ["/run/sbxd", "/run/sbxd/empty", "/run/sbxd/sbxd.sock",
              "/var/spool/sbxd", "/var/spool/sbxd/results"]
    if somebody_at("/run/sbxd/sbxd.sock"):
        pytest.skip("an sbxd runs on this machine")
    new = [p for p in places if not os.path.lexists(p)]
    daemon = Bare()
    try:
        daemon.env["WORKSPACE_PATH"] = str(daemon.dir / "workspace")
        daemon.socket = pathlib.Path("/run/sbxd/sbxd.sock")
        try:
            daemon.start()
        except AssertionError as error:
            if "in use by a running program" in str(error):
                pytest.skip("another run of these tests is here, too")
            raise
        try_line(daemon)
        done = subprocess.run([str(sbx.SBXCTL), "show"], text=True,
                              capture_output=True, timeout=30)
        assert done.returncode == 0, done.stderr
        assert daemon.stop() == 143
        assert not daemon.socket.exists()
    finally:
        daemon.cleanup()
        for place in reversed(new):
            if os.path.isdir(place):
                os.rmdir(place)


@pytest.mark.parametrize("listen", ["127.0.0.1 port {}", "::1 port {}",
                                    "127.0.0.3 port {}",
                                    'socket "{}/it\'s $HOME.sock"'])
def test_try_line(daemon_factory, listen):
    """Whatever the listener is, the line is right for it."""
    daemon = daemon_factory(token=None, listen="")
    where = daemon.dir if listen.startswith("socket") else daemon.port
    daemon.write_config(f"listen on {listen.format(where)}\n")
    daemon.start()
    try_line(daemon)


def test_no_token_printed(daemon_factory):
    daemon = daemon_factory().start()
    assert daemon.out() == ""
    daemon = daemon_factory(token=None, listen="")
    daemon.write_config(f"listen on 127.0.0.1 port {daemon.port} "
                        "auth none\n")
    daemon.start()
    assert daemon.out() == ""


@pytest.mark.parametrize("name,value,line", [
    ("PORT", "4321", "listen on 127.0.0.1 port 4321"),
    ("EXECUTOR_PORT", "4322", "listen on 127.0.0.1 port 4322"),
    ("PROXY_PORT", "4323", "proxy on 127.0.0.1 port 4323"),
    ("SANDBOX_SECRET", "0123456789", 'token "0123456789"'),
    ("CONTROL_PLANE_URL", "http://127.0.0.1:1/a",
     '\turl "http://127.0.0.1:1/a"'),
    ("INTERNAL_API_TOKEN", "9876543210", '\ttoken "9876543210"'),
    ("WORKSPACE_PATH", "/srv/w", 'workspace "/srv/w"'),
    ("CONTAINER_ID", "c-1", '\tcontainer id "c-1"'),
    ("HOSTNAME", "h-1", '\tcontainer id "h-1"'),
    ("POD_NAME", "p-1", '\tpod name "p-1"'),
    ("LOG_LEVEL", "debug", "log level debug"),
    ("LOG_LEVEL", "WARNING", "log level warning"),
])
def test_environment(name, value, line):
    done = sbxd("-nv", "-f", "/dev/null", env={name: value})
    assert done.returncode == 0, done.stderr
    assert line in done.stdout.splitlines()
    done = sbxd("-nv", "-f", "/dev/null", env={name: ""})
    assert done.returncode == 0 and line not in done.stdout.splitlines()


@pytest.mark.parametrize("name,value", [
    ("PORT", "0"), ("PORT", "x"), ("PROXY_PORT", "65536"),
    ("EXECUTOR_PORT", "-1"), ("SANDBOX_SECRET", "short"),
    ("SANDBOX_SECRET", "with a blank"), ("CONTROL_PLANE_URL", "ftp://x"),
    ("WORKSPACE_PATH", "relative"), ("LOG_LEVEL", "loud"),
    ("CONTAINER_ID", "a\nb"), ("POD_NAME", "x" * 300),
])
def test_environment_wrong(name, value):
    done = sbxd("-n", "-f", "/dev/null", env={name: value})
    assert done.returncode == 1
    assert done.stderr.startswith(f"environment: {name}")
    assert done.stderr.count("\n") == 1
    assert "SECRET" not in name or value not in done.stderr


def test_environment_order(path):
    """PORT before EXECUTOR_PORT, the file before both."""
    env = {"PORT": "4321", "EXECUTOR_PORT": "4322"}
    done = sbxd("-nv", "-f", "/dev/null", env=env)
    assert "listen on 127.0.0.1 port 4321\n" in done.stdout
    done = sbxd("-nv", "-f", conf(path, "listen on 127.0.0.1 port 5\n"),
                env=env)
    assert "listen on 127.0.0.1 port 5\n" in done.stdout
    assert "4321" not in done.stdout


SECRETS = {"SANDBOX_SECRET": "apisecret-0123456789",
           "INTERNAL_API_TOKEN": "planesecret-9876543210"}


def container(daemon_factory, **env):
    """A daemon that has its secrets from the environment only."""
    daemon = daemon_factory("log level debug\n", token=None, listen="",
                            proxy=False, env={**SECRETS, **env})
    daemon.env.update(PORT=str(daemon.port),
                      PROXY_PORT=str(daemon.proxy_port))
    daemon.token = SECRETS["SANDBOX_SECRET"]
    return daemon.start()


def test_environment_in_force(daemon_factory):
    daemon = container(daemon_factory, LOG_LEVEL="error")
    reply = requests.get(daemon.url("/metrics"), headers=daemon.auth(),
                         timeout=10)
    assert reply.status_code == 200
    assert listening(daemon.proxy_port)


def test_environment_secrets(daemon_factory):
    daemon = container(daemon_factory)
    config = daemon.ctl("show", "config").stdout
    assert config.count("# token is set, not shown") == 2
    for name, pid in daemon.pids.items():
        for file in ("environ", "cmdline") if sbx.ROOT else ("cmdline",):
            data = pathlib.Path(f"/proc/{pid}/{file}").read_bytes()
            for secret in SECRETS.values():
                assert secret.encode() not in data, (name, file)
            if name != "parent" and file == "environ":
                assert data == b"" or sbx.SAN, name
    daemon.stop()
    for secret in SECRETS.values():
        assert secret not in config + daemon.log_text() + daemon.out()


def has_text(pid, text):
    """Whether it is somewhere in the memory of a process."""
    with open(f"/proc/{pid}/maps") as maps, \
            open(f"/proc/{pid}/mem", "rb") as mem:
        for line in maps:
            place, flags = line.split()[:2]
            if "r" not in flags or "[v" in line:
                continue
            start, end = (int(n, 16) for n in place.split("-"))
            try:
                mem.seek(start)
                if text in mem.read(end - start):
                    return True
            except OSError:
                continue
    return False


@needs_root
@pytest.mark.skipif(sbx.SAN, reason="a sanitizer keeps what was freed")
@pytest.mark.parametrize("where", ["environment", "file"])
def test_secrets_in_memory(daemon_factory, where):
    """The API token is in nobody's, the plane's in the reporter's only."""
    if where == "environment":
        daemon = container(daemon_factory)
    else:
        daemon = daemon_factory(
            'control plane {\n\turl "http://127.0.0.1:1"\n\ttoken '
            f'"{SECRETS["INTERNAL_API_TOKEN"]}"\n}}\n',
            token=SECRETS["SANDBOX_SECRET"]).start()
    for _ in range(2):
        for name, pid in daemon.pids.items():
            assert not has_text(pid, SECRETS["SANDBOX_SECRET"].encode()), name
            assert has_text(pid, SECRETS["INTERNAL_API_TOKEN"].encode()) is \
                (name == "reporter"), name
        daemon.ctl("reload")


def test_signals_of_the_shell(daemon_factory):
    """Whatever its starter ignores or blocks, it can be stopped."""
    daemon = daemon_factory()
    daemon.launch = lambda: launch_blocked(daemon)
    daemon.start()
    assert daemon.stop() == 143


def launch_blocked(daemon):
    def block():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM,
                                                  signal.SIGCHLD})
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    daemon.log_file = open(daemon.log_path, "ab")
    daemon.out_file = open(daemon.out_path, "ab")
    daemon.proc = subprocess.Popen(
        daemon.command(), stdin=subprocess.DEVNULL, stdout=daemon.out_file,
        stderr=daemon.log_file, env={}, cwd="/", preexec_fn=block,
        start_new_session=True)


@needs_root
def test_closed_descriptors(daemon_factory):
    """Started with 0, 1 and 2 closed it mixes up nothing."""
    daemon = daemon_factory("log format json\n")
    done = subprocess.Popen(
        ["/bin/sh", "-c", 'exec "$0" "$@" 0<&- 1>&- 2>&-',
         *daemon.command()], env={}, start_new_session=True)
    daemon.proc = done
    daemon.log_file = open(daemon.log_path, "ab")
    daemon.out_file = open(daemon.out_path, "ab")
    assert sbx.wait_for(lambda: listening(daemon.port))
    assert requests.get(daemon.url("/health"), timeout=10).ok
    daemon.find_pids()
    for pid in daemon.pids.values():
        for fd in range(3):
            assert os.readlink(f"/proc/{pid}/fd/{fd}") == "/dev/null"
    assert daemon.stop() == 143
