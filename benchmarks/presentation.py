"""How long pictures of 200 ms are on a headless screen: the engine's record against the browser's own trace.

    python -m benchmarks.presentation [--trials 500] [--stall-trials 300] [--bare-trials 200] [--screencast 20]
                                      [--task categorisation|discrimination|abx] [--full] [--out FILE]

Chromium runs the engine's own modules under the content policy of the participant's page. Its trace tells, for each
drawing, when the compositor took the frame (commit) and when it was displayed. Three counts, trial by trial:

* idle: how many presentations lay within half a frame of 200 ms, by the record, by commits, by displayed frames;
* under stalls (the main thread is held for 30 ms at random): how many trials that the trace shows off are flagged by
  the timing rules, and how many of the others are;
* a bare loop that counts animation frames and believes their timestamps, in the same browser, as the baseline.

A machine that others use as well is not idle: the share of it that other programs took is measured for every 25 trials,
and the idle figures are given once for all trials and once for those during which others took under a tenth.

A trial of a task that shows several pictures counts by the one that departs most from 200 ms, as in the record. The
bare loop shows one picture in any task.

A headless browser has no screen: this shows what page and compositor do, not when light leaves a panel.
"""

from __future__ import annotations

import base64
import bisect
import io
import json
import mimetypes
import os
import shutil
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from analysis.examples.pictures import draw
from analysis.labels.files import default_labels
from analysis.masks import noise_mask
from analysis.study.protocol import load_protocol
from analysis.timing.certificate import certify
from analysis.timing.rules import TIMING_RULE, TIMING_RULES
from benchmarks._command import run
from benchmarks._processes import TICKS_PER_S, cpu_seconds

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path(__file__).parent / "presentation_page"
#: As the participant's page has it.
POLICY = "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'self'; form-action 'self'"
CATEGORIES_TRACED = ["-*", "blink.user_timing", "benchmark"]
#: Trials of one trace: the whole run would not fit into the browser's buffer.
CHUNK = 25
TARGET_MS = 200
#: Pictures of one trial.
SHOWINGS = {"categorisation": 1, "discrimination": 2, "abx": 3}
#: Others are quiet when they take less of the machine.
QUIET = 0.10
IDLE_BUDGET, CAUGHT_BUDGET, FALSE_BUDGET = 0.99, 0.95, 0.10


@dataclass(frozen=True)
class Traced:
    """What the browser's trace tells of one trial, or of one picture in it."""

    position: int
    commit_ms: float
    #: between the displays of the first frames with and without the stimulus; None if one was never displayed
    displayed_ms: float | None
    #: the same in refreshes: how many frames apart the two displays lay
    displayed_frames: int | None

    @property
    def departure_ms(self) -> float:
        return abs(self.commit_ms - TARGET_MS)


def read_trace(trace: dict[str, Any]) -> dict[int, Traced]:
    """Every trial of a trace by its position.

    A drawing is a user-timing mark. The first commit of the main thread after it carries the drawing; the commit's
    frame id leads to the compositor's commit and to the first draw of that frame, which the next display shows.
    """
    events = sorted((event for event in trace["traceEvents"] if "ts" in event), key=lambda event: event["ts"])

    def frame_of(event: dict[str, Any]) -> int:
        return int(event["args"]["main_frame_pipeline"]["main_frame_id"])

    named: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        named.setdefault(event["name"], []).append(event)
    sent = [
        (event["ts"], frame_of(event)) for event in named["ProxyMain::BeginMainFrame::commit"] if event["ph"] == "X"
    ]
    committed = {
        frame_of(event): event["ts"] + event["dur"] for event in named["ProxyImpl::Commit"] if event["ph"] == "X"
    }
    drawn = {frame_of(event): event["ts"] for event in reversed(named["MainFrame.Draw"])}
    displayed = [event["ts"] for event in named["Display::FrameDisplayed"]]
    begun = [event["args"]["args"] for event in named["Scheduler::BeginFrame"]]
    ticks = sorted({arguments["frame_time_us"] for arguments in begun})
    interval_us = float(np.median([arguments["interval_us"] for arguments in begun]))

    def moment(marked: float) -> tuple[float, float | None]:
        frame = sent[bisect.bisect_left(sent, (marked, -1))][1]
        if frame not in drawn:
            return committed[frame], None
        place = bisect.bisect_left(displayed, drawn[frame])
        return committed[frame], displayed[place] if place < len(displayed) else None

    def tick(ts: float) -> float:
        return float(ticks[bisect.bisect_right(ticks, ts) - 1])

    marks: dict[int, list[tuple[str, float]]] = {}
    for name, found in named.items():
        if name.startswith("draw:"):
            _, position, what = name.split(":")
            marks.setdefault(int(position), []).extend((what, event["ts"]) for event in found)
    traced = {}
    for position, drawings in marks.items():
        drawings.sort(key=lambda drawing: drawing[1])
        shown = []
        for (what, on), (_, off) in pairwise(drawings):
            if what != "stimulus":
                continue
            (on_commit, on_shown), (off_commit, off_shown) = moment(on), moment(off)
            both = on_shown is not None and off_shown is not None
            shown.append(
                Traced(
                    position=position,
                    commit_ms=(off_commit - on_commit) / 1000,
                    displayed_ms=(off_shown - on_shown) / 1000 if both else None,  # type: ignore[operator]
                    displayed_frames=round((tick(off_shown) - tick(on_shown)) / interval_us) if both else None,  # type: ignore[arg-type]
                )
            )
        traced[position] = max(shown, key=lambda one: one.departure_ms)
    return traced


