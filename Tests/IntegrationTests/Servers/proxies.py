"""Proxies for `start`: tinyproxy and squid with Basic, squid with Digest, and microsocks with a user name."""

import hashlib
import os
import pathlib
import pwd
import shutil
import subprocess
import urllib.parse

import tls_peers

USER = "ada"
# With characters that a URL must escape.
PASSWORD = "love lace@1843"
REALM = "Linnet tests"
NAMES = ["TINYPROXY", "SQUID_BASIC", "SQUID_DIGEST", "MICROSOCKS"]
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
HELPERS = [pathlib.Path(folder) for folder in ("/usr/lib/squid", "/usr/lib64/squid", "/usr/libexec/squid")]

TINYPROXY = """\
Port @PORT@
Listen 127.0.0.1
Timeout 60
MaxClients 100
LogLevel Connect
BasicAuth @USER@ @PLAIN@
"""
SQUID = """\
http_port 127.0.0.1:@PORT@
pid_filename none
cache deny all
cache_log @LOGS@/@NAME@-cache.log
access_log stdio:@LOGS@/@NAME@-access.log
coredump_dir @LOGS@
netdb_filename none
shutdown_lifetime 0 seconds
@AUTH@
acl known proxy_auth REQUIRED
http_access allow known
http_access deny all
"""


def program(name):
    return shutil.which(name, path=PATH)


def helper(name):
    return next((folder / name for folder in HELPERS if (folder / name).exists()), None)


def names():
    """The proxies, if all of them are installed."""
    return NAMES if program("tinyproxy") and program("microsocks") and program("squid") and helper("digest_file_auth") else []


def fill(text, **values):
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    return text


def start_tinyproxy(directory, port):
    # Its configuration has no quotes for a space, so its password is another one.
    path = directory / "tinyproxy.conf"
    path.write_text(fill(TINYPROXY, PORT=port, USER=USER, PLAIN=PASSWORD.replace(" ", "-").replace("@", "-")))
    tls_peers.spawn(directory, "TINYPROXY", [program("tinyproxy"), "-d", "-c", path])


def start_squid(directory, name, port):
    folder = directory / "squid"
    folder.mkdir(exist_ok=True)
    (folder / "basic").write_text(f"{USER}:$apr1$linnet$" + apr1(PASSWORD, "linnet") + "\n")
    secret = hashlib.md5(f"{USER}:{REALM}:{PASSWORD}".encode()).hexdigest()
    (folder / "digest").write_text(f"{USER}:{REALM}:{secret}\n")
    if name == "SQUID_BASIC":
        auth = [f"auth_param basic program {helper('basic_ncsa_auth')} {folder}/basic", "auth_param basic children 1",
                f"auth_param basic realm {REALM}"]
    else:
        auth = [f"auth_param digest program {helper('digest_file_auth')} -c {folder}/digest",
                "auth_param digest children 1", f"auth_param digest realm {REALM}"]
    path = folder / f"{name.lower()}.conf"
    path.write_text(fill(SQUID, PORT=port, LOGS=folder, NAME=name.lower(), AUTH="\n".join(auth)))
    if os.geteuid() == 0:
        # Squid and its helpers run as another user, who needs a way to their folder.
        directory.chmod(0o711)
        try:
            owner = pwd.getpwnam("proxy")
        except KeyError:
            owner = pwd.getpwnam("squid")
        for each in [folder, *folder.iterdir()]:
            os.chown(each, owner.pw_uid, owner.pw_gid)
    tls_peers.spawn(directory, name, [program("squid"), "-N", "-n", name.replace("_", "").lower(), "-f", path])


def apr1(password, salt):
    command = ["openssl", "passwd", "-apr1", "-salt", salt, password]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("$")[-1].strip()


def start(directory, ports):
    if not names():
        return
    start_tinyproxy(directory, ports["TINYPROXY"])
    for name in ("SQUID_BASIC", "SQUID_DIGEST"):
        start_squid(directory, name, ports[name])
    # The folder in the first word tells `stop` that the process is one of ours.
    tls_peers.spawn(
        directory, "MICROSOCKS",
        [directory / "microsocks", "-i", "127.0.0.1", "-p", ports["MICROSOCKS"], "-u", USER, "-P", PASSWORD],
        executable=program("microsocks"))


def environment(ports):
    """The URL of each proxy."""
    values = {}
    for name in names():
        scheme = "socks5h" if name == "MICROSOCKS" else "http"
        password = PASSWORD.replace(" ", "-").replace("@", "-") if name == "TINYPROXY" else PASSWORD
        values[f"LINNET_TEST_{name}"] = (
            f"{scheme}://{USER}:{urllib.parse.quote(password, safe='')}@127.0.0.1:{ports[name]}")
    return values
