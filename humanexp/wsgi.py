from __future__ import annotations

import gc
import os
import sys

from django.core.wsgi import get_wsgi_application

gc.disable()  # until all is loaded: none of it is ever garbage, and looking for some takes a tenth of the time
os.umask(0o077)  # what this process writes is its owner's alone
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
application = get_wsgi_application()

from django.db import connections  # noqa: E402

from humanexp.core import checks  # noqa: E402

try:
    checks.check()
except checks.REFUSALS as refusal:
    sys.stderr.write(f"The web process does not start. {refusal}\n")
    # gunicorn's own status for a worker that cannot boot: it stops instead of starting one after the other
    raise SystemExit(3) from None
finally:
    connections.close_all()
    gc.freeze()
    gc.enable()
