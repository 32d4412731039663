"""What the documents ask of Debian, on a machine that is not theirs: `python -m tests.operate.shims NAME ...`.

Packages are there already or the run fails; the accounts are other ones; services are processes of this run, started
from the units that were installed, with the environment and the command that stand in them.
"""

from __future__ import annotations

import glob
import os
import pwd
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

#: A program of each package that the documents install.
PROGRAMS = {
    "git": "git",
    "python3-venv": sys.executable,
    "postgresql": "initdb",
    "nginx-light": "nginx",
    "openssl": "openssl",
    "curl": "curl",
    "ca-certificates": "update-ca-certificates",
    "caddy": "caddy",
}
#: Units that come with Debian's packages.
OF_DEBIAN = {"nginx": 'nginx -p {root} -c {root}/etc/nginx/nginx.conf -g "daemon off;"'}
OF_DEBIAN |= {"caddy": "caddy run --config {root}/etc/caddy/Caddyfile --adapter caddyfile"}
START_S, STOP_S = 60.0, 25.0


def program(name: str) -> str | None:
    """Debian's own, not the shim of the same name."""
    shims = str(Path(os.environ.get("OPERATE_ROOT", "/nowhere")) / "shims")
    postgresql = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    searched = [folder for folder in os.environ["PATH"].split(os.pathsep) if folder != shims]
    return shutil.which(name, path=os.pathsep.join([*searched, *postgresql, "/usr/sbin"]))


def root() -> Path:
    return Path(os.environ["OPERATE_ROOT"])


def account() -> pwd.struct_passwd | None:
    """Who stands in for `humanexp`: only root can become somebody else, who must be able to run the interpreter."""
    interpreter = Path(sys.executable).resolve()
    is_open = all(place.stat().st_mode & stat.S_IXOTH for place in (interpreter, *interpreter.parents))
    packages = Path(sysconfig.get_paths()["purelib"]).resolve()
    is_open = is_open and all(place.stat().st_mode & stat.S_IXOTH for place in (packages, *packages.parents))
    return pwd.getpwnam("nobody") if os.getuid() == 0 and is_open else None


def apt_get(*arguments: str) -> int:
    if arguments[0] == "update":
        return 0
    assert arguments[:2] == ("install", "--yes"), arguments
    missing = [name for name in arguments[2:] if program(PROGRAMS[name]) is None]
    sys.stderr.write("".join(f"not installed: {name}\n" for name in missing))
    return len(missing)


def useradd(*arguments: str) -> int:
    home = Path(arguments[arguments.index("--home-dir") + 1])
    assert arguments[-1] == "humanexp" and home.is_relative_to(root()), arguments
    home.mkdir(parents=True)
    if who := account():
        os.chown(home, who.pw_uid, who.pw_gid)
    return 0


def runuser(*arguments: str) -> int:
    (_u, name, _dashes), command = arguments[:3], list(arguments[3:])
    environment = dict(os.environ)
    if name == "postgres":
        environment["PGUSER"] = "postgres"
    return subprocess.run([*_as(name), *command], env=environment, check=False).returncode


def install(*arguments: str) -> int:
    """As it is, but for who owns the folder."""
    wanted, who = list(arguments), account()
    for option in ("-o", "-g"):
        if option in wanted:
            at = wanted.index(option)
            assert wanted[at + 1] == "humanexp"
            wanted[at : at + 2] = [option, str(who.pw_uid if option == "-o" else who.pw_gid)] if who else []
    return subprocess.run(["/usr/bin/install", *wanted], check=False).returncode


def nginx(*arguments: str) -> int:
    found = program("nginx")
    assert found is not None
    return subprocess.run(
        [found, "-p", str(root()), "-c", f"{root()}/etc/nginx/nginx.conf", *arguments], check=False
    ).returncode


def systemctl(action: str, *names: str) -> int:
    now = "--now" in names
    units = [name.removesuffix(".service") for name in names if not name.startswith("--")]
    if action == "daemon-reload":
        return 0
    for unit in units:
        if unit.endswith(".timer"):
            _check_timer(unit)
        elif action == "enable" and now or action in ("start", "restart"):
            _stop(unit)
            _start(unit)
        elif action == "disable" and now or action == "stop":
            _stop(unit)
        elif action in ("reload", "reload-or-restart"):
            if _pid(unit) is None:
                _start(unit)
            else:
                assert unit == "nginx" and nginx("-s", "reload") == 0
        else:
            raise SystemExit(f"systemctl {action} {unit}: not one of the documents' commands so far")
    return 0


