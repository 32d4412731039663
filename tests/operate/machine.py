"""A machine for the documents: their folders under one of this run, free ports, a PostgreSQL cluster of its own.

Everything in which a run differs from an empty Debian stands here (`substitutions`) and in `tests.operate.shims`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.faults.test_nginx import free_port
from tests.operate.shims import SHIMS, stop_everything
from tests.postgres import Cluster, running_cluster
from tests.product.readme import draw_photographs

ROOT = Path(__file__).resolve().parents[2]
#: Folders of the documents; each is the one of the same name under the run's.
FOLDERS = ("/opt/humanexp", "/usr/local/bin", "/etc/humanexp", "/etc/systemd/system", "/etc/ssl/humanexp", "/etc/nginx")
FOLDERS += ("/etc/caddy", "/var/lib/humanexp", "/var/www/humanexp", "/var/backups/humanexp", "/var/log/nginx", "/srv")
#: What Debian's nginx-light puts there, as far as a site depends on it.
NGINX = """worker_processes 1;
pid {root}/run/nginx.master;
error_log {root}/var/log/nginx/error.log;
events {{ worker_connections 768; }}
http {{ {temporary} include {root}/etc/nginx/sites-enabled/*; }}
"""


@dataclass(frozen=True)
class Machine:
    root: Path
    cluster: Cluster
    https: int
    work_https: int

    def run(self, script: str, timeout_s: float = 1200) -> subprocess.CompletedProcess[str]:
        """In one shell, with the shims in front of Debian's programs."""
        path = [self.root / "shims", self.root / "usr/local/bin", *map(Path, os.environ["PATH"].split(os.pathsep))]
        environment = {
            "PATH": os.pathsep.join(map(str, path)),
            "HOME": str(self.root),
            "LANG": "C.UTF-8",
            "OPERATE_ROOT": str(self.root),
            "PGHOST": str(self.cluster.folder),
        }
        return subprocess.run(
            ["bash", "-c", self.here(script)],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def here(self, text: str) -> str:
        """The text of a document or of a shipped file, with the places of this machine in it."""
        changes = self.substitutions
        longest_first = sorted(changes, key=len, reverse=True)
        return re.sub("|".join(map(re.escape, longest_first)), lambda found: changes[found[0]], text)

    @property
    def substitutions(self) -> dict[str, str]:
        places = {folder: f"{self.root}{folder}" for folder in FOLDERS}
        return {
            # The name, and where the code is
            "SITE=study.example.org": "SITE=localhost",
            "WORK=work.example.org": "WORK=localhost",
            "REPOSITORY=https://git.example.org/humanexp.git": f"REPOSITORY={self.root}/repository",
            # Packages of Python are those of this environment
            "python3 -m venv": f"PYTHONPATH={ROOT} {sys.executable} -m tests.operate.environment",
            "--extra-index-url https://download.pytorch.org/whl/cpu": "--no-deps --no-build-isolation",
            # Ports
            "https://$SITE/": f"https://$SITE:{self.https}/",
            "https://$SITE|": f"https://$SITE:{self.https}|",
            "https://$WORK": f"https://$WORK:{self.work_https}",
            # The cluster's socket
            "/var/run/postgresql": str(self.cluster.folder),
            **places,
        }


@contextmanager
def machine() -> Iterator[Machine]:
    """Everything that was started on it has ended afterwards."""
    root = Path(tempfile.mkdtemp(prefix="hx-operate-"))
    root.chmod(0o755)
    for folder in (*FOLDERS, "/run", "/shims"):
        (root / folder[1:]).mkdir(parents=True, exist_ok=True)
    for folder in ("opt/humanexp", "etc/humanexp", "var/lib/humanexp"):
        (root / folder).rmdir()  # the documents make them
    (root / "run").chmod(0o777)
    for name in SHIMS:
        file = root / "shims" / name
        file.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m tests.operate.shims {name} "$@"\n')
        file.chmod(0o755)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = " ".join(f"{kind}_temp_path {root}/run/{kind};" for kind in kinds)
    (root / "etc/nginx/nginx.conf").write_text(NGINX.format(root=root, temporary=temporary))
    for folder in ("sites-available", "sites-enabled"):
        (root / "etc/nginx" / folder).mkdir()
    draw_photographs(root / "srv/photos", 6)
    with running_cluster(superuser="postgres") as cluster:
        made = Machine(root, cluster, free_port(), free_port())
        _make_repository(made)
        os.environ["OPERATE_ROOT"] = str(root)
        try:
            yield made
        finally:
            stop_everything()
            del os.environ["OPERATE_ROOT"]
            shutil.rmtree(root, ignore_errors=True)


def _make_repository(machine: Machine) -> None:
    """The working tree as a repository, with the ports and folders of this machine in the files of `deploy`."""
    folder = machine.root / "repository"
    listed = subprocess.run(
        [
            "git",
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "analysis",
            "humanexp",
            "static",
            "templates",
        ]
        + [
            "deploy",
            "requirements",
            "pyproject.toml",
            "setup.py",
            "README.md",
            "LICENSE",
            "MANIFEST.in",
            "docs/operate",
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    _fit_deployed_files(machine, folder / "deploy")
    author = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
    for command in (["init", "--quiet"], ["add", "--all"], [*author, "commit", "--quiet", "--message", "As it is"]):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)


def _fit_deployed_files(machine: Machine, deploy: Path) -> None:
    web, work, plain, work_plain = (free_port() for _ in range(4))
    fitted = {
        "nginx.conf": {
            "127.0.0.1:8000;": f"127.0.0.1:{web};",
            "listen 80;": f"listen 127.0.0.1:{plain};",
            "listen [::]:80;": "",
            "listen 443 ssl;": f"listen 127.0.0.1:{machine.https} ssl;",
            "listen [::]:443 ssl;": "",
        },
        "nginx-marketplace.conf": {
            "127.0.0.1:8001;": f"127.0.0.1:{work};",
            "listen 80;": f"listen 127.0.0.1:{work_plain};",
            "listen [::]:80;": "",
            "listen 443 ssl;": f"listen 127.0.0.1:{machine.work_https} ssl;",
            "listen [::]:443 ssl;": "",
        },
        "systemd/humanexp-web.service": {"humanexp.serving": f"humanexp.serving --bind 127.0.0.1:{web}"},
        "systemd/humanexp-marketplace.service": {"--port 8001": f"--port {work}"},
        "Caddyfile": {
            "{$SITE:study.example.org}": f"localhost:{machine.https}",
            "{$MARKETPLACE:work.example.org}": f"localhost:{machine.work_https}",
            "{$WEB:127.0.0.1:8000}": f"127.0.0.1:{web}",
            "{$WORK:127.0.0.1:8001}": f"127.0.0.1:{work}",
            # localhost gets a certificate of Caddy's own authority, which this machine is not to trust for good
            "{\n\t# Ids": f"{{\n\tskip_install_trust\n\tadmin off\n\thttp_port {plain}\n\t# Ids",
        },
    }
    for name, changes in fitted.items():
        text = (deploy / name).read_text(encoding="utf-8")
        for shipped, here in changes.items():
            assert shipped in text, f"deploy/{name} has no {shipped!r} any more"
            text = text.replace(shipped, here)
        (deploy / name).write_text(text, encoding="utf-8")
    for path in (path for path in deploy.rglob("*") if path.is_file() and path.suffix != ".json"):
        path.write_text(machine.here(path.read_text(encoding="utf-8")), encoding="utf-8")
