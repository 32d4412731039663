"""The product's WSGI application, which dies before it replies when asked to: `python -m tests.participation.killable`.

Prints its port. A request with the header X-Die is carried out, and then the process is gone, as after a power cut.
"""

from __future__ import annotations

import os
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")


class Quiet(WSGIRequestHandler):
    def log_message(self, *args):
        pass


def main() -> None:
    from humanexp.wsgi import application

    def dying(environ, start_response):
        reply = b"".join(application(environ, start_response))
        if environ.get("HTTP_X_DIE"):
            os._exit(1)
        return [reply]

    server = make_server("127.0.0.1", 0, dying, handler_class=Quiet)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
