/** One trial: the timed sequence, then the response window, in one unbroken animation loop; gives the response and its record. */
import { Sequence } from "./sequence.js";
import { ResponseWindow } from "./responses.js";

/** Changes whenever the meaning of a timing column may have changed. */
export const ENGINE_VERSION = "1.0";

/**
 * @param {object} options
 * @param {object} options.protocol as the server sends it
 * @param {{stimuli: object[], mask: object|null, decodeOk: boolean}} options.pictures
 * @param {{medianMs: number, madMs: number}} options.refresh
 * @param {import("./surface.js").Surface} options.surface
 * @param {{show(): void, hide(): void, onAnswer: ((answer: object) => boolean)|null}} options.grid
 * @param {import("./watch.js").Watch} options.watch
 * @param {(callback: (ts: number) => void) => void} options.raf
 * @param {() => number} options.clock
 * @returns {Promise<{response: string, rt_ms: number|null, clicks: object[], timing: object}>}
 */
export function runTrial({ protocol, pictures, refresh, surface, grid, watch, raf, clock }) {
  const responses = new ResponseWindow({
    policy: protocol.click_policy,
    windowMs: protocol.response_ms,
    fixed: protocol.fixed_response_window,
  });
  const sequence = new Sequence({
    showings: pictures.stimuli.map((stimulus) => ({ stimulus, mask: pictures.mask })),
    protocol,
    refreshMs: refresh.medianMs,
    surface,
    clock,
    onFixation: () => watch.start(),
    onResponse: (ts) => {
      responses.open(ts);
      grid.show();
    },
  });
  grid.onAnswer = (answer) => responses.answer(answer);
  return new Promise((resolve) => {
    const onFrame = (ts) => {
      if (sequence.frame(ts) || responses.frame(ts)) {
        raf(onFrame);
        return;
      }
      grid.onAnswer = null;
      const result = responses.result;
      resolve({ ...result, timing: record({ sequence, result, pictures, refresh, surface, watch }) });
    };
    raf(onFrame);
  });
}

function record({ sequence, result, pictures, refresh, surface, watch }) {
  const timing = sequence.timing;
  return {
    t_refresh_median_ms: refresh.medianMs,
    t_refresh_mad_ms: refresh.madMs,
    ...timing,
    ...watch.seen,
    ...surface.shown,
    decode_ok: pictures.decodeOk,
    n_clicks: result.clicks.length,
    rt_from_stim_ms: result.rt_ms === null || timing.ts_stim_on === null ? null : result.rt_ms + timing.ts_grid_on - timing.ts_stim_on,
    engine_version: ENGINE_VERSION,
  };
}
