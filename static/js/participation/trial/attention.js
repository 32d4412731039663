/** No trial begins on a page that nobody looks at or answers, or in a window too small for it. */
import { tellOfDeadline, timeOf } from "./deadline.js";
import { enterFullScreen, fits } from "./environment.js";

/**
 * Pauses with a page that says why, until the trial can begin.
 *
 * @param {object} run
 * @param {() => Promise<void>} settle brings the grey stage back
 */
export async function attend(run, settle) {
  const { screens, view, watch } = run;
  await offerFullScreen(run, settle);
  const isLargeEnough = () => fits(view, run.session.protocol);
  while (!isLargeEnough()) {
    screens.show("small");
    await resizedUntil(view, isLargeEnough);
    await settle();
  }
  if (await tellOfDeadline(run)) await settle();
  if (watch.isAttended && !run.presence.isInDoubt) return;
  if (run.presence.isInDoubt) askWhetherThere(run);
  else screens.show("paused");
  // Pressing the button is attention enough, also where a browser does not report the focus.
  await screens.pressed("continue");
  run.presence.confirm();
  await settle();
}

/** Whoever has left the full screen is asked once, before the next trial; a second time would be nagging. */
async function offerFullScreen(run, settle) {
  const { screens, view } = run;
  if (!run.isFullScreen || view.document.fullscreenElement) return;
  screens.show("full-screen");
  if ((await screens.pressed("full-screen", "continue")) === "full-screen") await enterFullScreen(view);
  run.isFullScreen = Boolean(view.document.fullscreenElement);
  await settle();
}

/** The next picture waits without limit; whoever recruits the person may not. */
function askWhetherThere({ screens, deadline, document }) {
  screens.show("absent");
  const line = screens.find("[data-deadline]");
  line.hidden = !deadline.at;
  if (!deadline.at) return;
  const time = timeOf(deadline.at, document);
  screens.fill({ deadline: screens.message(deadline.isOver ? "deadline-over" : "deadline", { time }) });
}

function resizedUntil(view, condition) {
  return new Promise((resolve) => {
    const check = () => {
      if (!condition()) return;
      view.removeEventListener("resize", check);
      resolve();
    };
    view.addEventListener("resize", check);
    check();
  });
}
