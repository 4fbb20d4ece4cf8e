"""The server for the measurements: one nginx with one worker on loopback, its files, and its certificates."""

import base64
import contextlib
import fcntl
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import link
import pictures

HERE = pathlib.Path(__file__).resolve().parent
MEMORY = pathlib.Path("/dev/shm")
# Each run locks a file in its folder; the kernel unlocks it when the process ends, however it ends.
PREFIX, LOCK = "linnet-bench-", "lock"
PICTURES, DISTINCT_PICTURES = 200, 8
TEN_KILOBYTES = 10_000
LARGE_FILES = {"256m": 256 << 20, "1g": 1 << 30}
# With it, answers come late. Debian's nginx-light contains it.
SLOW_MODULE = "ngx_http_echo_module.so"
SLOW = "echo_sleep 0.05; echo_exec /1k;"


def run(*command, **options):
    result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, **options)
    if result.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {result.stderr.decode(errors='replace').strip()}")
    return result.stdout


def find_nginx():
    path = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if path is None:
        raise RuntimeError("nginx is not installed: .ci/setup bench")
    return path


def nginx_version(nginx):
    """The version of a program, such as (1, 22, 1)."""
    text = subprocess.run([nginx, "-v"], stdin=subprocess.DEVNULL, capture_output=True, text=True).stderr
    match = re.search(r"/(\d+)\.(\d+)\.(\d+)", text)
    if match is None:
        raise RuntimeError(f"{nginx} -v prints no version: {text.strip()}")
    return tuple(map(int, match.groups()))


def nginx_module(nginx, name):
    """The path of a module; None if it is not installed."""
    text = subprocess.run([nginx, "-V"], stdin=subprocess.DEVNULL, capture_output=True, text=True).stderr
    folder = re.search(r"--modules-path=(\S+)", text)
    path = pathlib.Path(folder[1]) / name if folder else None
    return path if path and path.exists() else None


def stop_servers(directory):
    """Stops each nginx of a folder that runs, and removes the namespaces of its link."""
    for pid_file in directory.glob("*.pid"):
        stop_nginx(directory, pid_file)
    link.remove(directory.name)


def stop_nginx(directory, pid_file):
    try:
        master = int(pid_file.read_text())
        if str(directory) not in pathlib.Path(f"/proc/{master}/cmdline").read_text():
            return
        os.kill(master, signal.SIGTERM)
    except (OSError, ValueError):
        return
    for _ in range(100):
        if not pid_file.exists():
            break
        time.sleep(0.05)


def remove_abandoned(folder):
    """Removes what runs have left that were killed, and stops their servers."""
    for directory in folder.glob(f"{PREFIX}*"):
        try:
            if directory.lstat().st_uid != os.geteuid():
                continue
            with open(directory / LOCK) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                stop_servers(directory)
                shutil.rmtree(directory, ignore_errors=True)
        except OSError:
            pass  # it is in use, or of another program


