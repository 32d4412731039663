/**
 * Pictures of a block, and what is asked of them where that differs from trial to trial: fetched, decoded and kept alive before the
 * block begins, so that no trial waits for network or decoder.
 */
import { patiently } from "./pause.js";

/** No colour management, no premultiplication: the canvas gets the very numbers of the file. */
const BITMAP_OPTIONS = Object.freeze({ colorSpaceConversion: "none", premultiplyAlpha: "none" });

const ATTEMPTS = 6;
const PARALLEL = 4;

/** A picture that arrived and does not decode: cut off on its way, most likely. */
export class Undecodable extends Error {
  constructor(cause) {
    super("picture does not decode", { cause });
    this.name = "Undecodable";
    this.type = "undecodable";
    this.mayPass = true;
  }
}

export class PictureStore {
  #api;
  #createBitmap;
  #sleep;
  #random;
  #sizePx;
  #kept = new Map();

  /**
   * @param {object} options
   * @param {object} options.api stimulus(position, showing) and mask(position) give Blobs, question(position) an object
   * @param {typeof createImageBitmap} options.createBitmap
   * @param {(ms: number) => Promise<void>} options.sleep
   * @param {number} options.sizePx side that the protocol promises
   * @param {() => number} [options.random]
   */
  constructor({ api, createBitmap, sleep, sizePx, random = Math.random }) {
    this.#api = api;
    this.#createBitmap = createBitmap;
    this.#sleep = sleep;
    this.#random = random;
    this.#sizePx = sizePx;
  }

  /**
   * Gets every picture of these trials; those already here are not fetched again.
   *
   * @param {number[]} positions
   * @param {{showings: number, withMask: boolean, withQuestion?: boolean}} trial
   * @param {(done: number, total: number) => void} [onProgress]
   * @throws the API's error when a picture cannot be had after several attempts; what has arrived is kept for the next call
   */
  async prefetch(positions, { showings, withMask, withQuestion = false }, onProgress = () => {}) {
    const wanted = positions.flatMap((position) => [
      ...Array.from({ length: showings }, (_, showing) => ({ position, showing })),
      ...(withMask ? [{ position, showing: "mask" }] : []),
      ...(withQuestion ? [{ position, showing: "question" }] : []),
    ]);
    const missing = wanted.filter(({ position, showing }) => !this.#kept.get(position)?.has(showing));
    let done = wanted.length - missing.length;
    onProgress(done, wanted.length);
    const queue = missing.values();
    const work = async () => {
      for (const { position, showing } of queue) {
        const arrived = await this.#get(position, showing);
        if (!this.#kept.has(position)) this.#kept.set(position, new Map());
        this.#kept.get(position).set(showing, arrived);
        done += 1;
        onProgress(done, wanted.length);
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL, missing.length) }, work));
  }

  /** @returns {{stimuli: ImageBitmap[], mask: ImageBitmap|null, question: object|null, decodeOk: boolean}} */
  of(position) {
    const kept = this.#kept.get(position) ?? new Map();
    const stimuli = [...kept.keys()].filter(Number.isInteger).sort((a, b) => a - b).map((showing) => kept.get(showing));
    const isWhole = (bitmap) => bitmap.width === this.#sizePx && bitmap.height === this.#sizePx;
    const [mask, question] = [kept.get("mask") ?? null, kept.get("question") ?? null];
    return { stimuli, mask, question, decodeOk: stimuli.length > 0 && stimuli.every(isWhole) };
  }

  /** Frees the pictures of an answered trial. */
  release(position) {
    for (const kept of this.#kept.get(position)?.values() ?? []) kept.close?.();
    this.#kept.delete(position);
  }

  #get(position, showing) {
    const attempt = async () => {
      if (showing === "question") return this.#api.question(position);
      const blob = showing === "mask" ? await this.#api.mask(position) : await this.#api.stimulus(position, showing);
      try {
        return await this.#createBitmap(blob, BITMAP_OPTIONS);
      } catch (error) {
        throw new Undecodable(error);
      }
    };
    return patiently(attempt, { sleep: this.#sleep, random: this.#random, attempts: ATTEMPTS });
  }
}
