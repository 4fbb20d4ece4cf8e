"""Other TLS servers for `start`: `openssl s_server`, `openssl ocsp` as a responder, and mitmproxy."""

import datetime
import pathlib
import subprocess

# The options of each s_server besides its port; @NAMES@ are replaced.
CLIENTS = ["-Verify", "3", "-verify_return_error", "-CAfile", "@PKI@/clientroot.pem"]
# s_server needs the issuer to query the responder.
RESPONDER = ["-status", "-status_url", "http://127.0.0.1:@OCSP@/", "-CAfile", "@PKI@/intermediate.pem"]
S_SERVERS = {
    "S_SERVER_CLIENT12": ["-tls1_2", *CLIENTS],
    "S_SERVER_CLIENT13": ["-tls1_3", *CLIENTS],
    "S_SERVER_STAPLED": RESPONDER,
    "S_SERVER_REVOKED": RESPONDER,
    "S_SERVER_UNSTAPLED": [],
    "S_SERVER_P384": ["-tls1_3", "-groups", "P-384"],
}
# The certificate of each server, unless it is the good one.
CERTIFICATES = {"S_SERVER_STAPLED": "muststaple", "S_SERVER_REVOKED": "revoked", "S_SERVER_UNSTAPLED": "muststaple"}

ADDON = '''\
"""Writes a line for each event of a client."""
import pathlib

EVENTS = pathlib.Path(__file__).with_name("events")


def note(text):
    with open(EVENTS, "a") as file:
        file.write(text + "\\n")


def client_connected(client):
    note("connected")


def tls_established_client(data):
    note("tls established")


def tls_failed_client(data):
    note("tls failed")


def requestheaders(flow):
    note("request " + flow.request.path)


def tcp_message(flow):
    note("bytes")
'''


# The programs that run, by name.
processes = {}


def spawn(directory, name, command, **options):
    """Runs a program that is not a daemon, with a pid file for `stop`."""
    with open(directory / "logs" / f"{name.lower()}.log", "w") as output:
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True, **options)
    (directory / f"{name.lower()}.pid").write_text(f"{process.pid}\n")
    processes[name] = process


def serial(certificate):
    command = ["openssl", "x509", "-in", certificate, "-noout", "-serial"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip().split("=")[1]


def start_responder(directory, port):
    """Starts a responder with the certificates of the intermediate authority, in the index format of `openssl ca`.

    It listens on all addresses, not only on loopback: `openssl ocsp` has no option to restrict them. It serves the status of these
    certificates, and nothing else.
    """
    pki = directory / "pki"
    now = datetime.datetime.now(datetime.timezone.utc)
    ends = (now + datetime.timedelta(days=30)).strftime("%y%m%d%H%M%SZ")
    lines = []
    for name in ["good", "muststaple", "revoked", "rsa", "p384", "ed25519"]:
        state, since = ("R", now.strftime("%y%m%d%H%M%SZ")) if name == "revoked" else ("V", "")
        lines.append(f"{state}\t{ends}\t{since}\t{serial(pki / f'{name}.pem')}\tunknown\t/CN=localhost\n")
    (pki / "index.txt").write_text("".join(lines))
    (pki / "index.txt.attr").write_text("unique_subject = no\n")
    spawn(directory, "OCSP", [
        "openssl", "ocsp", "-port", port, "-index", pki / "index.txt", "-CA", pki / "intermediate.pem", "-rsigner",
        pki / "responder.pem", "-rkey", pki / "responder.key", "-ndays", "1"])


def expect_responder(directory):
    """Reads the responder's log: it would wait for a request on a connection, and block all others."""
    if "waiting for OCSP" not in (directory / "logs" / "ocsp.log").read_text():
        raise ConnectionError("it is not ready")


def start_s_server(directory, name, ports):
    pki = directory / "pki"
    certificate = CERTIFICATES.get(name, "good")
    options = [
        word.replace("@PKI@", str(pki)).replace("@OCSP@", str(ports["OCSP"])) for word in S_SERVERS[name]]
    spawn(directory, name, [
        "openssl", "s_server", "-accept", f"127.0.0.1:{ports[name]}", "-www", "-cert", pki / f"{certificate}.pem",
        "-key", pki / f"{certificate}.key", "-cert_chain", pki / "intermediate.pem", *options])


def mitmdump(root):
    path = root / ".build" / "linnet-mitm-venv" / "bin" / "mitmdump"
    return path if path.exists() else None


def start_mitm(directory, program, port, behind):
    """Starts mitmproxy, which creates an authority of its own in mitm/mitmproxy-ca-cert.pem."""
    folder = directory / "mitm"
    folder.mkdir(exist_ok=True)
    (folder / "addon.py").write_text(ADDON)
    (folder / "events").touch()
    spawn(directory, "MITM", [
        program, "--quiet", "--mode", f"reverse:https://localhost:{behind}@127.0.0.1:{port}", "--set",
        f"confdir={folder}", "--set", f"ssl_verify_upstream_trusted_ca={directory / 'pki' / 'root.pem'}", "--set",
        "connection_strategy=lazy", "--scripts", folder / "addon.py"])


def names(root):
    return ["OCSP", *S_SERVERS] + (["MITM"] if mitmdump(root) else [])


def start(directory, root, ports):
    start_responder(directory, ports["OCSP"])
    for name in S_SERVERS:
        start_s_server(directory, name, ports)
    if "MITM" in ports:
        start_mitm(directory, mitmdump(root), ports["MITM"], ports["TLS"])


def environment(directory, ports):
    values = {f"LINNET_TEST_{name}": f"https://localhost:{ports[name]}" for name in S_SERVERS}
    if "MITM" in ports:
        values["LINNET_TEST_MITM"] = f"https://localhost:{ports['MITM']}"
    return values
