/**
 * Answers on their way: kept in the browser's storage until the server has acknowledged them, sent one at a time and in order.
 *
 * Each answer has a key of its own, so that two windows of one session never overwrite a list of each other's answers; an answer
 * sent twice is stored once, because the server keys it by position.
 */
import { PROBE_MS, backOff } from "./pause.js";

const PREFIX = "humanexp.outbox";
/** Where the person waits for an answer to be stored, a server that is back is found this soon. */
const WAITED_FOR_MS = 3_000;

export class Outbox {
  /** Whether unsent answers would survive a reload. */
  isPersistent = true;
  #send;
  #probe;
  #isLost = false;
  #storage;
  #prefix;
  #later;
  #random;
  #onChange;
  #waiting = new Map();
  #unsettled = new Set();
  #isChanged = new Set();
  #listeners = new Map();
  #idle = [];
  #isHeld = false;
  #isSending = false;
  #fault = null;
  #failures = 0;
  #acknowledged = 0;
  #cancelRetry = null;
  #sending = Promise.resolve();

  /**
   * @param {object} options
   * @param {(response: object) => Promise<object>} options.send rejects with an error whose `mayPass` says whether to try again
   * @param {() => Promise<object>} [options.probe] asks the server for anything, where no answer waits to be sent
   * @param {Storage} options.storage it outlives a reload, a closed window and a killed browser
   * @param {string} options.session names the session in the keys
   * @param {(action: () => void, ms: number) => (() => void)} options.later runs the action later; returns how to call it off
   * @param {() => number} [options.random]
   * @param {(state: {waiting: number, isLost: boolean, failures: number, acknowledged: number, fault: Error|null}) => void} [options.onChange]
   *   `acknowledged` counts the answers that the server has taken from this page
   */
  constructor({ send, probe = async () => null, storage, session, later, random = Math.random, onChange = () => {} }) {
    this.#send = send;
    this.#probe = probe;
    this.#storage = storage;
    this.#prefix = `${PREFIX}.${session}.`;
    this.#later = later;
    this.#random = random;
    this.#onChange = onChange;
    this.#restore();
  }

