/** The screen's refresh interval, measured, and what follows from it: frame counts and faults. No DOM. */

/** Intervals that one estimate needs; fewer, and a single stall moves it. */
export const MIN_INTERVALS = 120;

/** A frame is long when it lasted more than this many refresh intervals: at least one refresh was missed. */
export const LONG_FRAME = 1.5;

/** Faults are told, never punished: they suggest a remedy, and every trial records its own frames anyway. */
export const LIMITS = Object.freeze({ minRefreshMs: 4, maxRefreshMs: 21, maxMadMs: 1, maxLongShare: 0.05 });

/** @param {number[]} values @returns {number} NaN for an empty list */
export function median(values) {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @param {number[]} values @returns {number} a quarter of the values are smaller or equal; NaN for an empty list */
export function lowerQuartile(values) {
  return values.length === 0 ? Number.NaN : [...values].sort((a, b) => a - b)[Math.ceil(values.length / 4) - 1];
}

/** What is taken for the interval where the page's clock does not move at all: the usual 60 Hz. */
const USUAL_MS = 1000 / 60;

/**
 * Median and median absolute deviation: unlike a mean, they do not move when one frame stalls.
 *
 * A browser that hides time lets the clock jump in steps longer than a frame; most intervals are then 0, and their mean
 * is what remains of the truth. The deviation says so, and the set-up tells the participant.
 *
 * @param {number[]} intervalsMs differences of successive frame timestamps
 * @returns {{medianMs: number, madMs: number, longShare: number, intervals: number}}
 */
export function estimateRefresh(intervalsMs) {
  const meanMs = intervalsMs.reduce((sum, interval) => sum + interval, 0) / intervalsMs.length;
  const medianMs = intervalsMs.length ? median(intervalsMs) || meanMs || USUAL_MS : Number.NaN;
  const madMs = median(intervalsMs.map((interval) => Math.abs(interval - medianMs)));
  const long = intervalsMs.filter((interval) => interval > LONG_FRAME * medianMs).length;
  return { medianMs, madMs, longShare: intervalsMs.length ? long / intervalsMs.length : Number.NaN, intervals: intervalsMs.length };
}

/**
 * What speaks against timing pictures on this screen now.
 *
 * @returns {string[]} any of "too-few", "rate", "jitter", "drops"; empty when all is well
 */
export function refreshFaults(estimate, limits = LIMITS) {
  const faults = [];
  if (estimate.intervals < MIN_INTERVALS) faults.push("too-few");
  if (!(estimate.medianMs >= limits.minRefreshMs && estimate.medianMs <= limits.maxRefreshMs)) faults.push("rate");
  if (!(estimate.madMs <= limits.maxMadMs)) faults.push("jitter");
  if (!(estimate.longShare <= limits.maxLongShare)) faults.push("drops");
  return faults;
}

/**
 * Whole frames nearest to a duration. round(), not ceil(): at a measured 60.02 Hz ceil() would show 200 ms as 13 frames.
 *
 * @param {number} durationMs
 * @param {number} refreshMs
 * @returns {number} at least 1 for a positive duration, 0 for none
 */
export function framesFor(durationMs, refreshMs) {
  return durationMs > 0 ? Math.max(1, Math.round(durationMs / refreshMs)) : 0;
}

/**
 * Measures the refresh interval over consecutive animation frames.
 *
 * @param {object} options
 * @param {(callback: (ts: number) => void) => void} options.raf
 * @param {number} [options.intervals] how many intervals to take
 * @param {number} [options.warmUp] frames to let pass first: the first ones after a page change are irregular
 * @returns {Promise<ReturnType<typeof estimateRefresh>>}
 */
export function measureRefresh({ raf, intervals = MIN_INTERVALS, warmUp = 10 }) {
  return new Promise((resolve) => {
    const taken = [];
    let previous = null;
    let waiting = warmUp;
    const onFrame = (ts) => {
      if (waiting > 0) waiting -= 1;
      else if (previous !== null) taken.push(ts - previous);
      previous = ts;
      if (taken.length < intervals) raf(onFrame);
      else resolve(estimateRefresh(taken));
    };
    raf(onFrame);
  });
}
