"""A small OpenID provider on loopback, over real HTTP. What it says, and how it signs, can be made wrong."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa


class Provider:
    """Signs somebody in without asking; `claims` overrides what it states, `key` and `algorithm` how it signs."""

    client, secret = "humanexp", "between us"

    def __init__(self) -> None:
        self.key = self.published = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.algorithm = "RS256"
        self.url = ""
        self.person: dict[str, Any] = {"sub": "person-1", "preferred_username": "grace"}
        self.claims: dict[str, Any] = {}
        self.userinfo: dict[str, Any] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.exchanged: list[str] = []

    def configuration(self) -> dict[str, Any]:
        places = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        found = {f"{name}_endpoint": f"{self.url}/{path}" for name, path in places.items()}
        return {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **found}

    def keys(self) -> dict[str, Any]:
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.published.public_key()))
        return {"keys": [{**key, "kid": "one", "use": "sig", "alg": "RS256"}]}

    def authorize(self, query: dict[str, str]) -> str:
        """The address that the browser is sent back to."""
        code = secrets.token_urlsafe(8)
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str]) -> dict[str, Any] | None:
        asked = self.codes.pop(form["code"], None)
        if asked is None or form.get("client_secret") != self.secret:
            return None
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != asked["code_challenge"]:
            return None
        self.exchanged.append(form["code"])
        now = int(time.time())
        stated = {"iss": self.url, "aud": self.client, "iat": now, "exp": now + 300, "nonce": asked["nonce"]}
        payload = {name: value for name, value in {**stated, **self.person, **self.claims}.items() if value is not None}
        key = "" if self.algorithm == "none" else self.key if self.algorithm == "RS256" else self.shared()
        signed = jwt.encode(payload, key, algorithm=self.algorithm, headers={"kid": "one"})
        return {"id_token": signed, "access_token": "bearer", "token_type": "Bearer"}

    def shared(self) -> str:
        """What everybody knows of the key, taken for a secret that both have."""
        return hashlib.sha256(json.dumps(self.keys()).encode()).hexdigest()


@contextmanager
def running() -> Iterator[Provider]:
    provider = Provider()

    class Answers(BaseHTTPRequestHandler):
        def log_message(self, *_told: Any) -> None:
            pass

        def _say(self, content: Any, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def do_GET(self) -> None:
            place = urlsplit(self.path)
            if place.path == "/authorize":
                self.send_response(302)
                query = {name: values[0] for name, values in parse_qs(place.query).items()}
                self.send_header("Location", provider.authorize(query))
                self.end_headers()
            elif place.path == "/keys":
                self._say(provider.keys())
            elif place.path == "/userinfo":
                self._say(provider.userinfo)
            else:
                self._say(provider.configuration())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            found = provider.token({name: values[0] for name, values in parse_qs(body).items()})
            self._say(found or {"error": "invalid_grant"}, 200 if found else 400)

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        provider.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield provider
        server.shutdown()