def unit_file(name: str) -> dict[str, list[str]]:
    """Of a unit that was installed."""
    found: dict[str, list[str]] = {}
    for line in (root() / "etc/systemd/system" / name).read_text(encoding="utf-8").splitlines():
        key, sign, value = line.partition("=")
        if sign and not line.startswith("#"):
            found.setdefault(key, []).append(value)
    return found


def _check_timer(name: str) -> None:
    assert unit_file(name)["OnCalendar"] and unit_file(name.replace(".timer", ".service"))["ExecStart"]


def _start(unit: str) -> None:
    folder = root() / "run"
    # systemd hands down nothing of the shell's.
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(folder)}
    ready = None
    if unit in OF_DEBIAN:
        command, prefix, cwd = shlex.split(OF_DEBIAN[unit].format(root=root())), list[str](), root()
        command[0] = program(command[0]) or command[0]
        dropped = root() / f"etc/systemd/system/{unit}.service.d/humanexp.conf"
        for line in dropped.read_text().splitlines() if dropped.exists() else ():
            key, _, value = line.partition("=")
            environment |= dict(one.split("=", 1) for one in shlex.split(value)) if key == "Environment" else {}
    else:
        found = unit_file(f"{unit}.service")
        command, prefix, cwd = (
            shlex.split(found["ExecStart"][0]),
            _as(found["User"][0]),
            Path(found["WorkingDirectory"][0]),
        )
        environment |= _environment_file(Path(found["EnvironmentFile"][0]))
        if found["Type"] == ["oneshot"]:
            subprocess.run([*prefix, *command], cwd=cwd, env=environment, check=True)
            return
        if found["Type"] == ["notify"]:
            ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            name = folder / f"{unit}.notify"
            name.unlink(missing_ok=True)
            ready.bind(str(name))
            name.chmod(0o777)
            ready.settimeout(START_S)
            environment["NOTIFY_SOCKET"] = str(name)
    with (folder / f"{unit}.log").open("ab") as log:
        process = subprocess.Popen(
            [*prefix, *command],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    (folder / f"{unit}.pid").write_text(str(process.pid))
    if ready is not None:
        with ready:
            while b"READY=1" not in ready.recv(4096):
                pass
    else:
        time.sleep(1)
    if process.poll() is not None:
        raise SystemExit(f"{unit} ended:\n{(folder / f'{unit}.log').read_text()}")


def _environment_file(path: Path) -> dict[str, str]:
    """As systemd reads it: no shell, quotes around a value are taken off."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if "=" in line and line[0] not in "#;"]
    return {name: value.strip("\"'") for name, _, value in (line.partition("=") for line in lines)}


def _pid(unit: str) -> int | None:
    file = root() / "run" / f"{unit}.pid"
    return int(file.read_text()) if file.exists() else None


def _stop(unit: str) -> None:
    pid = _pid(unit)
    if pid is None:
        return
    (root() / "run" / f"{unit}.pid").unlink()
    until = time.monotonic() + STOP_S
    try:
        os.kill(pid, signal.SIGTERM)
        while time.monotonic() < until and _lives(pid):
            time.sleep(0.1)
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    if time.monotonic() >= until:
        raise SystemExit(f"{unit} did not end within {STOP_S:.0f} s")


def _lives(pid: int) -> bool:
    """A process that has ended and whose parent has not looked counts as gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def stop_everything() -> None:
    for file in (root() / "run").glob("*.pid"):
        _stop(file.stem)


def _as(name: str) -> list[str]:
    who = account()
    if who is None or name != "humanexp":
        return []
    return ["setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups"]


SHIMS = {"apt-get": apt_get, "useradd": useradd, "runuser": runuser, "install": install, "nginx": nginx}
SHIMS |= {"systemctl": systemctl}

if __name__ == "__main__":
    raise SystemExit(SHIMS[sys.argv[1]](*sys.argv[2:]))
