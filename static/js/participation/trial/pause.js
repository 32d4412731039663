/** Waiting: how long before the next attempt, and how many attempts. */

const FIRST_MS = 400;
const LONGEST_MS = 15_000;

/**
 * Exponential back-off with jitter, so that three hundred windows do not come back in the same instant.
 *
 * @param {number} attempt 1 after the first failure
 * @param {() => number} random uniform in [0, 1)
 * @param {number} [longest] milliseconds
 * @returns {number} milliseconds
 */
export function backOff(attempt, random, longest = LONGEST_MS) {
  const ceiling = Math.min(longest, FIRST_MS * 2 ** (attempt - 1));
  return ceiling * (0.5 + 0.5 * random());
}

/** While the connection is lost it is looked for this often. */
export const PROBE_MS = 2_000;

/**
 * Resolves once the server answers, whatever it says.
 *
 * @param {() => Promise<object>} probe
 * @param {(ms: number) => Promise<void>} sleep
 */
export async function reached(probe, sleep) {
  for (;;) {
    await sleep(PROBE_MS);
    try {
      await probe();
      return;
    } catch (error) {
      if (error.type !== "no-reply") return;
    }
  }
}

/**
 * Tries a request that may be repeated until it succeeds, is refused for good, or has failed too often.
 *
 * @template T
 * @param {() => Promise<T>} attempt
 * @param {object} options
 * @param {(ms: number) => Promise<void>} options.sleep
 * @param {() => number} [options.random]
 * @param {number} [options.attempts]
 * @returns {Promise<T>}
 */
export async function patiently(attempt, { sleep, random = Math.random, attempts = 5 }) {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!error.mayPass || count >= attempts) throw error;
      await sleep(backOff(count, random));
    }
  }
}
