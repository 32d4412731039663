/** Two questions about one picture: what is answered, what is still open, when the person may go on. No DOM. */

/** The two questions, in the order of the answer "yes-no". */
export const QUESTIONS = Object.freeze(["shows", "usable"]);

/** The second press of a double click falls on the next picture: it is no answer to it. */
export const DOUBLE_CLICK_MS = 300;

/** More changes than these on one picture are a stuck key; the first ones and the latest are kept. */
const MOST_CLICKS = 200;

export class Judgement {
  #shownAt;
  #answers = new Map();
  #clicks = [];
  #endedAt = null;

  /** @param {{shownAt: number}} options timestamp of the frame that showed the picture */
  constructor({ shownAt }) {
    this.#shownAt = shownAt;
  }

  /** @returns {string|null} the first question without an answer */
  get open() {
    return QUESTIONS.find((name) => !this.#answers.has(name)) ?? null;
  }

  /** Answers a question; until the person goes on an answer can be changed. */
  choose({ question, answer, at, input }) {
    if (this.#endedAt !== null) return;
    this.#answers.set(question, answer);
    if (this.#clicks.length === MOST_CLICKS) this.#clicks.pop();
    this.#clicks.push({ choice: `${question}:${answer}`, t_ms: Math.max(0, at - this.#shownAt), input });
  }

  /** @returns {"ignored"|"open"|"done"} what became of the wish to go on */
  submit(at) {
    if (this.#endedAt !== null || at - this.#shownAt < DOUBLE_CLICK_MS) return "ignored";
    if (this.open) return "open";
    this.#endedAt = at;
    return "done";
  }

  /** @returns {{response: string, rt_ms: number, clicks: object[]}} once both questions are answered */
  get result() {
    return {
      response: QUESTIONS.map((name) => this.#answers.get(name)).join("-"),
      rt_ms: this.#endedAt - this.#shownAt,
      clicks: this.#clicks.map((click) => ({ ...click })),
    };
  }
}
