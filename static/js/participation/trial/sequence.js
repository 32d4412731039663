/**
 * The timed part of a trial as a state machine: fixation, stimulus, k blank frames, mask, then the response begins.
 *
 * Every boundary is decided by the timestamp of the animation frame. A phase of N = round(target / T) frames ends in the first
 * callback with ts - ts_on >= (N - 0.5) T: without dropped frames that is N callbacks later, with dropped frames the phase is not
 * stretched beyond the nearest frame. The callback that ends a phase draws the next one, so the mask replaces the stimulus in the
 * very same frame unless the protocol asks for blank frames.
 *
 * A timestamp tells when the frame began, not when its callback ran: a callback that the busy main thread held up carries a
 * faultless timestamp and hands its drawing over late. So a stimulus never begins in a late callback (the fixation stays a frame
 * longer instead), and every switch is recorded with its lag and with the moment at which the browser had taken the drawing.
 */
import { LONG_FRAME, framesFor, lowerQuartile, median } from "./frames.js";

/**
 * Share of a phase over which a tapered-cosine ramp rises, and again falls. The published experiments took the shape from a library
 * without stating this share (Geirhos et al. 2018, batch 1): a quarter at either end is this project's choice.
 */
const TAPER = 0.25;

/** A callback is late when it lags behind its frame by this share of T more than the quicker callbacks of this trial do. */
const LATE_SHARE = 0.25;

/** A stimulus waits at most this long for a callback on time: on a machine that is always late it is shown and recorded as such. */
const MOST_WAIT_MS = 200;

/** The loop runs this long before the first onset, so that the browser is in its steady frame rhythm. */
export const WARM_UP_MS = 50;

/**
 * Contrast of one frame of a phase under a ramp, taken at the middle of the frame, so that no frame is empty.
 *
 * @param {"none"|"tapered-cosine"} ramp
 * @param {number} frame 0-based
 * @param {number} frames
 * @returns {number} 0..1
 */
export function contrastOf(ramp, frame, frames) {
  if (ramp !== "tapered-cosine") return 1;
  const place = (frame + 0.5) / frames;
  const fromEdge = Math.min(place, 1 - place) / TAPER;
  return fromEdge >= 1 ? 1 : 0.5 * (1 - Math.cos(Math.PI * fromEdge));
}

/**
 * @param {object} protocol as the server sends it
 * @param {number} refreshMs
 * @param {Array<{stimulus: object, mask: object|null}>} showings one for categorisation, two for discrimination, three for ABX
 */
function phasesOf(protocol, refreshMs, showings) {
  const ramp = protocol.contrast_ramp ?? "none";
  const pictured = (name, showing, bitmap, frames) => ({
    name,
    showing,
    frames,
    isRamped: ramp !== "none",
    draw: (surface, frame) => surface.picture(bitmap, contrastOf(ramp, frame, frames)),
  });
  const phases = [{ name: "warm-up", frames: framesFor(WARM_UP_MS, refreshMs), draw: (surface) => surface.clear() }];
  showings.forEach(({ stimulus, mask }, showing) => {
    phases.push(
      { name: "fixation", showing, frames: framesFor(protocol.fixation_ms, refreshMs), draw: (surface) => surface.fixation() },
      pictured("stimulus", showing, stimulus, framesFor(protocol.stimulus_ms, refreshMs)),
      { name: "blank", showing, frames: protocol.blank_frames ?? 0, draw: (surface) => surface.clear() },
      pictured("mask", showing, mask, mask ? framesFor(protocol.mask_ms, refreshMs) : 0),
    );
  });
  return phases.filter((phase) => phase.frames > 0);
}

/** What may stay a frame longer for the sake of what follows. */
const PATIENT = new Set(["warm-up", "fixation"]);

export class Sequence {
  #phases;
  #refreshMs;
  #surface;
  #clock;
  #afterFrame;
  #onResponse;
  #onFixation;
  #current = -1;
  #onset = 0;
  #previousTs = null;
  #watched = false;
  #started = false;
  #finished = false;
  #marks = [];
  #fixationOn = null;
  #responseOn = null;
  #maxGapMs = 0;
  #longFrames = 0;
  #maxLagMs = 0;
  #lags = [];
  #waits = 0;
  #skipped = 0;
  #switch = null;

