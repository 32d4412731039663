/** "Stop and leave": at any time, but never in the middle of a trial, which would only spoil it. */
import { patiently } from "./pause.js";

/** Grey before the next trial for who has stayed. */
const SETTLE_MS = 800;

export class Leaving {
  #run;
  #dialog;
  #isAsked = false;

  /** @param {object} run as the flow has it */
  constructor(run) {
    this.#run = run;
    this.#dialog = run.document.querySelector("[data-leave-dialog]");
    const button = run.document.querySelector("[data-leave]");
    button.addEventListener("click", () => {
      button.blur();
      if (run.document.body.dataset.state === "trial") this.#isAsked = true;
      else this.#ask();
    });
  }

  /** Asks who has pressed the button during a trial; resolves when they stay. */
  async considered() {
    if (!this.#isAsked) return;
    this.#isAsked = false;
    await this.#ask();
    await this.#run.sleep(SETTLE_MS);
  }

  /** Never resolves for who leaves: the page is loaded anew and says goodbye. */
  #ask() {
    const dialog = this.#dialog;
    const trouble = dialog.querySelector("[data-leave-trouble]");
    trouble.hidden = true;
    dialog.showModal();
    dialog.querySelector('[data-leave-answer="stay"]').focus();
    return new Promise((resolve) => {
      const settle = () => {
        dialog.removeEventListener("click", listen);
        dialog.removeEventListener("close", settle);
        if (dialog.open) dialog.close();
        resolve();
      };
      const listen = async (event) => {
        const answer = event.target.closest("[data-leave-answer]")?.dataset.leaveAnswer;
        if (answer === "stay") settle();
        if (answer !== "keep" && answer !== "delete") return;
        trouble.hidden = true;
        try {
          await leave(this.#run, { keep: answer === "keep" });
        } catch {
          trouble.hidden = false;
        }
      };
      dialog.addEventListener("click", listen);
      dialog.addEventListener("close", settle); // Esc
    });
  }
}

/** Ends the session for good. The page is loaded anew, and says goodbye. */
async function leave(run, how) {
  await end(run, how);
  run.isReloading = true;
  run.view.location.reload();
}

/** Ends the session for good. @returns {Promise<string>} its state */
export async function end(run, how) {
  const { state } = await patiently(() => run.api.withdraw(how), { sleep: run.sleep, attempts: 3 });
  run.outbox?.forgetBefore(Number.POSITIVE_INFINITY);
  run.begun.clear();
  return state;
}

/** Says of the answers of somebody who has left what became of them. @param {ParentNode} root @param {boolean} areKept */
export function tellLeft(root, areKept) {
  for (const part of root.querySelectorAll("[data-left]")) part.hidden = (part.dataset.left === "kept") !== areKept;
}
