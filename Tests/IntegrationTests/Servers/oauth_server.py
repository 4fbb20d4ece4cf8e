"""An OAuth 2.0 issuer with the package Authlib: oauth_server.py PORT DIR

The clients are `program` (public), `service` with the secret `s:ecret/1` in the Authorization field, and `poster` with the same secret
in the body. Its user agrees to every login, unless the scope has `deny`; /activate?user_code=… is the page of device codes, and denies
with deny=1. Refresh tokens are rotated, and each is accepted once. /api answers requests with a valid access token. DIR is not used:
with it, `stop` recognizes the process.
"""

import os
import secrets
import sys
import time

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer  # noqa: E402
from authlib.oauth2 import OAuth2Error  # noqa: E402
from authlib.oauth2.rfc6749 import grants  # noqa: E402
from authlib.oauth2.rfc7009 import RevocationEndpoint  # noqa: E402
from authlib.oauth2.rfc7636 import CodeChallenge  # noqa: E402
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata  # noqa: E402
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant  # noqa: E402
from authlib.oauth2.rfc9207 import IssuerParameter  # noqa: E402
from flask import Flask, jsonify, request  # noqa: E402
from werkzeug.serving import WSGIRequestHandler, make_server  # noqa: E402

PORT = int(sys.argv[1])
ISSUER = f"http://127.0.0.1:{PORT}"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
tokens, codes, devices, answers = [], {}, {}, {}


class Client:
    def __init__(self, name, method, kinds, secret=""):
        self.name, self.method, self.kinds, self.secret = name, method, kinds, secret

    def get_client_id(self):
        return self.name

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return scope or ""

    def check_redirect_uri(self, uri):
        # Any port, as RFC 8252, section 7.3 requires.
        return uri.startswith("http://127.0.0.1:") and uri.endswith("/callback")

    def check_client_secret(self, secret):
        return secrets.compare_digest(self.secret, secret)

    def check_endpoint_auth_method(self, method, endpoint):
        return method == self.method

    def check_response_type(self, kind):
        return kind == "code"

    def check_grant_type(self, kind):
        return kind in self.kinds


LOGINS = ["authorization_code", "refresh_token", DEVICE]
clients = {each.name: each for each in (
    Client("program", "none", LOGINS),
    Client("service", "client_secret_basic", ["client_credentials", *LOGINS], "s:ecret/1"),
    Client("poster", "client_secret_post", ["client_credentials"], "s:ecret/1"),
)}


class Token:
    def __init__(self, data, client, user):
        self.data, self.client, self.user = data, client, user
        self.is_access_revoked = self.is_refresh_revoked = False

    def check_client(self, client):
        return client is self.client

    def get_scope(self):
        return self.data.get("scope", "")


def find(kind, text):
    return next((each for each in tokens if each.data.get(kind) == text), None)


class Code:
    def __init__(self, request):
        data = request.payload.data
        self.client, self.user = request.client, request.user
        self.redirect_uri, self.scope = request.payload.redirect_uri, request.payload.scope
        self.code_challenge, self.code_challenge_method = data.get("code_challenge"), data.get("code_challenge_method")

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none", "client_secret_basic"]

    def save_authorization_code(self, code, request):
        codes[code] = Code(request)

    def query_authorization_code(self, code, client):
        found = codes.get(code)
        return found if found and found.client is client else None

    def delete_authorization_code(self, code):
        for key in [key for key, each in codes.items() if each is code]:
            del codes[key]

    def authenticate_user(self, code):
        return code.user


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none", "client_secret_basic"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, text):
        token = find("refresh_token", text)
        return token if token and not token.is_refresh_revoked else None

    def authenticate_user(self, token):
        return token.user

    def revoke_old_credential(self, token):
        token.is_access_revoked = token.is_refresh_revoked = True


class ServiceGrant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]


class Device:
    def __init__(self, client, scope, data):
        self.client, self.scope, self.data, self.polls = client, scope, data, 0
        self.end = time.monotonic() + data["expires_in"]

    def get_client_id(self):
        return self.client

    def get_scope(self):
        return self.scope

    def get_user_code(self):
        return self.data["user_code"]

    def is_expired(self):
        return time.monotonic() > self.end


class DeviceGrant(DeviceCodeGrant):
    def query_device_credential(self, code):
        return devices.get(code)

    def query_user_grant(self, user_code):
        return answers.get(user_code)

    def should_slow_down(self, device):
        device.polls += 1
        return device.polls == 2


class DeviceEndpoint(DeviceAuthorizationEndpoint):
    def get_verification_uri(self):
        return ISSUER + "/activate"

    def save_device_credential(self, client_id, scope, data):
        devices[data["device_code"]] = Device(client_id, scope, data)


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ["none", "client_secret_basic"]

    def query_token(self, text, hint):
        return find("access_token", text) or find("refresh_token", text)

    def revoke_token(self, token, request):
        token.is_access_revoked = True
        if request.form.get("token_type_hint") != "access_token":
            token.is_refresh_revoked = True


class Issuer(IssuerParameter):
    def get_issuer(self):
        return ISSUER


app = Flask(__name__)
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
server = AuthorizationServer(
    app, query_client=clients.get,
    save_token=lambda data, request: tokens.append(Token(data, request.client, request.user)))
for grant, extensions in [
        (CodeGrant, [CodeChallenge(required=True)]), (RefreshGrant, None), (ServiceGrant, None), (DeviceGrant, None)]:
    server.register_grant(grant, extensions)
server.register_endpoint(DeviceEndpoint)
server.register_endpoint(Revocation)
server.register_extension(Issuer())


@app.get("/.well-known/oauth-authorization-server")
def metadata():
    document = AuthorizationServerMetadata({
        "issuer": ISSUER, "authorization_endpoint": ISSUER + "/authorize", "token_endpoint": ISSUER + "/token",
        "device_authorization_endpoint": ISSUER + "/device", "revocation_endpoint": ISSUER + "/revoke",
        "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True})
    return jsonify(document)


@app.get("/authorize")
def authorize():
    try:
        grant = server.get_consent_grant(end_user="ada")
    except OAuth2Error as error:
        return jsonify(dict(error.get_body())), 400
    user = None if "deny" in request.args.get("scope", "") else "ada"
    return server.create_authorization_response(grant_user=user, grant=grant)


@app.post("/token")
def token():
    return server.create_token_response()


@app.post("/device")
def device():
    return server.create_endpoint_response(DeviceEndpoint.ENDPOINT_NAME)


@app.post("/revoke")
def revoke():
    return server.create_endpoint_response(Revocation.ENDPOINT_NAME)


@app.get("/activate")
def activate():
    answers[request.args["user_code"]] = ("ada", request.args.get("deny") != "1")
    return "You can close this page.\n"


@app.get("/api")
def api():
    found = find("access_token", request.headers.get("Authorization", "").removeprefix("Bearer "))
    if found is None or found.is_access_revoked:
        return jsonify(error="invalid_token"), 401, {"WWW-Authenticate": "Bearer"}
    return jsonify(user=found.user, client=found.client.name, scope=found.get_scope())


class Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"


make_server("127.0.0.1", PORT, app, threaded=True, request_handler=Handler).serve_forever()