  /**
   * @param {object} options
   * @param {Array<{stimulus: object, mask: object|null}>} options.showings
   * @param {object} options.protocol fixation_ms, stimulus_ms, blank_frames, mask_ms
   * @param {number} options.refreshMs measured median T
   * @param {{clear(): void, fixation(): void, picture(bitmap: object, contrast: number): void}} options.surface
   * @param {() => number} options.clock same time base as the frame timestamps
   * @param {(callback: () => void) => void} [options.afterFrame] calls back as soon as the browser has taken the frame of this callback
   * @param {(ts: number) => void} [options.onResponse] called in the callback that removes the last mask
   * @param {(ts: number) => void} [options.onFixation] called in the callback of the first fixation (or first onset)
   */
  constructor({ showings, protocol, refreshMs, surface, clock, afterFrame = () => {}, onResponse = () => {}, onFixation = () => {} }) {
    this.#phases = phasesOf(protocol, refreshMs, showings);
    this.#refreshMs = refreshMs;
    this.#surface = surface;
    this.#clock = clock;
    this.#afterFrame = afterFrame;
    this.#onResponse = onResponse;
    this.#onFixation = onFixation;
  }

  /** @returns {string} the name of the phase on the screen; "response" once the timed part is over */
  get phase() {
    return this.#finished ? "response" : (this.#phases[this.#current]?.name ?? "waiting");
  }

