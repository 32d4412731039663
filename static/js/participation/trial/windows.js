/** Whether this browser has the session open in another window, too: the younger one says that it goes on here. */

/** A window that is open answers at once; a throttled one within this time. */
const ANSWER_MS = 300;

export class OpenWindows {
  #Channel;
  #later;
  #channel = null;

  /**
   * @param {object} options
   * @param {typeof BroadcastChannel|undefined} options.Channel old browsers have none: nothing is said there
   * @param {(action: () => void, ms: number) => (() => void)} options.later
   */
  constructor({ Channel, later }) {
    this.#Channel = Channel;
    this.#later = later;
  }

  /**
   * Asks the others, and from now on answers whoever asks.
   *
   * @param {string} session names the session among all that this browser has
   * @returns {Promise<boolean>} whether one answered
   */
  ask(session) {
    if (!this.#Channel) return Promise.resolve(false);
    const channel = new this.#Channel(`humanexp.windows.${session}`);
    this.#channel = channel;
    return new Promise((resolve) => {
      channel.onmessage = ({ data }) => {
        if (data === "who") channel.postMessage("here");
        if (data === "here") resolve(true);
      };
      channel.postMessage("who");
      this.#later(() => resolve(false), ANSWER_MS);
    });
  }

  /** This one has stopped: it answers no more. */
  close() {
    this.#channel?.close();
    this.#channel = null;
  }
}
