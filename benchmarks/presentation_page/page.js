/** Runs trials of the real engine, every drawing marked in the browser's trace; driven from outside through window.bench. */
import { timerResolution } from "/static/js/participation/trial/environment.js";
import { measureRefresh } from "/static/js/participation/trial/frames.js";
import { ChoiceGrid } from "/static/js/participation/trial/grid.js";
import { frameTaken } from "/static/js/participation/trial/handover.js";
import { PictureStore } from "/static/js/participation/trial/pictures.js";
import { Surface } from "/static/js/participation/trial/surface.js";
import { runTrial } from "/static/js/participation/trial/trial.js";
import { Watch } from "/static/js/participation/trial/watch.js";

const clock = () => performance.now();
const raf = (callback) => requestAnimationFrame(callback);
const afterFrame = frameTaken(MessageChannel);
const client = {
  timer_resolution_ms: timerResolution(clock),
  cross_origin_isolated: Boolean(window.crossOriginIsolated),
  wallClock: () => Date.now(),
};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Grey between two trials. */
const INTERVAL_MS = 60;

/** The answer comes this long after the choices. */
const ANSWER_MS = 40;

/** The engine's surface, each drawing marked in the trace with the trial and what was drawn. */
class MarkedSurface {
  /** The trial under way; null between trials. */
  label = null;
  #surface;

  constructor(options) {
    this.#surface = new Surface(options);
  }

  get shown() {
    return this.#surface.shown;
  }

  clear() {
    this.#surface.clear();
    this.#mark("clear");
  }

  fixation() {
    this.#surface.fixation();
    this.#mark("fixation");
  }

  picture(bitmap, contrast) {
    this.#surface.picture(bitmap, contrast);
    this.#mark(bitmap.label);
  }

  #mark(what) {
    if (this.label !== null) performance.mark(`draw:${this.label}:${what}`);
  }
}

/** Holds the main thread for `ms`, again and again, at exponentially distributed intervals. */
function stall({ ms, everyMs }) {
  let isOn = true;
  const again = () => setTimeout(() => {
    if (!isOn) return;
    const until = performance.now() + ms;
    performance.mark("stall");
    while (performance.now() < until);
    again();
  }, -Math.log(1 - Math.random()) * everyMs);
  again();
  return () => {
    isOn = false;
  };
}

async function fetched(name) {
  const reply = await fetch(`/pictures/${name}`);
  return reply.blob();
}

/** What one trial shows: its stimuli, then the mask behind each of them. */
function picturesOf(position) {
  const stimuli = Array.from({ length: stage.showings }, (_, showing) => (isPlain ? "black" : `stimulus-${(position + showing) % 16}`));
  return [...stimuli, isPlain ? "white" : `mask-${position % 16}`].map((name) => fetched(`${name}.png`));
}

async function setUp(protocol, choices) {
  const grid = new ChoiceGrid({ root: document.querySelector("[data-grid]"), clock });
  await grid.fill(choices);
  const surface = new MarkedSurface({ canvas: document.querySelector("canvas"), view: window, protocol });
  const pictures = new PictureStore({
    api: {
      pictures: async (first, last) => ({
        blobs: await Promise.all(Array.from({ length: last - first + 1 }, (_, index) => picturesOf(first + index)).flat()),
        options: [],
      }),
    },
    createBitmap: (blob, options) => createImageBitmap(blob, options),
    sleep,
    sizePx: protocol.size_px,
  });
  return { grid, surface, pictures, watch: new Watch(window, () => performance.now()) };
}

let stage = null;

/** Whether pictures are black and masks white. */
let isPlain = false;

window.bench = {
  /** `showings`: stimuli of one trial, each with its fixation and mask. */
  async prepare(protocol, choices, showings) {
    stage = { protocol, showings, ...(await setUp(protocol, choices)) };
    await sleep(500);
    stage.refresh = await measureRefresh({ raf });
    return stage.refresh;
  },

  /** Trials `first` to `first + count - 1` through the engine; gives their records. */
  async trials(first, count, stalls, plain = false) {
    isPlain = plain;
    const { protocol, showings, grid, surface, pictures, watch, refresh } = stage;
    const positions = Array.from({ length: count }, (_, index) => first + index);
    await pictures.prefetch(positions, { showings, withMask: true });
    await sleep(300);
    const stopStalling = stalls ? stall(stalls) : () => {};
    const records = [];
    for (const position of positions) {
      const shown = pictures.of(position);
      for (const stimulus of shown.stimuli) stimulus.label = "stimulus";
      shown.mask.label = "mask";
      surface.label = position;
      const showGrid = grid.show.bind(grid);
      grid.show = () => {
        showGrid();
        setTimeout(() => {
          const button = document.querySelector("[data-choice]");
          button.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, cancelable: true, isPrimary: true, button: 0 }));
        }, ANSWER_MS);
      };
      const { timing, response } = await runTrial({ protocol, pictures: shown, refresh, surface, grid, watch, raf, clock, afterFrame, client });
      delete grid.show;
      surface.label = null;
      records.push({ position, response, ...timing });
      grid.hide();
      pictures.release(position);
      await sleep(INTERVAL_MS);
    }
    stopStalling();
    return records;
  },

  /** The baseline: a bare loop that counts callbacks and believes their timestamps. */
  async bare(first, count, stalls) {
    const { protocol, showings, surface, pictures, refresh } = stage;
    const positions = Array.from({ length: count }, (_, index) => first + index);
    await pictures.prefetch(positions, { showings, withMask: true });
    await sleep(300);
    const stopStalling = stalls ? stall(stalls) : () => {};
    const frames = Math.round(protocol.stimulus_ms / refresh.medianMs);
    const records = [];
    for (const position of positions) {
      const { stimuli, mask } = pictures.of(position);
      stimuli[0].label = "stimulus";
      mask.label = "mask";
      surface.label = position;
      records.push(await new Promise((resolve) => {
        let count = 0;
        let on = 0;
        const onFrame = (ts) => {
          if (count === 6) {
            surface.picture(stimuli[0]);
            on = ts;
          }
          if (count === 6 + frames) {
            surface.picture(mask);
            resolve({ position, dur_stim_ms: ts - on, t_refresh_median_ms: refresh.medianMs });
            return;
          }
          count += 1;
          raf(onFrame);
        };
        raf(onFrame);
      }));
      surface.label = null;
      pictures.release(position);
      await sleep(INTERVAL_MS + 100);
    }
    stopStalling();
    return records;
  },
};