class Server:
    """`with Server() as server`: started at the beginning, stopped at the end, when its files are removed."""

    echo = None  # the WebSocket server
    address = {}  # kind of server -> its address, unless it is that of loopback

    def __enter__(self):
        # A signal raises an exception, so that __exit__ runs and stops the server. `nohup` has SIGHUP ignored.
        for each in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(each) != signal.SIG_IGN:
                signal.signal(each, lambda number, _: sys.exit(128 + number))
        for folder in (MEMORY, pathlib.Path(tempfile.gettempdir())):
            remove_abandoned(folder)
        # Files are in memory if there is space, so that the disk is not measured.
        has_room = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 6 << 30
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX, dir=MEMORY if has_room else None))
        try:
            self.lock = open(self.directory / LOCK, "w")
            fcntl.flock(self.lock, fcntl.LOCK_EX)
            self.make_certificates()
            self.make_small_files()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            if self.echo:
                self.echo.stdin.close()
                self.echo.wait()
        finally:
            try:
                stop_servers(self.directory)
            finally:
                shutil.rmtree(self.directory, ignore_errors=True)

    def processes(self):
        """The servers' processes."""
        echo = [self.echo.pid] if self.echo else []
        masters = [file.read_text().strip() for file in self.directory.glob("*.pid")]
        workers = [worker for master in masters
                   for worker in pathlib.Path(f"/proc/{master}/task/{master}/children").read_text().split()]
        return [*masters, *workers, *echo]

    @contextlib.contextmanager
    def on_one_core(self):
        """Runs the servers, and the programs that are started meanwhile, on one processor core."""
        cores = os.sched_getaffinity(0)
        try:
            self.move({min(cores)})
            yield
        finally:
            self.move(cores)

    def move(self, cores):
        os.sched_setaffinity(0, cores)
        for process in self.processes():
            for thread in os.listdir(f"/proc/{process}/task"):
                os.sched_setaffinity(int(thread), cores)

    # Certificates: a root, an intermediate and a leaf for 127.0.0.1. The server sends the last two.

    def make_certificates(self):
        authority = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n"
        leaf = ("basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth\n"
                "subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        for name, issuer, extensions in [
                ("root", None, authority), ("intermediate", "root", authority), ("leaf", "intermediate", leaf)]:
            self.issue(name, issuer, extensions)
        parts = [(self.directory / f"{name}.pem").read_text() for name in ("leaf", "intermediate", "root")]
        (self.directory / "leaf.chain.pem").write_text("".join(parts[:2]))
        (self.directory / "all.pem").write_text("".join(parts))
        key = run("openssl", "pkey", "-in", self.directory / "leaf.key", "-pubout", "-outform", "DER")
        self.pin = "sha256/" + base64.b64encode(hashlib.sha256(key).digest()).decode()

    def issue(self, name, issuer, extensions):
        # A common name must be one of the alternative names (Baseline Requirements, 7.1.4.3).
        subject = "127.0.0.1" if name == "leaf" else f"Linnet benchmark {name}"
        key, request, extension_file, certificate = (
            self.directory / f"{name}.{suffix}" for suffix in ("key", "csr", "ext", "pem"))
        extension_file.write_text("subjectKeyIdentifier=hash\n" + extensions)
        run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key)
        run("openssl", "req", "-new", "-key", key, "-subj", f"/CN={subject}", "-out", request)
        signer = ["-signkey", key] if issuer is None else [
            "-CA", self.directory / f"{issuer}.pem", "-CAkey", self.directory / f"{issuer}.key", "-CAcreateserial"]
        run("openssl", "x509", "-req", "-in", request, *signer, "-days", "30", "-extfile", extension_file,
            "-out", certificate)

    # Files

    def make_small_files(self):
        www = self.directory / "www"
        www.mkdir()
        (self.directory / "upload").mkdir()
        (www / "1k").write_bytes(b"".join(b"%07d\n" % number for number in range(128)))
        posts = [{
            "id": number, "title": f"Post {number}, one of many", "author": "Ada Lovelace", "likes": number * 7,
            "score": number / 8, "isPinned": number % 5 == 0,
        } for number in range(18)]
        (www / "json").write_text(json.dumps({"page": 1, "posts": posts}))

    def file(self, name):
        """Returns a served file. A large one is created on first use."""
        path = self.directory / "www" / name
        if name == "text" and not path.exists():
            self.make_text(path)
        if not path.exists():
            block = os.urandom(1 << 20)
            with open(path, "wb") as file:
                for _ in range(LARGE_FILES[name] >> 20):
                    file.write(block)
        return path

    def make_pictures(self):
        """Makes the pictures on first use: "first", and those with the numbers from 0. Some URLs have the same picture."""
        folder = self.directory / "www" / "pictures"
        if folder.exists():
            return
        folder.mkdir()
        for number in range(PICTURES):
            if number < DISTINCT_PICTURES:
                (folder / str(number)).write_bytes(pictures.make(number))
            else:
                (folder / str(number)).hardlink_to(folder / str(number % DISTINCT_PICTURES))
        (folder / "first").hardlink_to(folder / "0")

    def make_ten_kilobytes(self):
        """Makes the files of ten kilobytes on first use, whose names are the numbers from 0; returns their number."""
        folder = self.directory / "www" / "10k"
        if not folder.exists():
            folder.mkdir()
            for number in range(TEN_KILOBYTES):
                (folder / str(number)).write_bytes(os.urandom(10_000))
        return TEN_KILOBYTES

    def make_text(self, path):
        """A quarter of a gigabyte of JSON lines, and the same in gzip, which takes about a tenth."""
        lines = b"".join(
            b'{"id": %d, "title": "Post %d, one of many", "score": %d, "tags": ["finch", "linnet"]}\n'
            % (number, number * 7919 % 10007, number * number % 65537) for number in range(100_000))
        (self.directory / "gzip").mkdir()
        with open(path, "wb") as plain, gzip.open(self.directory / "gzip" / path.name, "wb", compresslevel=6) as coded:
            for _ in range((256 << 20) // len(lines)):
                plain.write(lines)
                coded.write(lines)

    # nginx

    def start(self):
        for attempt in range(3):
            self.ports = dict(zip(("HTTP", "HTTPS", "HTTP2", "HTTP2Single"), free_ports(4)))
            if self.start_nginx("nginx", "127.0.0.1"):
                break
        else:
            raise RuntimeError("nginx did not start: " + (self.directory / "nginx.out").read_text())
        for port in self.ports.values():
            wait_for("127.0.0.1", port)

    def start_nginx(self, name, address, enter=()):
        """Starts an nginx on the ports of an address; returns whether it has started."""
        nginx = find_nginx()
        version = nginx_version(nginx)
        module = nginx_module(nginx, SLOW_MODULE)
        self.has_slow_answers = module is not None
        command = [*enter, nginx, "-p", self.directory, "-c", self.directory / f"{name}.conf"]
        if version >= (1, 19, 5):
            command += ["-e", self.directory / "error.log"]
        values = dict(
            self.ports, DIR=self.directory, NAME=name, ADDRESS=address, USER="user root root;" if os.geteuid() == 0 else "",
            MODULE=f"load_module {module};" if module else "", SLOW=SLOW if module else "return 501;")
        for template, file in (("nginx.conf", f"{name}.conf"), ("locations.conf", "locations.conf")):
            text = (HERE / f"{template}.in").read_text()
            for key, value in values.items():
                text = text.replace(f"@{key}@", str(value))
            if version < (1, 19, 7):
                # It counts the requests of HTTP/2 connections separately.
                text = re.sub(r"keepalive_requests (\d+);", r"\g<0> http2_max_requests \1;", text)
            (self.directory / file).write_text(text)
        # Output goes to a file, because the daemon keeps it open.
        with open(self.directory / f"{name}.out", "w") as output:
            return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output).returncode == 0

    def start_lossy(self):
        """Starts a second nginx behind a link that loses packets. Raises link.Unavailable if there can be no such link."""
        lossy = link.Link(self.directory.name)
        if not self.start_nginx("lossy", lossy.address, lossy.enter):
            raise RuntimeError("nginx did not start: " + (self.directory / "lossy.out").read_text())
        self.ports["Lossy"] = self.ports["HTTP"]
        self.address = {"Lossy": lossy.address}
        wait_for(lossy.address, self.ports["Lossy"])

    def start_echo(self, program):
        """Starts the WebSocket server, which ends with its standard input. A native one, so that the client is measured."""
        self.echo = subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ports["WebSocket"] = int(self.echo.stdout.readline())

    def url(self, kind, path):
        scheme = "http" if kind in ("HTTP", "Lossy", "WebSocket") else "https"
        return f"{scheme}://{self.address.get(kind, '127.0.0.1')}:{self.ports[kind]}/{path}"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def wait_for(address, port):
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection((address, port), timeout=2).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
