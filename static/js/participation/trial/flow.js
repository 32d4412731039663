/** The whole run: the way in, the entry check, blocks with instructions and breaks, the end. Every step can be resumed. */
import { runBlock } from "./block.js";
import { quoteIn } from "./contact.js";
import { describeEnvironment, leaveFullScreen } from "./environment.js";
import { askAtTheEnd, tellAbout, tellEnding } from "./closing.js";
import { endInTime, tellPayInTime } from "./deadline.js";
import { showDeletionCode } from "./deletion.js";
import { enter, forgetOnSharedComputer } from "./entry.js";
import { measureRefresh } from "./frames.js";
import { explainAgain, instruct } from "./instructions.js";
import { Leaving, tellLeft } from "./leaving.js";
import { patiently, reached } from "./pause.js";
import { isRepeated, nextStep } from "./plan.js";
import { forgetSetUp, setUp } from "./setup.js";
import { Stop, screenFor } from "./stop.js";
import { greyOf } from "./surface.js";
import { taskOf } from "./tasks/index.js";
import { showWayOut } from "./way-out.js";

/** Runs a session to its end, or to the page that says why it cannot go on and what to do. */
export async function runSession(run) {
  try {
    await enter(run);
    quoteIn(run.document, run.session.session_code);
    dress(run);
    run.leaving = new Leaving(run);
    await walk(run);
  } catch (error) {
    run.windows.close();
    run.document.querySelector("[data-taken]").hidden = true;
    run.grid.hide();
    await leaveFullScreen(run.view);
    run.screens.show(screenFor(error));
    if (screenFor(error) === "damaged") await tellWayOut(run);
    // The remedy is a fresh page: order and cursor are the server's, unsent answers lie in the browser's storage.
    const isLost = error.type === "no-reply" && run.api.token;
    const remedies = [run.screens.pressed("reload"), ...(isLost ? [reached(() => run.api.status(), run.sleep)] : [])];
    Promise.race(remedies).then(() => {
      run.isReloading = true;
      run.view.location.reload();
    });
    if (screenFor(error) === "failed") throw error;
  }
}

/** The pages of sessions that had ended before the page was opened, by their state; of all others, that they were left. */
const ENDINGS = { submitted: "closed", "out-of-time": "out-of-time" };

async function walk(run) {
  const instructed = new Set();
  for (;;) {
    run.deadline.note(run.session);
    const step = nextStep(run.session);
    if (step.kind === "closed") {
      forgetSetUp(run);
      forgetOnSharedComputer(run);
      tellLeft(run.document, run.session.state !== "withdrawn");
      tellPayInTime(run.document, run.session);
      await tellWayOut(run);
      if (run.session.state !== "withdrawn") await showDeletionCode(run);
      if (run.session.state === "submitted") {
        tellLate(run);
        await tellCode(run);
      }
      throw new Stop(ENDINGS[run.session.state] ?? "left");
    }
    if (step.kind === "complete") break;
    if (!run.deadline.holds(run.session.round_s)) {
      await leaveFullScreen(run.view);
      await endInTime(run);
      await goBack(run);
      return;
    }
    const isFresh = !instructed.has(step.block.task) && startsTask(run.session, step);
    if (instructed.size === 0) await setUp(run);
    if (taskOf(step.block.task).isTimed) run.refresh ??= await measureRefresh({ raf: run.raf });
    if (isFresh) await instruct(run, step.block.task);
    else if (!step.isResumed && step.block.kind === "practice" && isRepeated(run.session, step.block)) await explainAgain(run, step.block);
    instructed.add(step.block.task);
    await runBlock(run, step);
    run.document.querySelector("[data-taken]").hidden = true; // long read
    run.session = await patiently(() => run.api.session(), run);
  }
  await finish(run);
}

/** Instructions precede the first block of a task; who comes back in the middle has read them. */
function startsTask(session, { block, isResumed }) {
  return !isResumed && session.blocks.find(({ task }) => task === block.task)?.index === block.index;
}

async function finish(run) {
  run.screens.show("saving");
  const environment = describeEnvironment({
    view: run.view,
    clock: run.clock,
    refresh: run.refresh ?? null,
    selfReport: run.selfReport ?? null,
    pxPerMm: run.pxPerMm ?? null,
    isPersistent: run.outbox.isPersistent,
  });
  const end = await patiently(() => run.api.complete(environment), run);
  forgetSetUp(run);
  tellLate(run);
  await leaveFullScreen(run.view);
  if (end.closing.length > 0 || run.wayOut) await askAtTheEnd(run, end);
  // Whoever keeps the list of those who finished looks by itself, too: a lost call loses nothing.
  if (run.finished) await run.api.finished(run.finished).catch(() => null);
  const out = run.wayOut ? await patiently(() => run.api.wayOut(run.wayOut), run) : null;
  forgetOnSharedComputer(run);
  await showDeletionCode(run);
  run.screens.show("done", { code: end.completion_code ?? "" });
  if (out) leadOut(run, out);
  else tellAbout(run, end);
  tellEnding(run.screens, end);
  for (const part of run.screens.findAll("[data-out]")) part.hidden = (part.dataset.out === "handed-over") === (end.closing.length === 0);
  const copy = run.screens.find("[data-action=copy]");
  if (!copy) return;
  copy.hidden = !run.view.navigator.clipboard || !end.completion_code;
  copy.addEventListener("click", async () => {
    await run.view.navigator.clipboard.writeText(end.completion_code);
    copy.textContent = run.screens.message("copied");
    run.screens.announce(run.screens.message("copied"));
  });
}

/** Whether the time limit of the site that has sent the person is over. */
function tellLate(run) {
  for (const part of run.document.querySelectorAll("[data-late]")) part.hidden = !run.deadline.isOver;
}

/** The completion code of somebody who comes back after the end, where pages show one. */
async function tellCode(run) {
  const line = run.document.querySelector("[data-code-again]");
  if (!line) return;
  const { completion_code: code } = await patiently(() => run.api.status(), run);
  line.querySelector("output").textContent = code;
  line.hidden = false;
}

/** The way back of somebody whose session has ended, on the page that says so; without a reply the page does without. */
async function tellWayOut(run) {
  if (!run.wayOut) return;
  try {
    showWayOut(run.document, await run.api.wayOut(run.wayOut));
  } catch {
    // the page where they agreed tells it, too
  }
}

/**
 * Time has ended the session: to where the person came from, or to the page that says how they get there. Nothing more is
 * asked: there it is too late, or soon.
 */
async function goBack(run) {
  const out = run.wayOut ? await patiently(() => run.api.wayOut(run.wayOut), run) : null;
  if (out?.kind === "redirect") {
    forgetSetUp(run);
    forgetOnSharedComputer(run);
    leadOut(run, out);
    return;
  }
  run.isReloading = true;
  run.view.location.reload();
}

/** Every answer is stored and Finish was pressed: back to where the person came from, at once. */
function leadOut(run, out) {
  showWayOut(run.document, out);
  if (out.kind !== "redirect") return;
  run.isReloading = true;
  run.view.location.assign(out.address);
}

/** The study's grey and name; letters on the grey are light or dark, whichever reads better. */
function dress({ document, session }) {
  const { background } = session.protocol;
  document.documentElement.style.setProperty("--trial-grey", greyOf(background));
  document.documentElement.dataset.letters = background > 0.5 ? "dark" : "light";
  document.title = session.study_title || document.title;
}
