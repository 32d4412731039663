/** Pictures of a block: fetched, decoded and kept alive before the block begins, so that no trial waits for network or decoder. */
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
   * @param {{stimulus(position: number, showing: number): Promise<Blob>, mask(position: number): Promise<Blob>}} options.api
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
   * @param {{showings: number, withMask: boolean}} trial
   * @param {(done: number, total: number) => void} [onProgress]
   * @throws the API's error when a picture cannot be had after several attempts; what has arrived is kept for the next call
   */
  async prefetch(positions, { showings, withMask }, onProgress = () => {}) {
    const wanted = positions.flatMap((position) => [
      ...Array.from({ length: showings }, (_, showing) => ({ position, showing })),
      ...(withMask ? [{ position, showing: "mask" }] : []),
    ]);
    const missing = wanted.filter(({ position, showing }) => !this.#kept.get(position)?.has(showing));
    let done = wanted.length - missing.length;
    onProgress(done, wanted.length);
    const queue = missing.values();
    const work = async () => {
      for (const { position, showing } of queue) {
        const bitmap = await this.#get(position, showing);
        if (!this.#kept.has(position)) this.#kept.set(position, new Map());
        this.#kept.get(position).set(showing, bitmap);
        done += 1;
        onProgress(done, wanted.length);
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL, missing.length) }, work));
  }

  /** @returns {{stimuli: ImageBitmap[], mask: ImageBitmap|null, decodeOk: boolean}} */
  of(position) {
    const kept = this.#kept.get(position) ?? new Map();
    const stimuli = [...kept.keys()].filter((showing) => showing !== "mask").sort((a, b) => a - b).map((showing) => kept.get(showing));
    const isWhole = (bitmap) => bitmap.width === this.#sizePx && bitmap.height === this.#sizePx;
    return { stimuli, mask: kept.get("mask") ?? null, decodeOk: stimuli.length > 0 && stimuli.every(isWhole) };
  }

  /** Frees the pictures of an answered trial. */
  release(position) {
    for (const bitmap of this.#kept.get(position)?.values() ?? []) bitmap.close();
    this.#kept.delete(position);
  }

  #get(position, showing) {
    const attempt = async () => {
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
