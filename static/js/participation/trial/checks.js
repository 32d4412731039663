/** Entry check: window, screen rhythm, and the person's own words on their sight. Nothing here excludes anybody. */
import { fits, neededWindow } from "./environment.js";
import { measureRefresh, refreshFaults } from "./frames.js";
import { areTimed } from "./tasks/index.js";

/** What is known of the person before the first trial: their own words, and how large a pixel is. */
const keyOf = (run) => `humanexp.self-report.${run.key}`;

/** The server has it now: nothing about a person stays in a browser that others may use. */
export function forgetSelfReport(run) {
  run.local.removeItem(keyOf(run));
}

/** Shows the page once a session; the answers go to run.selfReport and run.asked. */
export async function checkEntry(run) {
  const { screens, view, local } = run;
  const key = keyOf(run);
  const kept = local.getItem(key);
  if (kept) {
    takeIn(run, JSON.parse(kept));
    return;
  }
  const isTimed = showQuestions(run);
  if (!isTimed) {
    const answers = await submitted(screens.find("form"), screens, () => null);
    takeIn(run, answers);
    local.setItem(key, JSON.stringify(answers));
    return;
  }
  const { protocol } = run.session;
  const showWindow = () => {
    const needed = neededWindow(view, protocol);
    tell(screens, "window", fits(view, protocol), {
      width: view.innerWidth,
      height: view.innerHeight,
      min_width: needed.width,
      min_height: needed.height,
    });
  };
  showWindow();
  view.addEventListener("resize", showWindow);
  const measuring = showRefresh(run);
  const again = () => showRefresh(run);
  const againButton = screens.find("[data-action=measure]");
  againButton.addEventListener("click", again);
  // Listens from the start: who is quicker than the measurement must not send the form to the server.
  // A window that cannot hold the pictures is said here, before anybody has done a trial.
  const tooSmall = () => (fits(view, protocol) ? null : screens.message("window-first"));
  const submitting = submitted(screens.find("form"), screens, tooSmall);
  await measuring;
  const answers = await submitting;
  takeIn(run, answers);
  againButton.removeEventListener("click", again);
  view.removeEventListener("resize", showWindow);
  local.setItem(key, JSON.stringify(answers));
}

/** Only what this study asks. @returns {boolean} whether it has pictures that are shown for a limited time */
export function showQuestions(run) {
  const { screens, view } = run;
  screens.show("checks");
  // What is disabled is in no form: an unasked question has no answer, not even the one that is marked beforehand.
  for (const part of screens.findAll("[data-step]")) part.disabled = part.hidden = !run.session.set_up.includes(part.dataset.step);
  const inSeconds = (ms) => (ms / 1000).toLocaleString(run.document?.documentElement.lang);
  const stated = { ...run.session.protocol, ...run.stated };
  screens.fill({ response_s: inSeconds(stated.response_ms), longer_s: inSeconds(run.session.longer_window_ms ?? 0) });
  for (const part of screens.findAll("[data-full-screen]")) part.hidden = !view.document.fullscreenEnabled;
  const isTimed = areTimed(run.session.blocks.map(({ task }) => task));
  for (const part of screens.findAll("[data-timed]")) part.hidden = !isTimed;
  for (const part of screens.findAll("[data-for-task]")) part.hidden = !run.session.blocks.some(({ task }) => part.dataset.forTask.split(" ").includes(task));
  return isTimed;
}

/** Of sight and knowledge every study asks; the rest belongs to the set-up that a study wants. */
function takeIn(run, answers) {
  const wanted = Object.entries(answers);
  run.asked = Object.fromEntries(wanted.filter(([name]) => run.session.set_up.includes(name)));
  run.selfReport = Object.fromEntries(wanted.filter(([name]) => !(name in run.asked)));
}

/** Measures the screen and says in one line what came of it; the trials record it anyway. */
async function showRefresh(run) {
  const { screens } = run;
  const button = screens.find("[data-action=measure]");
  button.hidden = true;
  tell(screens, "refresh", null, {});
  run.refresh = await measureRefresh({ raf: run.raf });
  const faults = refreshFaults(run.refresh);
  tell(screens, "refresh", faults.length === 0, { rate: Math.round(1000 / run.refresh.medianMs) });
  button.hidden = faults.length === 0;
}

/** Says how the window or the screen is; `passed` is null while nobody knows yet. */
export function tell(screens, check, passed, values) {
  const line = screens.find(`[data-check="${check}"]`);
  if (!line) return;
  const state = passed === null ? "pending" : passed ? "good" : "warn";
  line.dataset.result = state;
  line.querySelector("[data-text]").textContent = screens.message(`${check}-${state}`, values);
}

/** @param {() => string|null} fault what else keeps the person from going on */
function submitted(form, screens, fault) {
  return new Promise((resolve) => {
    const onSubmit = (event) => {
      event.preventDefault();
      const answers = Object.fromEntries(new FormData(form));
      const open = [...form.querySelectorAll("fieldset:not([hidden])")].find((part) => !(part.dataset.name in answers));
      const complaint = form.querySelector("[data-complaint]");
      const trouble = open ? screens.message("answer-missing") : fault();
      complaint.hidden = !trouble;
      if (trouble) {
        complaint.textContent = trouble;
        open?.querySelector("input").focus();
        return;
      }
      // Still listens: a second press, while the screen is being measured, must not send the form to the server.
      resolve(answers);
    };
    form.addEventListener("submit", onSubmit);
    form.addEventListener("change", () => {
      form.querySelector("[data-complaint]").hidden = true;
    });
  });
}
