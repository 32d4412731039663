/** No trial begins on a page that nobody looks at, or in a window too small for it. */
import { fits } from "./environment.js";

/**
 * Pauses with a page that says why, until the trial can begin.
 *
 * @param {object} run
 * @param {() => Promise<void>} settle brings the grey stage back
 */
export async function attend(run, settle) {
  const { screens, view, watch } = run;
  const isLargeEnough = () => fits(view, run.session.protocol);
  while (!isLargeEnough()) {
    screens.show("small");
    await resizedUntil(view, isLargeEnough);
    await settle();
  }
  if (watch.isAttended) return;
  screens.show("paused");
  // Pressing the button is attention enough, also where a browser does not report the focus.
  await screens.pressed("continue");
  await settle();
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