@contextmanager
def served() -> Iterator[str]:
    """The engine's modules and some pictures, on loopback."""
    pictures = {f"/pictures/stimulus-{n}.png": _png(draw(default_labels().ids[n], n, 224)) for n in range(16)}
    pictures |= {f"/pictures/mask-{n}.png": _png(noise_mask(n, 224)) for n in range(16)}
    # For the screencast: black and white are told apart in any frame.
    pictures |= {"/pictures/black.png": _png(np.zeros((224, 224), np.uint8))}
    pictures |= {"/pictures/white.png": _png(np.full((224, 224), 255, np.uint8))}

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            pass

        def do_GET(self) -> None:
            kind, body = self._found()
            if body is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", POLICY)
            self.end_headers()
            self.wfile.write(body)

        def _found(self) -> tuple[str, bytes | None]:
            if self.path in pictures:
                return "image/png", pictures[self.path]
            if self.path == "/favicon.ico":
                return "image/svg+xml", (ROOT / "static" / "brand" / "favicon.svg").read_bytes()
            inside = {
                "": PAGE / "index.html",
                "bench": PAGE / Path(self.path).name,
                "static": ROOT / self.path[1:],
            }
            path = inside.get(self.path.split("/")[1])
            if path is None or not path.is_file() or ".." in self.path:
                return "", None
            return mimetypes.guess_type(path.name)[0] or "application/octet-stream", path.read_bytes()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def _png(picture: NDArray[np.uint8]) -> bytes:
    content = io.BytesIO()
    Image.fromarray(picture).save(content, "PNG")
    return content.getvalue()


