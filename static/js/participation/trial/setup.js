/** Before practice: what is measured of window and screen, and what the study asks and measures in addition. */
import { calibrate, forgetCalibration } from "./calibration.js";
import { checkEntry, forgetSelfReport } from "./checks.js";
import { forgetDistance, measureDistance } from "./distance.js";
import { patiently } from "./pause.js";
import { areTimed } from "./tasks/index.js";

/** Zooms that a browser has; anything else comes from a panel that is docked to the window. */
const ZOOMS = Object.freeze({ least: 0.25, most: 5 });

const keyOf = (run) => `humanexp.set-up.${run.key}`;

/** All of it once a session; the server has it before the first trial. */
export async function setUp(run) {
  await checkEntry(run);
  await calibrate(run);
  await measureDistance(run);
  await countGreys(run);
  await store(run);
}

/** Nothing about a person stays in a browser that others may use. */
export function forgetSetUp(run) {
  for (const forget of [forgetSelfReport, forgetCalibration, forgetDistance]) forget(run);
  run.local.removeItem(keyOf(run));
}

/**
 * The zoom of the page, as far as a page can know: the window's outer width is counted in pixels that do not grow with it.
 *
 * @param {Window} view
 * @returns {number|null} null in a frame, and where the two widths have another cause
 */
export function zoomOf(view) {
  const zoom = view.top === view ? view.outerWidth / view.innerWidth : Number.NaN;
  return zoom >= ZOOMS.least && zoom <= ZOOMS.most ? Math.round(20 * zoom) / 20 : null;
}

/** What goes to the server: only what is known. */
export function foundBy(run) {
  const { view, refresh, session } = run;
  const asked = Object.entries(run.asked ?? {}).filter(([name]) => session.set_up.includes(name));
  const wantsTime = run.asked?.longer_window === "yes";
  return {
    window_px: [view.innerWidth, view.innerHeight],
    screen_px: [view.screen.width, view.screen.height],
    dpr: view.devicePixelRatio,
    zoom: zoomOf(view),
    refresh_hz: refresh ? 1000 / refresh.medianMs : null,
    ...(run.pxPerMm === undefined ? {} : { px_per_mm: run.pxPerMm }),
    ...(run.distanceMm === undefined ? {} : { distance_mm: run.distanceMm }),
    ...(run.greys ?? {}),
    ...Object.fromEntries(asked.filter(([name]) => name !== "longer_window")),
    ...(wantsTime ? { longer_window: true } : {}),
  };
}

async function countGreys(run) {
  const { screens, session } = run;
  if (!session.set_up.includes("greys") || isStored(run)) return;
  screens.show("greys");
  if ((await screens.pressed("counted", "no-greys")) === "no-greys") return;
  const counted = (name) => Number(screens.find(`[name=${name}]`).value);
  run.greys = { dark_steps: counted("dark_steps"), bright_steps: counted("bright_steps") };
}

async function store(run) {
  if (isStored(run) || !areTimed(run.session.blocks.map(({ task }) => task))) return;
  const found = foundBy(run);
  await patiently(() => run.api.storeSetUp(found), run);
  if (found.longer_window) run.session = await patiently(() => run.api.session(), run);
  run.local.setItem(keyOf(run), "stored");
}

const isStored = (run) => run.local.getItem(keyOf(run)) !== null;
