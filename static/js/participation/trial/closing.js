/** The questions after the last trial. Once they are answered, the page that opened this window leads out by itself. */
import { patiently } from "./pause.js";

const ATTEMPTS = 3;

/**
 * Shows the questions that are still asked, until Finish has been pressed and what was said is stored. Where Finish leads
 * to another site, the page also says what the study is about: nothing comes after it.
 *
 * @param {object} run
 * @param {{closing: string[]}} end the server's reply to the last answer
 */
export async function askAtTheEnd(run, end) {
  const { screens } = run;
  const questions = end.closing;
  screens.show("closing");
  tellEnding(screens, end);
  if (run.wayOut) tellAbout(run, end);
  for (const part of screens.findAll("[data-question]")) part.hidden = !questions.includes(part.dataset.question);
  for (const part of screens.findAll("[data-asks]")) part.hidden = questions.length === 0;
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
    if (questions.length === 0) return;
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

/** Whether the session went to its last trial, or why it ended before. */
export function tellEnding(screens, { qualified, practised }) {
  const early = qualified === false ? "early" : "whole";
  const ending = practised === false ? "practice" : early;
  for (const part of screens.findAll("[data-ending]")) part.hidden = part.dataset.ending !== ending;
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

/** What the study is about, in its own words where it has some, and a link to the person's own result where one is offered. */
export function tellAbout({ screens, view, document }, { debrief, own_result: address }) {
  if (debrief) {
    screens.fill({ debrief });
    for (const part of screens.findAll("[data-about]")) part.hidden = true;
    screens.find("[data-value=debrief]").hidden = false;
    screens.find(".debrief").hidden = false;
  }
  const line = screens.find("[data-own-result]");
  line.hidden = !address;
  if (!address) return;
  const url = new URL(address, view.location.href);
  url.searchParams.set("language", document.documentElement.lang);
  line.querySelector("a").href = url.href;
}