def _jiffies() -> tuple[float, float, float]:
    """Processor time so far: of everything, spent idle, and of this process with its descendants."""
    times = [float(one) for one in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(times), times[3] + times[4], TICKS_PER_S * cpu_seconds(os.getpid())


def _others_share(before: tuple[float, float, float], after: tuple[float, float, float]) -> float:
    """Share of the machine that other programs took in between."""
    total, idle, mine = (late - early for early, late in zip(before, after, strict=True))
    return max(0.0, (total - idle - mine) / total)


class Bench:
    """A headless Chromium with the benchmark's page, and what it measured."""

    def __init__(self, browser: Any, address: str, *, showings: int = 1, full: bool = False) -> None:
        self.browser = browser
        self.page = browser.new_context(viewport={"width": 1280, "height": 860}).new_page()
        self.page.set_default_timeout(120_000)
        self.page.goto(address)
        self.page.wait_for_function("window.bench")
        # Everything but the stimulus is short by default: it does not bear on what is measured.
        changes = {} if full else {"fixation_ms": 100, "mask_ms": 100}
        choices = [
            {"name": name, "label": name, "icon": f"/static/icons/{name}.svg"} for name in default_labels().in_grid
        ]
        protocol = load_protocol("vcr", changes).to_dict()
        self.refresh = self.page.evaluate("(given) => bench.prepare(...given)", [protocol, choices, showings])
        self._next = 0
        #: for every trial of the latest run, the share of the machine that other programs took
        self.others: list[float] = []

    def run(self, what: str, trials: int, stalls: dict[str, float] | None) -> tuple[list[dict[str, Any]], list[Traced]]:
        """Records and traces of so many trials; `what` is "trials" (the engine) or "bare" (the baseline)."""
        records: list[dict[str, Any]] = []
        traced: dict[int, Traced] = {}
        left = trials
        self.others = []
        while left:
            count = min(CHUNK, left)
            before = _jiffies()
            self.browser.start_tracing(page=self.page, categories=CATEGORIES_TRACED)
            arguments = [self._next, count, stalls]
            records += self.page.evaluate(f"(given) => bench.{what}(...given)", arguments)
            self.others += [_others_share(before, _jiffies())] * count
            traced |= read_trace(json.loads(self.browser.stop_tracing()))
            self._next += count
            left -= count
        return records, [traced[record["position"]] for record in records]

    def screencast(self, trials: int) -> list[tuple[dict[str, Any], float | None]]:
        """Records of black pictures with white masks, and for how long the screencast's frames showed black."""
        session = self.page.context.new_cdp_session(self.page)
        frames: list[tuple[float, bytes]] = []

        def on_frame(event: dict[str, Any]) -> None:
            frames.append((event["metadata"]["timestamp"], base64.b64decode(event["data"])))
            session.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

        session.on("Page.screencastFrame", on_frame)
        session.send("Page.startScreencast", {"format": "png", "maxWidth": 320, "maxHeight": 215})
        found = []
        for _ in range(trials):
            frames.clear()
            arguments = [self._next, 1, None, True]
            record = self.page.evaluate("(given) => bench.trials(...given)", arguments)[0]
            self.page.wait_for_timeout(100)
            self._next += 1
            found.append((record, _black_for(frames)))
        session.send("Page.stopScreencast")
        return found


def _black_for(frames: Sequence[tuple[float, bytes]]) -> float | None:
    """Milliseconds from the first frame with a black middle to the next with another; None if there is none."""
    middles = [(ts, int(np.asarray(Image.open(io.BytesIO(png)).convert("L"))[107, 160])) for ts, png in frames]
    on = next((ts for ts, level in middles if level < 60), None)
    off = next((ts for ts, level in middles if on is not None and ts > on and level > 90), None)
    return None if on is None or off is None else 1000 * (off - on)


def summarise(records: Sequence[dict[str, Any]], traced: Sequence[Traced]) -> dict[str, Any]:
    """Shares within half a frame by record, commits and displays, and how the rules fared against the commits."""
    refresh_ms = float(np.median([record["t_refresh_median_ms"] for record in records]))

    def within(lasted: Sequence[float | None]) -> NDArray[np.bool_]:
        known = np.array([np.nan if one is None else one for one in lasted])
        return np.asarray(np.abs(known - TARGET_MS) <= refresh_ms / 2)

    target_frames = round(TARGET_MS / refresh_ms)
    by_commit = within([trial.commit_ms for trial in traced])
    by_display = np.array([trial.displayed_frames == target_frames for trial in traced])
    summary: dict[str, Any] = {
        "trials": len(records),
        "refresh_ms": refresh_ms,
        "record_timestamps": float(within([record["dur_stim_ms"] for record in records]).mean()),
        "commits": float(by_commit.mean()),
        "displayed_ms": float(within([trial.displayed_ms for trial in traced]).mean()),
        "displayed_frames": float(by_display.mean()),
        "displayed_frames_counts": dict(sorted(Counter(str(trial.displayed_frames) for trial in traced).items())),
    }
    if "dur_stim_taken_ms" not in records[0]:
        return summary
    summary["record_taken"] = float(within([record["dur_stim_taken_ms"] for record in records]).mean())
    summary["onset_waits"] = sum(record["n_onset_waits"] for record in records)
    errors = [record["dur_stim_taken_ms"] - trial.commit_ms for record, trial in zip(records, traced, strict=True)]
    summary["record_minus_commit_ms"] = dict(
        zip(("p1", "p5", "median", "p95", "p99"), np.percentile(errors, [1, 5, 50, 95, 99]).tolist(), strict=True)
    )
    summary["rules"] = {}
    for name, rule in TIMING_RULES.items():
        flagged = np.array([rule(record) is not True for record in records])
        summary["rules"][name] = {
            "off_by_commit": int((~by_commit).sum()),
            "off_and_flagged": int((flagged & ~by_commit).sum()),
            "on_by_commit": int(by_commit.sum()),
            "on_and_flagged": int((flagged & by_commit).sum()),
            "off_by_display": int((~by_display).sum()),
            "off_by_display_and_flagged": int((flagged & ~by_display).sum()),
        }
    summary["certificate"] = certify(records).all.to_json()
    return summary


def _report(title: str, summary: dict[str, Any]) -> None:
    print(
        f"\n{title}: {summary['trials']} presentations, T = {summary['refresh_ms']:.2f} ms, "
        f"others took {100 * summary['others_share']:.0f} % of the machine"
    )
    names = {
        "record_timestamps": "record, timestamps",
        "record_taken": "record, taken by the browser",
        "commits": "trace, commits",
        "displayed_ms": "trace, displays in ms",
        "displayed_frames": "trace, displays in frames",
    }
    for key, name in names.items():
        if key in summary:
            print(f"  within half a frame by {name:<30} {100 * summary[key]:6.1f} %")
    print(f"  frames between displays: {summary['displayed_frames_counts']}")
    for name, rule in summary.get("rules", {}).items():
        print(
            f"  {name}: flags {rule['off_and_flagged']} of {rule['off_by_commit']} that are off by commits, "
            f"{rule['on_and_flagged']} of {rule['on_by_commit']} that are not; "
            f"{rule['off_by_display_and_flagged']} of {rule['off_by_display']} that are off by displays",
            flush=True,
        )


def main(
    *,
    trials: Annotated[int, "idle presentations"] = 500,
    stall_trials: Annotated[int, "presentations under stalls; 0 leaves them out"] = 300,
    stall_ms: float = 30.0,
    stall_every_ms: Annotated[float, "mean time between stalls"] = 300.0,
    bare_trials: Annotated[int, "presentations of the bare loop, idle and stalled"] = 200,
    screencast: Annotated[int, "presentations watched through the screencast"] = 20,
    task: Annotated[
        Literal["categorisation", "discrimination", "abx"], "how many pictures a trial shows"
    ] = "categorisation",
    full: Annotated[bool, "the protocol's own fixation and mask, not short ones"] = False,
    out: Path | None = None,
) -> bool:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("There is no Chromium: install it or set CHROMIUM to its path.")
    from playwright.sync_api import sync_playwright

    stalls = {"ms": stall_ms, "everyMs": stall_every_ms}
    results: dict[str, Any] = {"rule": TIMING_RULE, "stalls": stalls}
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        bench = Bench(browser, address, showings=SHOWINGS[task], full=full)
        results |= {"task": task, "browser": browser.version, "refresh": bench.refresh}
        runs = (
            ("idle", "trials", trials, None),
            ("bare_idle", "bare", bare_trials, None),
            ("stalled", "trials", stall_trials, stalls),
            ("bare_stalled", "bare", bare_trials, stalls),
        )
        for name, what, count, held in runs:
            if count:
                records, traced = bench.run(what, count, held)
                results[name] = summarise(records, traced) | {"others_share": float(np.mean(bench.others))}
                results[name]["presentations"] = [
                    {**record, **asdict(trial), "others_share": share}
                    for record, trial, share in zip(records, traced, bench.others, strict=True)
                ]
                _report(name.replace("_", " "), results[name])
                quiet = [place for place, share in enumerate(bench.others) if share < QUIET]
                if name == "idle" and 0 < len(quiet) < count:
                    kept = [records[place] for place in quiet], [traced[place] for place in quiet]
                    results["idle_quiet"] = summarise(*kept) | {
                        "others_share": float(np.mean([bench.others[place] for place in quiet]))
                    }
                    _report("idle, while others were quiet", results["idle_quiet"])
        if screencast:
            results["screencast"] = [
                {"frames_shown": record["frames_shown"], "taken_ms": record["dur_stim_taken_ms"], "seen_ms": seen}
                for record, seen in bench.screencast(screencast)
            ]
            seen = [one["seen_ms"] for one in results["screencast"] if one["seen_ms"] is not None]
            close = sum(abs(one - TARGET_MS) <= bench.refresh["medianMs"] / 2 for one in seen)
            print(
                f"\nscreencast: the stimulus was in the frames of {len(seen)} of {screencast} trials, "
                f"in {close} of them within half a frame of {TARGET_MS} ms"
            )
        browser.close()
    if out:
        out.write_text(json.dumps(results, indent=1) + "\n")
    return _verdict(results)


def _verdict(results: dict[str, Any]) -> bool:
    failed = []
    idle = results.get("idle_quiet") or results.get("idle")
    if idle and idle["commits"] < IDLE_BUDGET:
        failed.append("idle presentations by commits")
    if idle and idle["record_timestamps"] < IDLE_BUDGET:
        failed.append("idle presentations by the record")
    if "stalled" in results:
        rule = results["stalled"]["rules"][TIMING_RULE]
        if rule["off_and_flagged"] < CAUGHT_BUDGET * rule["off_by_commit"]:
            failed.append("stalled presentations flagged")
        if rule["on_and_flagged"] > FALSE_BUDGET * rule["on_by_commit"]:
            failed.append("false flags")
    print(f"\n{'missed: ' + ', '.join(failed) if failed else 'every budget is kept'}")
    return not failed


if __name__ == "__main__":
    run(main)
