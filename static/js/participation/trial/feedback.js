/** Practice: the server tells the right answer once it has stored the person's own. */
import { NO_ANSWER } from "./responses.js";

/** A sentence to read needs longer than a mark to see: where the protocol says no time for mistakes, it stays this much longer. */
const READING_MS = 1_100;

/** A press sooner than this belongs to the answer. */
const NO_DOUBLE_PRESS_MS = 400;

/** After this long the person is told that the answer is still on its way. */
const SLOW_MS = 400;

/**
 * Marks the right answer for the protocol's times, and says it in a sentence; a mistake until a press, where its time is known.
 *
 * @param {object} run
 * @param {object} options
 * @param {Array<{name: string, label: string}>} options.choices
 * @param {number} options.position
 * @param {string} options.response
 */
export async function showFeedback(run, { choices, position, response }) {
  const { screens, grid, outbox, sleep } = run;
  const notSlow = run.later(() => say(screens, screens.message("saving-answer")), SLOW_MS);
  let feedback = null;
  try {
    feedback = (await outbox.acknowledged(position))?.feedback ?? null;
  } finally {
    notSlow();
  }
  if (feedback) {
    const { feedback_ms: rightMs, feedback_wrong_ms: wrongMs = null, feedback_sound: hasSound } = run.session.protocol;
    const kind = feedback.correct ? "right" : response === NO_ANSWER ? "late" : "wrong";
    const label = choices.find(({ name }) => name === feedback.category)?.label ?? feedback.category;
    const isUntilPressed = kind !== "right" && wrongMs !== null;
    say(screens, screens.message(`feedback-${kind}${isUntilPressed ? "-press" : ""}`, { label }), kind);
    if (kind === "wrong") grid.mark(response, "wrong");
    if (kind !== "right" && hasSound) run.lowTone();
    grid.mark(feedback.category, "right");
    await (isUntilPressed ? pressedWithin(run, wrongMs) : sleep(rightMs));
    grid.hide();
    if (kind !== "right" && !isUntilPressed) await sleep(READING_MS);
  }
  say(screens, "");
}

/** Resolves at a key or a pointer press, or after the time. */
async function pressedWithin({ view, sleep }, ms) {
  const guardMs = Math.min(NO_DOUBLE_PRESS_MS, ms);
  await sleep(guardMs);
  const stop = new AbortController();
  const pressed = new Promise((resolve) => {
    for (const type of ["keydown", "pointerdown"]) view.addEventListener(type, (event) => event.repeat || resolve(), { signal: stop.signal });
  });
  await Promise.race([pressed, sleep(ms - guardMs)]);
  stop.abort();
}

function say(screens, text, kind = "") {
  const verdict = screens.find("[data-verdict]");
  verdict.textContent = text;
  verdict.dataset.kind = kind;
}