  /** @returns {number[]} positions not yet acknowledged, in order */
  get positions() {
    return [...this.#waiting.keys()].sort((a, b) => a - b);
  }

  /** @returns {Error|null} why the server refuses the first waiting answer for good */
  get fault() {
    return this.#fault;
  }

  /**
   * Keeps an answer and sends it as soon as nothing is in the way. The first answer to a position stays.
   *
   * @param {object} response
   * @param {Promise<object>|null} [settled] the answer with the rest of its record; until then neither it nor a later one is sent
   */
  add(response, settled = null) {
    const { position } = response;
    if (this.#waiting.has(position)) return;
    this.#waiting.set(position, response);
    this.#store(response);
    if (settled) this.#settleLater(position, settled);
    this.#changed();
    this.#pump();
  }

  async #settleLater(position, settled) {
    this.#unsettled.add(position);
    const response = await settled;
    this.#unsettled.delete(position);
    if (!this.#waiting.has(position)) return;
    this.#waiting.set(position, response);
    this.#isChanged.add(position);
    this.#pump();
  }

  /** Drops answers that the server already has: those before its cursor. */
  forgetBefore(cursor) {
    for (const position of this.positions) if (position < cursor) this.#settle(position, null);
    this.#changed();
  }

  /** While held, nothing is sent: a trial is on the screen. What is already on its way goes on. */
  hold() {
    this.#isHeld = true;
  }

  release() {
    this.#isHeld = false;
    this.#pump();
  }

  /** The browser says that there is no network: the server is looked for until it answers. */
  lose() {
    this.#isLost = true;
    this.#changed();
    this.#again(PROBE_MS);
  }

  /** Tries at once, for instance when the network is back; clears a fault that was reported. */
  retry() {
    this.#fault = null;
    this.#failures = 0;
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    this.#pump();
  }

  /** @returns {Promise<object|null>} the server's reply to this answer; null when it had the answer already */
  acknowledged(position) {
    if (!this.#waiting.has(position)) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      if (!this.#listeners.has(position)) this.#listeners.set(position, []);
      this.#listeners.get(position).push({ resolve, reject });
      if (this.#fault) this.#fail(this.#fault);
    });
  }

  /** @returns {Promise<void>} resolves when every answer is acknowledged, rejects when the server refuses one for good */
  drained() {
    if (this.#waiting.size === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#idle.push({ resolve, reject });
      if (this.#fault) this.#fail(this.#fault);
      else this.#pump();
    });
  }

  /** @returns {Promise<void>} resolves when nothing is on its way just now, whether or not it arrived */
  async quiet() {
    while (this.#isSending) await this.#sending;
  }

  #pump() {
    if (this.#isHeld || this.#isSending || this.#fault || this.#cancelRetry) return;
    // Not while a trial is on the screen: writing could cost a frame.
    for (const position of this.#isChanged) if (this.#waiting.has(position)) this.#store(this.#waiting.get(position));
    this.#isChanged.clear();
    const isReady = this.#waiting.size > 0 && !this.#unsettled.has(this.positions[0]);
    if (!isReady && !this.#isLost) return;
    this.#isSending = true;
    this.#sending = isReady ? this.#sendFirst() : this.#look();
  }

  /** Asks whether the server is back, where there is nothing to send. */
  async #look() {
    try {
      await this.#probe();
      this.#isLost = false;
    } catch (error) {
      this.#isLost = error.type === "no-reply";
      if (this.#isLost) this.#again(PROBE_MS);
    }
    this.#isSending = false;
    this.#changed();
    this.#pump();
  }

  /** Sends, or looks, once more after so long. */
  #again(ms) {
    this.#cancelRetry?.();
    this.#cancelRetry = this.#later(() => {
      this.#cancelRetry = null;
      this.#pump();
    }, ms);
  }

  async #sendFirst() {
    const position = this.positions[0];
    try {
      const reply = await this.#send(this.#waiting.get(position));
      this.#failures = 0;
      this.#isLost = false;
      this.#settle(position, reply);
    } catch (error) {
      this.#failures += 1;
      this.#isLost = error.type === "no-reply";
      if (this.#isLost) {
        this.#again(PROBE_MS);
      } else if (error.mayPass) {
        this.#again(backOff(this.#failures, this.#random, this.#isWaitedFor ? WAITED_FOR_MS : undefined));
      } else {
        this.#fault = error;
        this.#fail(error);
      }
    }
    this.#isSending = false;
    this.#changed();
    this.#pump();
  }

  /** Whether the person cannot go on before an answer is stored. */
  get #isWaitedFor() {
    return this.#listeners.size > 0 || this.#idle.length > 0;
  }

  #settle(position, reply) {
    this.#waiting.delete(position);
    if (reply) this.#acknowledged += 1;
    this.#guarded(() => this.#storage.removeItem(this.#prefix + position));
    for (const { resolve } of this.#listeners.get(position) ?? []) resolve(reply);
    this.#listeners.delete(position);
    if (this.#waiting.size === 0) for (const { resolve } of this.#idle.splice(0)) resolve();
  }

  #fail(error) {
    for (const listeners of this.#listeners.values()) for (const { reject } of listeners) reject(error);
    this.#listeners.clear();
    for (const { reject } of this.#idle.splice(0)) reject(error);
  }

  #changed() {
    this.#onChange({ waiting: this.#waiting.size, isLost: this.#isLost, failures: this.#failures, acknowledged: this.#acknowledged, fault: this.#fault });
  }

  #store(response) {
    this.#guarded(() => this.#storage.setItem(this.#prefix + response.position, JSON.stringify(response)));
  }

  #restore() {
    this.#guarded(() => {
      const keys = Array.from({ length: this.#storage.length }, (_, index) => this.#storage.key(index));
      for (const key of keys.filter((name) => name.startsWith(this.#prefix))) {
        const response = parsed(this.#storage.getItem(key));
        if (response) this.#waiting.set(response.position, response);
        else this.#storage.removeItem(key);
      }
    });
  }

  /** Storage may be full or forbidden; answers then live in memory, and are sent all the same. */
  #guarded(action) {
    try {
      action();
    } catch {
      this.isPersistent = false;
    }
  }

}

/** A stored answer, or null for a key that holds none (written by a hand other than ours). */
function parsed(text) {
  try {
    const response = JSON.parse(text);
    return Number.isInteger(response?.position) ? response : null;
  } catch {
    return null;
  }
}
