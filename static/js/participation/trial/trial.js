/** One trial: the timed sequence, then the response window, in one unbroken animation loop; gives the response and its record. */
import { Sequence } from "./sequence.js";
import { ResponseWindow } from "./responses.js";

/** Changes whenever the meaning of a timing column may have changed. */
export const ENGINE_VERSION = "2.1";

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
 * @param {(callback: () => void) => void} [options.afterFrame] see handover.js
 * @param {object} [options.client] timer_resolution_ms, cross_origin_isolated, client_seq, and wallClock() in ms since 1970
 * @returns {Promise<{response: string, rt_ms: number|null, clicks: object[], timing: object}>}
 */
export function runTrial({ protocol, pictures, refresh, surface, grid, watch, raf, clock, afterFrame, client = {} }) {
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
    afterFrame,
    onFixation: (ts) => watch.start(ts),
    onResponse: (ts) => {
      responses.open(ts);
      watch.choicesAppear(ts);
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
      resolve({ ...result, timing: record({ sequence, result, protocol, pictures, refresh, surface, watch, client }) });
    };
    raf(onFrame);
  });
}

function record({ sequence, result, protocol, pictures, refresh, surface, watch, client }) {
  const timing = sequence.timing;
  return {
    t_refresh_median_ms: refresh.medianMs,
    t_refresh_mad_ms: refresh.madMs,
    ...timing,
    ...watch.seen,
    ...surface.shown,
    decode_ok: pictures.decodeOk,
    click_policy: protocol.click_policy,
    n_clicks: result.clicks.length,
    rt_first_click_ms: result.clicks[0]?.t_ms ?? null,
    rt_last_click_ms: result.clicks.at(-1)?.t_ms ?? null,
    rt_from_stim_ms: result.rt_ms === null || timing.ts_stim_on === null ? null : result.rt_ms + timing.ts_grid_on - timing.ts_stim_on,
    timer_resolution_ms: client.timer_resolution_ms ?? null,
    cross_origin_isolated: client.cross_origin_isolated ?? null,
    client_seq: client.client_seq ?? null,
    client_epoch_ms: client.wallClock?.() ?? null,
    engine_version: ENGINE_VERSION,
  };
}
