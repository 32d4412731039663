/** The participant's device: what the task needs of it, and what is recorded of it. */

import { geometry } from "./surface.js";

/** The smallest window in which the choices fit with room around them, in CSS pixels. */
const SMALLEST = Object.freeze({ width: 640, height: 560 });

/** Height of the line at the edge, in CSS pixels. */
const EDGE = 40;

/** The window that choices and picture of a protocol need, in CSS pixels. */
export function neededWindow(view, protocol) {
  const { canvasCssPx } = geometry({ protocol, dpr: view.devicePixelRatio || 1 });
  const side = Math.ceil(canvasCssPx);
  return { width: Math.max(SMALLEST.width, side), height: Math.max(SMALLEST.height, side + EDGE) };
}

/**
 * Pictures of 200 ms need a desktop: a mouse, trackpad or pen, and a browser that decodes off the main path.
 *
 * @param {Window} view
 * @returns {"phone"|"browser"|null}
 */
export function deviceFault(view) {
  const has = (query) => view.matchMedia(query).matches;
  const isPointed = has("(any-pointer: fine)");
  const isHandheld = has("(pointer: coarse)") && !isPointed;
  // Whatever it is operated with, a screen of this size cannot hold the choices.
  const isPhoneSized = Math.min(view.screen.width, view.screen.height) < 500;
  if (isHandheld || isPhoneSized) return "phone";
  if (typeof view.createImageBitmap !== "function" || typeof view.PointerEvent !== "function") return "browser";
  return null;
}

/** @returns {boolean} */
export function fits(view, protocol) {
  const needed = neededWindow(view, protocol);
  return view.innerWidth >= needed.width && view.innerHeight >= needed.height;
}

/**
 * Whether the study's window, which will be as large as this one's browser, has too little room: asked before anybody agrees.
 *
 * @param {Window} view
 * @param {object} protocol
 */
export function lacksRoom(view, protocol) {
  const needed = neededWindow(view, protocol);
  const isFramed = view.top !== view;
  const [width, height] = isFramed ? [view.outerWidth, view.outerHeight] : [view.innerWidth, view.innerHeight];
  return width < needed.width || height < needed.height;
}

/** Smallest step that the clock shows: 0.005 ms when isolated, 0.1 ms or coarser otherwise. */
export function timerResolution(clock, samples = 2_000) {
  let smallest = Number.POSITIVE_INFINITY;
  let previous = clock();
  for (let sample = 0; sample < samples; sample += 1) {
    const now = clock();
    if (now > previous) smallest = Math.min(smallest, now - previous);
    previous = now;
  }
  return Number.isFinite(smallest) ? smallest : null;
}

/** What is stored with a completed session: the means of measurement and the person's own words on their sight. */
export function describeEnvironment({ view, clock, refresh, selfReport, isPersistent, pxPerMm = null }) {
  return {
    user_agent: view.navigator.userAgent,
    language: view.navigator.language,
    // In which the person has read instructions and answers.
    page_language: view.document?.documentElement.lang || null,
    screen_px: [view.screen.width, view.screen.height],
    window_px: [view.innerWidth, view.innerHeight],
    dpr: view.devicePixelRatio,
    fine_pointer: view.matchMedia("(any-pointer: fine)").matches,
    refresh: refresh && { median_ms: refresh.medianMs, mad_ms: refresh.madMs, long_share: refresh.longShare, intervals: refresh.intervals },
    timer_resolution_ms: timerResolution(clock),
    cross_origin_isolated: Boolean(view.crossOriginIsolated),
    answers_persistent: isPersistent,
    self_report: selfReport,
    // CSS pixels; with dpr this gives the size of a device pixel.
    px_per_mm: pxPerMm,
  };
}

/** Full screen where the browser allows it; a refusal is no fault. */
export async function enterFullScreen(view) {
  if (view.document.fullscreenElement || !view.document.fullscreenEnabled) return;
  try {
    await view.document.documentElement.requestFullscreen({ navigationUI: "hide" });
  } catch {
    // Recorded with every trial (column fullscreen).
  }
}

export async function leaveFullScreen(view) {
  try {
    if (view.document.fullscreenElement) await view.document.exitFullscreen();
  } catch {
    // The participant can leave it with Esc.
  }
}
