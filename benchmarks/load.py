"""Three hundred participants at once: how long does the server take for an answer, and is one lost?

    python -m benchmarks.load [--participants 300] [--seconds 120] [--database sqlite|postgres] [--cycle 2.5]

A web server of this run's own (the command line of the demo), a study with a slot for everybody, sessions opened by
the entry page's calls. Everybody goes round in a closed loop: fetch the pictures of a block as the page does, then
give an answer every cycle. The load comes from this process, on the same cores; its share of the processor is told
apart. Everybody begins at a moment of their own within half a minute; the seconds that are measured begin after that.
At the end every acknowledged answer is looked up in the database. Wanted: 99 % of the answers within 150 ms, no
status above 499, no answer lost or changed.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
import time
from dataclasses import dataclass
from typing import Annotated

from benchmarks import _load_client as client
from benchmarks._command import run
from benchmarks._pages import Database, site, write
from benchmarks._processes import cpu_seconds
from tests.postgres import Cluster

LIMIT_MS = 150
SIZE_PX = 224
#: Different files; the rows of the stimuli share them.
FILES = 64


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How many take part, for how long (s), and where their answers are stored."""

    participants: int
    seconds: float
    ramp: float
    cycle: float
    database: Database


def main(
    *,
    participants: int = 300,
    seconds: float = 120.0,
    ramp: Annotated[float, "seconds within which everybody begins"] = 30.0,
    cycle: Annotated[float, "seconds from one answer of a person to the next"] = 2.5,
    database: Database = "sqlite",
) -> bool:
    terms = Terms(participants=participants, seconds=seconds, ramp=ramp, cycle=cycle, database=database)
    with site("load", database=database, settings_module="humanexp.settings") as cluster:
        from humanexp.console import sites
        from humanexp.console.sites import Addresses

        entry = prepare(participants)
        addresses = Addresses.free()
        # Each participant has an address of their own, as a proxy would tell it.
        extra = {"PUBLIC_URL": addresses.web, "TRUST_PROXY_HEADER": "1"}
        with sites.started("web", addresses, extra) as server:
            sites.wait_until_ready("web", server, addresses.web)
            processes = [server.pid, *([postmaster(cluster)] if cluster else [])]
            return drive(terms, addresses.web_port, entry, processes)


def drive(terms: Terms, port: int, entry: str, processes: list[int]) -> bool:
    measured, rng = client.Measured(), random.Random(1)  # noqa: S311 - no secret
    participants = [
        client.Participant(number, entry, client.Browser("127.0.0.1", port, measured), measured, rng)
        for number in range(terms.participants)
    ]
    lags: list[float] = []
    spent: dict[str, float] = {}
    gc.freeze()

    async def everything() -> float:
        await client.opened(participants)
        begun = time.perf_counter()
        plan = client.Plan(terms.cycle, begun + terms.ramp, begun + terms.ramp + terms.seconds)
        watching = asyncio.create_task(client.lag(lags))

        async def clocks() -> None:
            await asyncio.sleep(terms.ramp)
            lags.clear()
            before = [cpu_seconds(pid) for pid in processes], time.process_time()
            await asyncio.sleep(terms.seconds)
            after = [cpu_seconds(pid) for pid in processes], time.process_time()
            for number, name in enumerate(("server", "database")[: len(processes)]):
                spent[name] = (after[0][number] - before[0][number]) / terms.seconds
            spent["load"] = (after[1] - before[1]) / terms.seconds

        await asyncio.gather(clocks(), *(participant.take_part(plan) for participant in participants))
        watching.cancel()
        return plan.ramp_ends

    measured_from = asyncio.run(everything())
    lost = lost_answers(measured)
    return report(terms, measured, measured_from, lost, spent, lags)


def report(
    terms: Terms,
    measured: client.Measured,
    measured_from: float,
    lost: int,
    spent: dict[str, float],
    lags: list[float],
) -> bool:
    write(
        f"{terms.participants} participants, cycle {terms.cycle} s, {terms.seconds:.0f} s, {terms.database}, "
        f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}"
    )
    write(f"{'call':<22}{'number':>8}{'a second':>10}{'p50, ms':>10}{'p95, ms':>10}{'p99, ms':>10}{'max, ms':>10}")
    slowest = {}
    for kind, calls in sorted(measured.calls.items()):
        for label, chosen in (
            (kind, [ms for at, ms in calls if at >= measured_from]),
            (f"{kind}, beginning", [ms for at, ms in calls if at < measured_from]),
        ):
            if not chosen:
                continue
            slowest[label] = percentile(chosen, 0.99)
            seconds = terms.seconds if label == kind else terms.ramp
            figures = [percentile(chosen, share) for share in (0.5, 0.95, 0.99, 1.0)]
            columns = "".join(f"{x:>10.1f}" for x in figures)
            write(f"{label:<22}{len(chosen):>8}{len(chosen) / seconds:>10.1f}{columns}")
    cores = ", ".join(f"{name} {share:.2f}" for name, share in spent.items())
    write(f"cores in use while measured: {cores}")
    write(f"this load's own event loop ran late by p99 {percentile(lags, 0.99):.1f} ms")
    write(f"answers acknowledged {len(measured.acknowledged)}, lost or changed {lost}")
    write(f"statuses above 499: {measured.server_errors}")
    for fault, number in sorted(measured.faults.items()):
        if number:
            write(f"  {number} x {fault}")
    write(f"99 % of the answers within {slowest['response']:.0f} ms of {LIMIT_MS} ms wanted")
    is_whole = not lost and not measured.server_errors and not any(measured.faults.values())
    return slowest["response"] <= LIMIT_MS and is_whole


