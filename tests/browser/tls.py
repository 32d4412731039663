"""HTTPS in front of servers that speak HTTP: a certificate made here, and a line that passes everything on."""

from __future__ import annotations

import datetime
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

#: Bytes passed on at once.
_CHUNK = 65_536


def certificate(folder: Path) -> ssl.SSLContext:
    """For localhost and 127.0.0.1, signed by itself, good for a day."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


@contextmanager
def in_front_of(address: tuple[str, int], context: ssl.SSLContext) -> Iterator[int]:
    """Passes on what arrives at a free port of 127.0.0.1; gives the port."""
    listening = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                plain, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(plain,), daemon=True).start()

    def serve(plain: socket.socket) -> None:
        with (
            suppress(OSError),
            context.wrap_socket(plain, server_side=True) as near,
            socket.create_connection(address) as far,
        ):
            threading.Thread(target=pass_on, args=(far, near), daemon=True).start()
            pass_on(near, far)

    def pass_on(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while chunk := source.recv(_CHUNK):
                sink.sendall(chunk)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.close()
