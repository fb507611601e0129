"""A new configuration for a running daemon, all of it or nothing."""

import grp
import os
import signal
import socket
import threading

import pytest
import requests

import sbx
from conftest import needs_root


def code(daemon, token=None, port=None, path="/metrics"):
    token = daemon.token if token is None else token
    return requests.get(f"http://127.0.0.1:{port or daemon.port}{path}",
                        headers={"Authorization": f"Bearer {token}"},
                        timeout=10).status_code


def descriptors(daemon, name):
    """How many; only root can look."""
    return daemon.fds(name) if sbx.ROOT else 0


def listening(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def hang_up(daemon):
    """SIGHUP, and wait until it has had its effect or failed."""
    done = "configuration reloaded|reload failed"
    before = daemon.logged(done, count=True)
    daemon.proc.send_signal(signal.SIGHUP)
    assert sbx.wait_for(lambda: daemon.logged(done, count=True) > before)


def by_signal(daemon):
    """True if a SIGHUP was obeyed."""
    before = daemon.logged("configuration reloaded", count=True)
    hang_up(daemon)
    return daemon.logged("configuration reloaded", count=True) > before


def by_sbxctl(daemon):
    return daemon.ctl("reload", check=False).returncode == 0


both = pytest.mark.parametrize("reload", [by_signal, by_sbxctl])


def unharmed(daemon):
    assert daemon.proc.poll() is None, daemon.log_text()
    assert code(daemon) == 200
    assert all(sbx.alive(pid) for pid in daemon.pids.values())


@both
def test_same_file(daemon_factory, reload):
    daemon = daemon_factory().start()
    config = daemon.ctl("show", "config").stdout
    pids = dict(daemon.pids)
    assert reload(daemon)
    assert daemon.ctl("show", "config").stdout == config
    daemon.find_pids()
    assert daemon.pids == pids
    unharmed(daemon)


@both
def test_broken_file(daemon_factory, reload):
    daemon = daemon_factory().start()
    config = daemon.ctl("show", "config").stdout
    daemon.write_config("pool x\nfrobnicate\n")
    assert not reload(daemon)
    first = daemon.base.count("\n") + 1
    for line in (first, first + 1):
        assert daemon.logged(f"^{daemon.conf}:{line}: ", count=True) == 1
    assert daemon.logged("reload failed, the configuration before it stays")
    assert daemon.ctl("show", "config").stdout == config
    unharmed(daemon)
    daemon.write_config("pool 7\n")
    assert reload(daemon)
    assert "pool 7\n" in daemon.ctl("show", "config").stdout


def test_errors_reach_the_asker(daemon_factory):
    daemon = daemon_factory().start()
    daemon.write_config("pool x\nfrobnicate\n")
    done = daemon.ctl("reload", check=False)
    first = daemon.base.count("\n") + 1
    assert done.returncode == 1 and done.stdout == ""
    lines = done.stderr.splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        ["sbxctl", f"{daemon.conf}:{first}"],
        ["sbxctl", f"{daemon.conf}:{first + 1}"]]
    unharmed(daemon)


def test_many_errors(daemon_factory):
    """More than a message holds: cut, not dropped."""
    daemon = daemon_factory().start()
    daemon.write_config("frobnicate\n" * 2000)
    done = daemon.ctl("reload", check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) > 10
    unharmed(daemon)


def test_file_gone(daemon_factory):
    daemon = daemon_factory().start()
    daemon.conf.unlink()
    done = daemon.ctl("reload", check=False)
    assert done.returncode == 1
    assert done.stderr == (f"sbxctl: {daemon.conf}: No such file or "
                           "directory\n")
    unharmed(daemon)


@both
@pytest.mark.parametrize("mode", [0o666, 0o620, 0o644])
def test_file_open_to_others(daemon_factory, reload, mode):
    daemon = daemon_factory().start()
    daemon.write_config("pool 7\n")
    os.chmod(daemon.conf, mode)
    assert not reload(daemon)
    assert "pool 4\n" in daemon.ctl("show", "config").stdout
    unharmed(daemon)