  /**
   * One animation frame.
   *
   * @param {number} ts the frame's timestamp
   * @returns {boolean} true while the timed part goes on
   */
  frame(ts) {
    if (this.#finished) return false;
    const lagMs = this.#clock() - ts;
    // Whatever came of the message, the browser has taken the last drawing when it begins the next frame.
    if (this.#switch) this.#switch.taken ??= ts + lagMs;
    const phase = this.#phases[this.#current];
    const isOver = !phase || ts - this.#onset >= (phase.frames - 0.5) * this.#refreshMs;
    // One phase a callback: after a long stall each picture is still shown for at least a frame, and the record says so.
    if (isOver && !this.#hadBetterWait(lagMs)) this.#advance(ts, lagMs);
    else if (phase?.isRamped) this.#redraw(phase, ts);
    this.#record(ts, lagMs);
    return !this.#finished;
  }

  /** Whether the stimulus is due in a callback that runs late. */
  #hadBetterWait(lagMs) {
    if (this.#phases[this.#current + 1]?.name !== "stimulus" || !PATIENT.has(this.#phases[this.#current]?.name)) return false;
    const isLate = lagMs - lowerQuartile(this.#lags) > LATE_SHARE * this.#refreshMs;
    if (!isLate || this.#waits * this.#refreshMs >= MOST_WAIT_MS) return false;
    this.#waits += 1;
    return true;
  }

  #redraw(phase, ts) {
    const step = Math.min(phase.frames - 1, Math.round((ts - this.#onset) / this.#refreshMs));
    this.#skipped += Math.max(0, step - phase.step - 1);
    phase.step = step;
    phase.draw(this.#surface, step);
  }

  #advance(ts, lagMs) {
    const left = this.#phases[this.#current];
    const entered = { ts, lagMs, taken: null };
    if (left) {
      this.#marks.push({ name: left.name, showing: left.showing, on: this.#switch, off: entered, frames: left.frames });
      if (left.isRamped) this.#skipped += left.frames - 1 - left.step;
    }
    this.#switch = entered;
    this.#afterFrame(() => {
      entered.taken ??= this.#clock();
    });
    this.#current += 1;
    this.#onset = ts;
    const phase = this.#phases[this.#current];
    if (!phase) {
      this.#surface.clear();
      this.#finished = true;
      this.#responseOn = ts;
      this.#onResponse(ts);
      return;
    }
    phase.step = 0;
    phase.draw(this.#surface, 0);
    if (!this.#started && phase.name !== "warm-up") {
      this.#started = true;
      this.#fixationOn = phase.name === "fixation" ? ts : null;
      this.#onFixation(ts);
    }
  }

  #record(ts, lagMs) {
    // A gap counts when a stimulus, blank or mask was on the screen at its beginning: [stimulus on, mask off].
    if (this.#watched) {
      const gap = ts - this.#previousTs;
      this.#maxGapMs = Math.max(this.#maxGapMs, gap);
      if (gap > LONG_FRAME * this.#refreshMs) this.#longFrames += 1;
    }
    const name = this.phase;
    this.#watched = name === "stimulus" || name === "blank" || name === "mask";
    this.#previousTs = ts;
    this.#lags.push(lagMs);
    if (this.#started) this.#maxLagMs = Math.max(this.#maxLagMs, lagMs);
  }

  /**
   * The frame record. With several showings the onsets and lags are those of the last one (the response follows it), durations and
   * frames are those of the showing that departs most from its target, and gaps are taken over all.
   *
   * frames_shown counts refreshes by timestamps, round(duration / T). dur_stim_taken_ms is the time from the moment at which the
   * browser had taken the stimulus to the moment at which it had taken what follows: it knows of callbacks that ran late.
   */
  get timing() {
    const of = (name) => this.#marks.filter((mark) => mark.name === name);
    const duration = (mark) => mark.off.ts - mark.on.ts;
    const takenFor = (mark) => (mark.off.taken === null || mark.on.taken === null ? null : mark.off.taken - mark.on.taken);
    const departure = (mark, lastedMs) => Math.abs(lastedMs - mark.frames * this.#refreshMs);
    const worst = (marks, lasted = duration) =>
      marks.reduce((kept, mark) => (!kept || departure(mark, lasted(mark)) > departure(kept, lasted(kept)) ? mark : kept), null);
    const worstTaken = (marks) => (marks.length && marks.every((mark) => takenFor(mark) !== null) ? takenFor(worst(marks, takenFor)) : null);
    const frames = (mark) => Math.round(duration(mark) / this.#refreshMs);
    const stimulus = worst(of("stimulus"));
    const mask = worst(of("mask"));
    const fixation = worst(of("fixation"));
    const blank = worst(of("blank"));
    const shown = of("stimulus").at(-1);
    const masked = of("mask").at(-1);
    const fixated = of("fixation")[0];
    const taken = (at) => (at && at.taken !== null ? at.taken - at.ts : null);
    return {
      frames_target: stimulus?.frames ?? null,
      frames_shown: stimulus ? frames(stimulus) : null,
      dur_stim_ms: stimulus ? duration(stimulus) : null,
      dur_stim_taken_ms: worstTaken(of("stimulus")),
      dur_mask_ms: mask ? duration(mask) : null,
      dur_fix_ms: fixation ? duration(fixation) : null,
      isi_frames: blank ? frames(blank) : 0,
      isi_frames_target: blank?.frames ?? 0,
      dur_isi_taken_ms: worstTaken(of("blank")),
      ts_fix_on: this.#fixationOn,
      ts_stim_on: shown?.on.ts ?? null,
      ts_mask_on: masked?.on.ts ?? null,
      ts_grid_on: this.#responseOn,
      max_frame_gap_ms: this.#maxGapMs,
      n_long_frames: this.#longFrames,
      n_ramp_steps_missed: this.#skipped,
      n_onset_waits: this.#waits,
      callback_lag_max_ms: this.#maxLagMs,
      callback_lag_median_ms: this.#lags.length ? median(this.#lags) : null,
      lag_fix_on_ms: fixated?.on.lagMs ?? null,
      lag_stim_on_ms: shown?.on.lagMs ?? null,
      lag_stim_off_ms: shown?.off.lagMs ?? null,
      lag_mask_on_ms: masked?.on.lagMs ?? null,
      lag_mask_off_ms: masked?.off.lagMs ?? null,
      taken_stim_on_ms: taken(shown?.on),
      taken_stim_off_ms: taken(shown?.off),
      taken_mask_on_ms: taken(masked?.on),
      taken_mask_off_ms: taken(masked?.off),
    };
  }
}
