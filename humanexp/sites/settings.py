"""What the settings of all sites have in common. Whatever differs between machines comes from the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from csp.constants import NONE, SELF

from humanexp.places import WORK, read_or_create_key
from humanexp.processes import SQLITE_OPTIONS

env = environ.Env()

MEDIA_ROOT = Path(env.str("MEDIA_ROOT", default=str(WORK / "media"))).resolve()
#: Host names to which a site answers, unless it is told others.
THIS_MACHINE = ["localhost", "127.0.0.1", "[::1]"]
#: As sources in a policy: other people's pages, or those of this machine while a study is being tried out.
OTHERS_PAGES = ["https:", "http://localhost:*", "http://127.0.0.1:*"]


def key_file(name: str) -> Path:
    """Where the key that signs a site's cookies is kept, unless the environment has one."""
    return MEDIA_ROOT / "keys" / f"{name}_secret_key"


def settings_of(
    name: str,
    *,
    url: str,
    hosts: list[str],
    secret_key: str,
    context: str,
    apps: list[str],
    middleware: list[str],
    policy: dict[str, list[Any]],
    database: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """For the site in `humanexp.sites.<name>`, whose public address is `url`; its own modules add what they name."""
    MEDIA_ROOT.mkdir(parents=True, exist_ok=True)
    package, public = f"humanexp.sites.{name}", urlsplit(url)
    is_https = public.scheme == "https"
    return {
        "DEBUG": False,
        "MEDIA_ROOT": MEDIA_ROOT,
        "ALLOWED_HOSTS": [*hosts, *([public.hostname] if public.hostname else [])],
        "CSRF_TRUSTED_ORIGINS": [url] if url else [],
        "SECRET_KEY": secret_key or read_or_create_key(key_file(name)),
        "INSTALLED_APPS": [
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "django.contrib.messages",
            "django.contrib.staticfiles",
            "csp",
            *apps,
            package,
        ],
        "MIDDLEWARE": [
            "django.middleware.security.SecurityMiddleware",
            "csp.middleware.CSPMiddleware",
            "whitenoise.middleware.WhiteNoiseMiddleware",
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
            *middleware,
        ],
        "ROOT_URLCONF": f"{package}.urls",
        "TEMPLATES": [
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.messages.context_processors.messages",
                        context,
                    ],
                },
            },
        ],
        "DATABASES": {"default": _database(name, database)},
        "DEFAULT_AUTO_FIELD": "django.db.models.BigAutoField",
        # Names of its own: other sites may answer at the same host, and a cookie knows no port.
        "SESSION_COOKIE_NAME": f"{name}_session",
        "CSRF_COOKIE_NAME": f"{name}_csrftoken",
        "SESSION_COOKIE_SECURE": is_https,
        "CSRF_COOKIE_SECURE": is_https,
        "SECURE_CONTENT_TYPE_NOSNIFF": True,
        # Ids in our addresses stay here; with "no-referrer" browsers would send our own forms with Origin: null.
        "SECURE_REFERRER_POLICY": "same-origin",
        "X_FRAME_OPTIONS": "DENY",
        "CONTENT_SECURITY_POLICY": {
            "DIRECTIVES": {
                "default-src": [SELF],
                "object-src": [NONE],
                "base-uri": [NONE],
                "form-action": [SELF],
                "frame-ancestors": [NONE],
                **policy,
            }
        },
        "LANGUAGE_CODE": "en",
        "TIME_ZONE": "UTC",
        "USE_TZ": True,
        "STATIC_URL": "static/",
        "STATICFILES_FINDERS": ["django.contrib.staticfiles.finders.AppDirectoriesFinder"],
        "WHITENOISE_USE_FINDERS": True,  # static files work uncollected
        "DATA_UPLOAD_MAX_MEMORY_SIZE": 4 * 1024 * 1024,
        "LOGGING": {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
            "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
            "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="WARNING")},
            # A refusal is an answer, not a fault: without this every 404 would be a line.
            "loggers": {"django.request": {"level": "ERROR"}, "waitress.queue": {"level": "ERROR"}},
        },
    }


def _database(name: str, given: dict[str, Any] | None) -> dict[str, Any]:
    database = given or {"ENGINE": "django.db.backends.sqlite3", "NAME": MEDIA_ROOT / f"{name}.sqlite3"}
    is_file = database["ENGINE"].endswith("sqlite3")
    more = {"OPTIONS": SQLITE_OPTIONS} if is_file else {"CONN_HEALTH_CHECKS": True}
    return {"CONN_MAX_AGE": None, **more, **database}
