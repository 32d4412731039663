"""Runs the commands of the README, in their order, as a newcomer does: in a copy of the project, with photographs."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.product.declared_imports import ROOT
from tests.product.steps import WAIT_S, copy_project

#: Where the README says that the site is.
SITE = ("127.0.0.1", 8000)
PICTURES_A_CATEGORY = 14


def commands() -> list[str]:
    """Lines of the blocks under "Your own study", without remarks."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.partition("## Your own study")[2].partition("**Published data.**")[0]
    blocks = re.findall(r"^```\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    lines = [line.partition("   #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


def run(folder: Path) -> None:
    """Run them all; the first that fails ends it with its output."""
    with socket.socket() as probe:
        if probe.connect_ex(SITE) == 0:
            raise SystemExit(
                f"Something answers at {SITE[0]}:{SITE[1]} already: stop it, the README's site goes there."
            )
    project = folder / "project"
    copy_project(project)
    draw_photographs(project / "photos")
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    environment |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"}
    beside: list[subprocess.Popen[bytes]] = []
    try:
        for line in commands():
            started = time.monotonic()
            print(f"$ {line}", flush=True)
            if line.startswith("source "):
                continue  # this environment stands in for the one that make builds
            if line.endswith("&"):
                log = (folder / f"{len(beside)}.log").open("wb")
                beside.append(
                    subprocess.Popen(
                        line.removesuffix("&").split(), cwd=project, env=environment, stdout=log, stderr=log
                    )
                )
                if "gunicorn" in line:
                    _wait_for_site()
                continue
            found = subprocess.run(
                ["bash", "-c", line], cwd=project, env=environment, text=True, capture_output=True, check=False
            )
            if found.returncode:
                logs = "\n".join(path.read_text(errors="replace")[-2000:] for path in sorted(folder.glob("*.log")))
                raise SystemExit(f"{line}: exit status {found.returncode}\n{found.stdout}\n{found.stderr}\n{logs}")
            print(f"   {time.monotonic() - started:.0f} s", flush=True)
    finally:
        for process in beside:
            process.send_signal(signal.SIGTERM)
        for process in beside:
            process.wait(WAIT_S)
    _check(project)


def _check(project: Path) -> None:
    findings = json.loads((project / "findings.json").read_text(encoding="utf-8"))
    people = [one for one in findings["observers"] if one["kind"] == "human"]
    if len(people) < 4 or not findings["curves"]:
        raise SystemExit(f"The README's analysis has {len(people)} participants and {len(findings['curves'])} curves.")
    if not (project / "out/trials.csv").is_file():
        raise SystemExit("The README's export holds no trials.csv.")


def draw_photographs(folder: Path, a_category: int = PICTURES_A_CATEGORY) -> None:
    import cv2

    from analysis.examples.pictures import draw
    from analysis.labels.files import default_labels

    for category in default_labels().ids:
        (folder / category).mkdir(parents=True)
        for number in range(a_category):
            picture = draw(category, seed=number)
            cv2.imwrite(str(folder / category / f"{number}.png"), cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))


def _wait_for_site() -> None:
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(SITE) == 0:
                return
        time.sleep(0.2)
    raise SystemExit(f"Nothing answers at {SITE[0]}:{SITE[1]} after {WAIT_S} s.")