@needs_root
def test_file_of_another(daemon_factory):
    daemon = daemon_factory().start()
    os.chown(daemon.conf, 1, 1)
    done = daemon.ctl("reload", check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    unharmed(daemon)


@both
def test_token(daemon_factory, reload):
    daemon = daemon_factory().start()
    old = daemon.token
    daemon.base = daemon.base.replace(old, "another-token-9876")
    daemon.write_config()
    assert code(daemon) == 200
    assert reload(daemon)
    assert code(daemon, old) == 401
    assert code(daemon, "another-token-9876") == 200
    assert old not in daemon.log_text()
    assert "another-token-9876" not in daemon.log_text()
    config = daemon.ctl("show", "config").stdout
    assert "another-token" not in config
    assert "# token is set, not shown" in config


def test_token_gone(daemon_factory):
    """A file that forgot its token would lock everybody out."""
    daemon = daemon_factory().start()
    daemon.base = daemon.base.replace(f'token "{daemon.token}"\n', "")
    daemon.write_config()
    done = daemon.ctl("reload", check=False)
    assert done.returncode == 1
    assert "token: a listener wants one, and the file names none" in done.stderr
    unharmed(daemon)


@pytest.mark.parametrize("env", [{}, {"SANDBOX_SECRET": "from-a-container"}])
def test_token_kept(daemon_factory, env):
    """One that is not in the file survives, until the file has one."""
    daemon = daemon_factory(token=None, env=env).start()
    token = env.get("SANDBOX_SECRET") or \
        daemon.out().splitlines()[0].removeprefix("token: ")
    for _ in range(3):
        daemon.ctl("reload")
        assert code(daemon, token) == 200
        assert "# token is set, not shown" in \
            daemon.ctl("show", "config").stdout
    assert daemon.out().count("token:") == (0 if env else 1)
    daemon.write_config('token "now-in-the-file"\n')
    daemon.ctl("reload")
    assert code(daemon, token) == 401
    assert code(daemon, "now-in-the-file") == 200


def test_limits(daemon_factory):
    daemon = daemon_factory().start()
    request = (b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
               b"X: " + b"a" * 2000 + b"\r\n\r\n")
    assert [r.status for r in sbx.raw(daemon, request)] == [200]
    daemon.write_config("http {\n\theader size 1K\n}\n")
    daemon.ctl("reload")
    assert [r.status for r in sbx.raw(daemon, request)] == [431]
    daemon.write_config()
    daemon.ctl("reload")
    assert [r.status for r in sbx.raw(daemon, request)] == [200]


def test_what_was_the_default_stays(daemon_factory):
    """The host's name, which a confined process cannot ask for again."""
    daemon = daemon_factory().start()
    before = daemon.ctl("show", "config").stdout
    assert "\tcontainer id " in before
    daemon.ctl("reload")
    assert daemon.ctl("show", "config").stdout == before


@both
def test_open_connection(daemon_factory, reload):
    daemon = daemon_factory().start()
    request = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    with daemon.connect() as s, s.makefile("rb") as f:
        s.sendall(request)
        assert sbx.read_reply(f).status == 200
        # Half a request waits over the reload.
        s.sendall(request[:20])
        daemon.write_config("pool 7\n")
        assert reload(daemon)
        s.sendall(request[20:])
        assert sbx.read_reply(f).status == 200
        s.sendall(request)
        assert sbx.read_reply(f).status == 200


def test_listeners(daemon_factory):
    daemon = daemon_factory().start()
    extra, path = sbx.free_port(), daemon.dir / "http.sock"
    daemon.write_config(f"listen on 127.0.0.1 port {extra}\n"
                        f'listen on socket "{path}"\n')
    assert not listening(extra)
    daemon.ctl("reload")
    assert code(daemon, port=extra) == 200
    assert path.exists()
    fds = descriptors(daemon, "frontend")
    daemon.ctl("reload")
    assert code(daemon, port=extra) == 200
    assert sbx.wait_for(lambda: descriptors(daemon, "frontend") <= fds)
    daemon.write_config()
    daemon.ctl("reload")
    assert sbx.wait_for(lambda: not listening(extra))
    assert not path.exists()
    unharmed(daemon)


def test_auth_of_a_listener(daemon_factory):
    daemon = daemon_factory(listen="")
    for word, status in (("", 401), (" auth none", 200), ("", 401)):
        daemon.write_config(f"listen on 127.0.0.1 port {daemon.port}{word}\n")
        if daemon.proc is None:
            daemon.start()
        daemon.ctl("reload")
        assert code(daemon, "") == status


def test_proxy(daemon_factory):
    daemon = daemon_factory(proxy=False)
    first, second = sbx.free_port(), sbx.free_port()
    daemon.write_config(f"proxy on 127.0.0.1 port {first}\n")
    daemon.start()
    assert listening(first)
    daemon.write_config(f"proxy on 127.0.0.1 port {second}\n")
    daemon.ctl("reload")
    assert listening(second)
    assert sbx.wait_for(lambda: not listening(first))
    daemon.write_config("no proxy\n")
    daemon.ctl("reload")
    assert sbx.wait_for(lambda: not listening(second))
    unharmed(daemon)


@both
def test_port_taken(daemon_factory, reload):
    """Nothing of the file is used, and the other new ones are gone."""
    daemon = daemon_factory().start()
    first, path = sbx.free_port(), daemon.dir / "http.sock"
    fds = {name: descriptors(daemon, name) for name in daemon.pids}
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        daemon.write_config(f"listen on 127.0.0.1 port {first}\n"
                            f'listen on socket "{path}"\npool 7\n'
                            "listen on 127.0.0.1 port "
                            f"{s.getsockname()[1]}\n")
        assert not reload(daemon)
        assert daemon.logged("Address already in use", count=True) == 1
        assert not listening(first) and not path.exists()
        assert "pool 4\n" in daemon.ctl("show", "config").stdout
        assert sbx.wait_for(lambda: all(descriptors(daemon, name) <= fds[name]
                                        for name in daemon.pids))
    assert reload(daemon)
    assert code(daemon, port=first) == 200
    assert path.exists()


def test_group_of_a_listener(daemon_factory):
    """Name services load code, which ends a confined process."""
    daemon = daemon_factory().start()
    path = daemon.dir / "http.sock"
    daemon.write_config(f'listen on socket "{path}" group "no-such-group"\n')
    done = daemon.ctl("reload", check=False)
    assert done.returncode == 1
    assert "there is no group no-such-group" in done.stderr
    unharmed(daemon)
    if sbx.ROOT:
        daemon.write_config(f'listen on socket "{path}" group "games"\n')
        daemon.ctl("reload")
        assert path.stat().st_gid == grp.getgrnam("games").gr_gid
        assert path.stat().st_mode & 0o777 == 0o660


FIXED = [
    ('user frontend "1234"\n', "user"),
    ('isolation bwrap\n', "isolation"),
    ("sandbox uid 700000 to 700100\n", "sandbox uid"),
    ("log format text\n", "log format"),
]


@pytest.mark.parametrize("line,name", FIXED)
def test_fixed(daemon_factory, line, name):
    daemon = daemon_factory().start()
    daemon.write_config(line)
    done = daemon.ctl("reload", check=False)
    assert done.returncode == 1
    assert done.stderr == (f"sbxctl: {name} cannot be changed by a reload: "
                           "restart sbxd\n")
    unharmed(daemon)


@pytest.mark.parametrize("name", ["control socket", "chroot", "spool",
                                  "workspace"])
def test_fixed_place(daemon_factory, name):
    daemon = daemon_factory().start()
    (daemon.dir / "other").mkdir()
    lines = daemon.base.splitlines(keepends=True)
    daemon.base = "".join(
        f'{name} "{daemon.dir}/other/x"\n' if line.startswith(name + " ")
        else line for line in lines)
    daemon.write_config()
    done = daemon.ctl("reload", check=False)
    assert done.returncode == 1
    assert done.stderr == (f"sbxctl: {name} cannot be changed by a reload: "
                           "restart sbxd\n")
    assert os.listdir(daemon.dir / "other") == []
    unharmed(daemon)


def test_from_standard_input(daemon_factory):
    """It was read once; an empty one would be something else."""
    daemon = daemon_factory()
    daemon.command = lambda: ["/bin/sh", "-c", 'exec "$0" -d -f - < "$1"',
                              str(sbx.SBXD), str(daemon.conf)]
    daemon.start()
    done = daemon.ctl("reload", check=False)
    assert done.returncode == 1
    assert "came from the standard input" in done.stderr
    unharmed(daemon)


def test_log_level(daemon_factory):
    daemon = daemon_factory().start()

    def shows(request_id):
        requests.get(daemon.url("/health"), timeout=10,
                     headers={"X-Request-ID": request_id})
        return sbx.wait_for(lambda: request_id in daemon.log_text(), 0.3)

    assert not shows("id-one")
    daemon.write_config("log level debug\n")
    daemon.ctl("reload")
    assert shows("id-two")
    daemon.write_config("log level error\n")
    daemon.ctl("reload")
    assert not shows("id-three")
    count = len(daemon.log())
    daemon.write_config("pool x\n")
    assert daemon.ctl("reload", check=False).returncode == 1
    assert len(daemon.log()) == count


def test_two_at_once(daemon_factory):
    """One is done, the other is done after it or told to come again."""
    daemon = daemon_factory().start()
    results = []
    threads = [threading.Thread(target=lambda: results.append(
        daemon.ctl("reload", check=False))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert any(done.returncode == 0 for done in results)
    for done in results:
        assert done.returncode == 0 or \
            done.stderr == "sbxctl: a start or reload is under way\n"
    unharmed(daemon)


def test_signal_during_reload(daemon_factory):
    """It is not lost: the file may have changed after it was read."""
    daemon = daemon_factory().start()
    done = "configuration reloaded"
    os.kill(daemon.pids["reporter"], signal.SIGSTOP)
    try:
        daemon.write_config("pool 7\n")
        daemon.proc.send_signal(signal.SIGHUP)
        # The first has been read when the answer to another says so.
        assert sbx.wait_for(lambda: "under way" in daemon.ctl(
            "reload", check=False).stderr)
        daemon.write_config("pool 8\n")
        daemon.proc.send_signal(signal.SIGHUP)
        assert sbx.wait_for(lambda: daemon.logged("Hangup", count=True) == 2)
        assert not daemon.logged(done)
    finally:
        os.kill(daemon.pids["reporter"], signal.SIGCONT)
    assert sbx.wait_for(lambda: daemon.logged(done, count=True) == 2)
    assert "pool 8\n" in daemon.ctl("show", "config").stdout
    unharmed(daemon)


def test_stop_during_reload(daemon_factory):
    daemon = daemon_factory().start()
    os.kill(daemon.pids["reporter"], signal.SIGSTOP)
    daemon.proc.send_signal(signal.SIGHUP)
    assert sbx.wait_for(lambda: daemon.logged("Hangup"))
    daemon.proc.send_signal(signal.SIGTERM)
    os.kill(daemon.pids["reporter"], signal.SIGCONT)
    assert daemon.wait() == 143
    assert daemon.gone()


class Hammer(threading.Thread):
    """Asks again and again, each time by a new connection."""

    def __init__(self, daemon):
        super().__init__()
        self.daemon_process = daemon
        self.over = threading.Event()
        self.good = 0
        self.bad = []

    def run(self):
        request = (b"GET /health HTTP/1.1\r\nHost: x\r\n"
                   b"Connection: close\r\n\r\n")
        while not self.over.is_set():
            try:
                with self.daemon_process.connect() as s:
                    s.sendall(request)
                    with s.makefile("rb") as f:
                        assert sbx.read_reply(f).status == 200
                self.good += 1
            except Exception as error:
                self.bad.append(repr(error))


def test_hammer(daemon_factory):
    """Clients do not notice a reload."""
    daemon = daemon_factory().start()
    extra = sbx.free_port()
    hammers = [Hammer(daemon) for _ in range(4)]
    fds = descriptors(daemon, "parent")
    for hammer in hammers:
        hammer.start()
    for i in range(20):
        daemon.write_config(f"pool {i}\n" + (
            f"listen on 127.0.0.1 port {extra}\n" if i % 2 else ""))
        daemon.ctl("reload")
    assert sbx.wait_for(lambda: all(h.good > 20 for h in hammers))
    for hammer in hammers:
        hammer.over.set()
    for hammer in hammers:
        hammer.join()
        assert hammer.bad == []
    assert descriptors(daemon, "parent") == fds
    unharmed(daemon)


def test_memory(daemon_factory):
    """A hundred reloads leave nothing behind."""
    daemon = daemon_factory().start()
    for _ in range(20):
        daemon.ctl("reload")
    before = daemon.rss()
    fds = {name: descriptors(daemon, name) for name in daemon.pids}
    for _ in range(80):
        daemon.ctl("reload")
    # A sanitizer keeps what was freed.
    assert sbx.SAN or daemon.rss() < before + 2 * 1024 * 1024
    assert sbx.wait_for(lambda: all(descriptors(daemon, name) <= fds[name]
                                    for name in daemon.pids))


def test_listener_wants_a_token_nobody_has(daemon_factory):
    """Nothing asked for a token at the start, so none was shown."""
    port = sbx.free_port()
    daemon = daemon_factory(token=None, listen="")
    daemon.port = port
    daemon.base += f"listen on 127.0.0.1 port {port} auth none\n"
    daemon.write_config()
    daemon.start()
    assert "token" not in daemon.out()
    other = sbx.free_port()
    daemon.write_config(f"listen on 127.0.0.1 port {other}\n")
    done = daemon.ctl("reload", check=False)
    assert done.returncode == 1
    assert "token: a listener wants one, and the file names none" in \
        done.stderr
    daemon.write_config(f"listen on 127.0.0.1 port {other}\n"
                        'token "another-token-1"\n')
    daemon.ctl("reload")
    reply = requests.get(f"http://127.0.0.1:{other}/metrics", timeout=10,
                         headers={"Authorization": "Bearer another-token-1"})
    assert reply.status_code == 200


def test_own_listener_in_the_way(daemon_factory):
    """The text says whose port or path it is."""
    daemon = daemon_factory()
    path = daemon.dir / "http.sock"
    daemon.write_config(f'listen on socket "{path}" mode 0600\n')
    daemon.start()
    daemon.write_config(f'listen on socket "{path}" mode 0666\n')
    done = daemon.ctl("reload", check=False)
    assert done.returncode == 1 and "sbxd itself listens there" in done.stderr
    daemon.base = daemon.base.replace("listen on 127.0.0.1 port",
                                      "listen on 0.0.0.0 port")
    daemon.write_config(f'listen on socket "{path}" mode 0600\n')
    done = daemon.ctl("reload", check=False)
    assert done.returncode == 1 and "sbxd itself listens there" in done.stderr
    assert requests.get(daemon.url("/health"), timeout=10).status_code == 200
