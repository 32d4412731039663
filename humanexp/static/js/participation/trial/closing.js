/** The questions after the last trial. Once they are answered, the page that opened this window leads out by itself. */
import { patiently } from "./pause.js";

const ATTEMPTS = 3;

/**
 * Shows the questions that are still asked, until Finish has been pressed and what was said is stored.
 *
 * @param {object} run
 * @param {string[]} questions
 */
export async function askAtTheEnd(run, questions) {
  const { screens } = run;
  screens.show("closing");
  for (const part of screens.findAll("[data-question]")) part.hidden = !questions.includes(part.dataset.question);
  screens.find("[data-about-texts]").hidden = !screens.findAll("[data-question]:not([hidden]) textarea").length;
  const form = screens.find("form");
  const trouble = screens.find("[data-closing-trouble]");
  const finish = screens.find("[data-action=finish]");
  // Whoever writes what went wrong has said that something did.
  form.elements.namedItem("problem").addEventListener("input", () => {
    form.querySelector("[name=went_wrong][value=yes]").checked = true;
  });
  for (;;) {
    await submission(form);
    finish.disabled = true;
    trouble.hidden = true;
    try {
      await patiently(() => run.api.closing(saidIn(form)), { sleep: run.sleep, attempts: ATTEMPTS });
      return;
    } catch (error) {
      if (!error.mayPass) throw error;
      trouble.hidden = false;
      finish.disabled = false;
    }
  }
}

/** Only what was asked, and nothing that was left empty. */
function saidIn(form) {
  const isAsked = (name) => !form.querySelector(`[name=${name}]`).closest("[data-question]").hidden;
  return Object.fromEntries([...new FormData(form)].filter(([name, said]) => said.trim() && isAsked(name)));
}

function submission(form) {
  return new Promise((resolve) => {
    const listen = (event) => {
      event.preventDefault();
      resolve();
    };
    form.addEventListener("submit", listen, { once: true });
  });
}