def lost_answers(measured: client.Measured) -> int:
    """Acknowledged answers that the database does not hold as they were sent, and rows that were never acknowledged."""
    import base64
    import json

    from humanexp.participation.models import Response

    stored = {(row[0], row[1]): row[2] for row in Response.objects.values_list("session_id", "position", "response")}

    def number(part: str) -> int:
        return int(json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))[0])

    acknowledged = {(number(part), position): said for (part, position), said in measured.acknowledged.items()}
    return sum(stored.get(key) != said for key, said in acknowledged.items()) + len(stored.keys() - acknowledged.keys())


def prepare(participants: int) -> str:
    """A study of default length with a slot for everybody; the path of its entry page."""
    from urllib.parse import urlsplit

    from analysis.study.study import StudyConfiguration
    from humanexp.ledger.hit_calls import entry_url
    from humanexp.ledger.sender import send
    from humanexp.recruiting.launch import LaunchTerms, publish
    from humanexp.studies.services import create_study, start_collecting

    make_stimuli(count_per_function=max(400, 3 * participants))
    configuration = StudyConfiguration.from_dict(
        {
            "title": "Load",
            "stimuli": "load",
            "protocol": {"name": "vcr", "size_px": SIZE_PX},
            "design": {"sessions": participants, "answers_per_stimulus": 10},
        }
    )
    study = start_collecting(study=create_study(configuration=configuration))
    campaign = publish(
        study=study,
        terms=LaunchTerms(to="link", assignments=participants, reward_cents=0, contact="ada@example.org"),
        skip_preflight=True,
    )
    with contextlib.suppress(AttributeError):
        send(environment="link", wait_s=10)
    return urlsplit(entry_url(campaign)).path


def make_stimuli(*, count_per_function: int) -> None:
    """A set by bulk insert. The files are blurred noise of the size and weight of photographs (about 80 kB)."""
    import hashlib

    import cv2
    import numpy as np

    from analysis.labels.files import default_labels
    from humanexp.core.storage import media_path
    from humanexp.stimuli.models import SourceImage, SourceSet, Stimulus, StimulusSet

    functions, files = ("gaussian_blur", "gaussian_noise", "uniform_noise"), []
    for number in range(FILES):
        pixels = np.random.default_rng(number).normal(128, 60, (SIZE_PX, SIZE_PX, 3))
        pixels = cv2.GaussianBlur(pixels, (0, 0), 1.2) * 3 - 256
        content = cv2.imencode(".png", pixels.clip(0, 255).astype(np.uint8))[1].tobytes()
        path = media_path(f"load/{number:03d}.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        files.append((f"load/{number:03d}.png", hashlib.sha256(content).hexdigest()))
    source = SourceSet.objects.create(name="load-source")
    stimuli = StimulusSet.objects.create(
        name="load",
        source_set=source,
        corruptions=list(functions),
        count_per_corruption=count_per_function,
        size_px=SIZE_PX,
        metric="vif-1",
        completed_at="2026-01-01T00:00:00Z",
    )
    images = SourceImage.objects.bulk_create(
        SourceImage(
            source_set=source,
            key=f"{category}-{number}",
            category=category,
            file=f"load/{category}-{number}.png",
            sha256=hashlib.sha256(f"{category}-{number}".encode()).hexdigest(),
        )
        for category in default_labels().ids
        for number in range(30)
    )
    rows = [("none", image, 0.0) for image in images]
    for function in functions:
        rows += [
            (function, images[(7 * k) % len(images)], (k + 0.5) / count_per_function) for k in range(count_per_function)
        ]
    Stimulus.objects.bulk_create(
        [
            Stimulus(
                stimulus_set=stimuli,
                key=f"{function}-{number:06d}",
                source_image=image,
                corruption=function,
                corruption_version="1",
                parameter=change,
                seed=number,
                visual_change=change,
                sha256=files[number % FILES][1],
                file=files[number % FILES][0],
            )
            for number, (function, image, change) in enumerate(rows)
        ],
        batch_size=500,
    )


def postmaster(cluster: Cluster) -> int:
    return int((cluster.folder / "cluster" / "postmaster.pid").read_text().split()[0])


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


if __name__ == "__main__":
    run(main)
