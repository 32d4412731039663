/** Practice: the server tells the right answer once it has stored the person's own. */
import { NO_ANSWER } from "./responses.js";

/** A sentence to read needs longer than a mark to see; it stays this long when the answer was not right. */
const READING_MS = 1_100;

/** After this long the person is told that the answer is still on its way. */
const SLOW_MS = 400;

/**
 * Marks the right answer for the protocol's time, and says it in a sentence.
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
    const kind = feedback.correct ? "right" : response === NO_ANSWER ? "late" : "wrong";
    const label = choices.find(({ name }) => name === feedback.category)?.label ?? feedback.category;
    say(screens, screens.message(`feedback-${kind}`, { label }), kind);
    if (kind === "wrong") grid.mark(response, "wrong");
    if (kind !== "right" && run.session.protocol.feedback_sound) run.lowTone();
    grid.mark(feedback.category, "right");
    await sleep(run.session.protocol.feedback_ms);
    grid.hide();
    if (kind !== "right") await sleep(READING_MS);
  }
  say(screens, "");
}

function say(screens, text, kind = "") {
  const verdict = screens.find("[data-verdict]");
  verdict.textContent = text;
  verdict.dataset.kind = kind;
}
