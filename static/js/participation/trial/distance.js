/**
 * How far away the person sits: with one eye closed they look at a square and move a dot until it vanishes in the blind spot of the
 * other eye (Li, Joo, Yeatman and Reinecke, Scientific Reports 10, 2020). Nothing moves by itself; the arrow keys move the dot.
 */
import { median } from "./frames.js";

/** From the middle of sight to the middle of the blind spot, degrees (the same paper). */
const BLIND_SPOT_DEG = 13.5;

/** So often; the median counts. */
const TIMES = 3;

const keyOf = (run) => `humanexp.distance.${run.key}`;

/**
 * @param {number} dotPx from the square to the vanished dot, in CSS pixels
 * @param {number} pxPerMm
 * @returns {number} millimetres
 */
export function distanceMm(dotPx, pxPerMm) {
  return Math.round(dotPx / pxPerMm / Math.tan((BLIND_SPOT_DEG * Math.PI) / 180));
}

/** Shows the page once a session where the study wants it and the size of a pixel is known; the result goes to run.distanceMm. */
export async function measureDistance(run) {
  const { screens, local } = run;
  if (!run.session.set_up.includes("distance") || !run.pxPerMm) return;
  const kept = local.getItem(keyOf(run));
  if (kept) {
    run.distanceMm = JSON.parse(kept);
    return;
  }
  screens.show("distance", { time: "1", times: String(TIMES) });
  const slider = screens.find("[data-dot-place]");
  const draw = () => drawDot(screens);
  // Pressed while the eye rests on the square: nobody looks for a button then.
  const onKey = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    screens.find("[data-action=vanished]").click();
  };
  slider.addEventListener("input", draw);
  slider.addEventListener("keydown", onKey);
  const places = [];
  while (places.length < TIMES) {
    screens.fill({ time: String(places.length + 1) });
    slider.max = String(Math.max(2 * Number(slider.min), screens.find("[data-blind-spot]").clientWidth - 60));
    slider.value = slider.min;
    draw();
    slider.focus({ preventScroll: true });
    if ((await screens.pressed("vanished", "no-distance")) === "no-distance") break;
    // Next to the square it cannot have vanished.
    if (Number(slider.value) > Number(slider.min)) places.push(Number(slider.value));
  }
  slider.removeEventListener("input", draw);
  slider.removeEventListener("keydown", onKey);
  run.distanceMm = places.length === TIMES ? distanceMm(median(places), run.pxPerMm) : null;
  local.setItem(keyOf(run), JSON.stringify(run.distanceMm));
}

/** As far from the square as the slider says. */
export function drawDot(screens) {
  screens.find("[data-dot]").style.transform = `translateX(${-Number(screens.find("[data-dot-place]").value)}px)`;
}

/** The server has it now. */
export function forgetDistance(run) {
  run.local.removeItem(keyOf(run));
}
