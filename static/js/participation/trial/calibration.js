/** How large a pixel is: the person fits a drawn card to one of theirs. Skipped by who has none at hand; nothing depends on it. */

/** A bank card, ISO/IEC 7810 ID-1, in millimetres. */
export const CARD_MM = Object.freeze({ width: 85.6, height: 53.98 });

const keyOf = (run) => `humanexp.calibration.${run.key}`;

/** @param {number} widthPx of the fitted card, in CSS pixels @returns {number} CSS pixels a millimetre, to 0.001 */
export function pxPerMmOf(widthPx) {
  return Math.round((1000 * widthPx) / CARD_MM.width) / 1000;
}

/** Shows the page once a session where the study asks for it; the result goes to run.pxPerMm, null where it was skipped. */
export async function calibrate(run) {
  const { screens, local } = run;
  if (!["size", "distance"].some((step) => run.session.set_up.includes(step))) return;
  const kept = local.getItem(keyOf(run));
  if (kept) {
    run.pxPerMm = JSON.parse(kept);
    return;
  }
  screens.show("calibration");
  const slider = screens.find("[data-card-width]");
  slider.max = String(Math.max(Number(slider.min) + 1, Math.min(900, run.view.innerWidth - 80)));
  const draw = () => drawCard(screens);
  draw();
  slider.addEventListener("input", draw);
  const action = await screens.pressed("fitted", "no-card");
  slider.removeEventListener("input", draw);
  run.pxPerMm = action === "fitted" ? pxPerMmOf(Number(slider.value)) : null;
  local.setItem(keyOf(run), JSON.stringify(run.pxPerMm));
}

/** As wide as the slider says. */
export function drawCard(screens) {
  const card = screens.find("[data-card]");
  const width = Number(screens.find("[data-card-width]").value);
  card.style.width = `${width}px`;
  card.style.height = `${(width * CARD_MM.height) / CARD_MM.width}px`;
}

/** The server has it now. */
export function forgetCalibration(run) {
  run.local.removeItem(keyOf(run));
}
