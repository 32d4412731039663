/** Is it one, and could it be used as one? A picture for as long as the person likes, a wanted category, two yes/no questions. */
import { tellOfDeadline } from "../deadline.js";
import { Judgement, QUESTIONS } from "../judgement.js";
import { showOwnInstructions } from "../own_instructions.js";
import { ENGINE_VERSION } from "../trial.js";

export const validation = {
  name: "validation",
  isTimed: false,
  needs: () => ({ showings: 1, withMask: false, withQuestion: true }),
  open: openStage,
};

/** @returns {Promise<import("./index.js").Stage>} */
async function openStage(run, block) {
  const { screens, session } = run;
  screens.show("validation");
  showOwnInstructions(run);
  const form = screens.find("[data-judge]");
  const button = screens.find("[data-action=judged]");
  const input = inputOf(form);
  return {
    async attend() {
      if (await tellOfDeadline(run)) screens.show("validation");
    },

    async ask({ position, pictures }) {
      reset(form);
      showQuestion(screens, pictures.question, { kind: block.kind, number: position - block.first + 1, of: block.last - block.first + 1 });
      draw(screens.find("canvas"), pictures.stimuli[0]);
      run.view.scrollTo(0, 0);
      screens.find("[data-heading]").focus({ preventScroll: true });
      const shownAt = await new Promise((resolve) => run.raf(resolve));
      run.watch.start();
      const answer = await answered({ form, screens, shownAt, input, clock: run.clock });
      return { ...answer, timing: record(run, { canvas: screens.find("canvas"), pictures, clicks: answer.clicks }) };
    },

    async leave({ position, response, hasFeedback }) {
      if (!hasFeedback) return;
      lock(form, true);
      button.disabled = true;
      const feedback = (await run.outbox.acknowledged(position))?.feedback;
      if (feedback) {
        const right = feedback.category;
        right.split("-").forEach((answer, index) => {
          radio(form, QUESTIONS[index], answer).closest("label").dataset.mark = "right";
        });
        say(screens, screens.message(`judge-${feedback.correct ? "right" : "wrong"}-${right}`), feedback.correct ? "right" : "wrong");
        if (!feedback.correct && session.protocol.feedback_sound) run.lowTone();
      }
      button.disabled = false;
      button.textContent = screens.message("judge-next");
      button.focus({ preventScroll: true });
      // On a phone the sentence and the way on lie below the questions.
      button.closest("p").scrollIntoView({ block: "nearest" });
      await submitted(form);
      lock(form, false);
    },
  };
}

/** What is asked of a picture, and which one of how many it is. */
export function showQuestion(screens, question, { kind, number, of }) {
  screens.fill({
    count: screens.message(`judge-count-${kind}`, { number, of }),
    wanted: question.label,
    definition: question.definition,
  });
  const link = screens.find("[data-link]");
  link.hidden = !question.link;
  if (question.link) link.href = question.link;
  QUESTIONS.forEach((name, index) => {
    fieldset(screens.find("[data-judge]"), name).querySelector("legend").textContent = question.questions[index];
  });
  screens.find("[data-action=judged]").textContent = screens.message("judge-continue");
}

function reset(form) {
  form.reset();
  for (const label of form.querySelectorAll("label")) delete label.dataset.mark;
  form.querySelector("[data-complaint]").hidden = true;
  const verdict = form.querySelector("[data-verdict]");
  verdict.textContent = "";
  verdict.dataset.kind = "";
}

export function draw(canvas, bitmap) {
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext("2d", { alpha: false }).drawImage(bitmap, 0, 0);
}

/** Resolves when both questions are answered and the person goes on. */
function answered({ form, screens, shownAt, input, clock }) {
  const judgement = new Judgement({ shownAt });
  const complaint = form.querySelector("[data-complaint]");
  const onChange = (event) => {
    complaint.hidden = true;
    const { name: question, value: answer } = event.target;
    judgement.choose({ question, answer, at: timeOf(event, clock), input: input.latest });
  };
  form.addEventListener("change", onChange);
  return new Promise((resolve) => {
    const onSubmit = (event) => {
      event.preventDefault();
      const outcome = judgement.submit(timeOf(event, clock));
      if (outcome === "open") {
        complaint.textContent = screens.message("judge-missing");
        complaint.hidden = false;
        fieldset(form, judgement.open).querySelector("input").focus();
      }
      if (outcome !== "done") return;
      form.removeEventListener("change", onChange);
      form.removeEventListener("submit", onSubmit);
      resolve(judgement.result);
    };
    form.addEventListener("submit", onSubmit);
  });
}

function submitted(form) {
  return new Promise((resolve) => {
    const onSubmit = (event) => {
      event.preventDefault();
      form.removeEventListener("submit", onSubmit);
      resolve();
    };
    form.addEventListener("submit", onSubmit);
  });
}

/** What the latest press came from: a change of a radio button does not say. */
function inputOf(form) {
  const input = { latest: "pointer" };
  form.addEventListener("keydown", () => {
    input.latest = "key";
  });
  form.addEventListener("pointerdown", ({ pointerType }) => {
    input.latest = pointerType === "touch" ? "touch" : "pointer";
  });
  return input;
}

function lock(form, isLocked) {
  for (const name of QUESTIONS) fieldset(form, name).disabled = isLocked;
}

function say(screens, text, kind) {
  const verdict = screens.find("[data-verdict]");
  verdict.textContent = text;
  verdict.dataset.kind = kind;
}

const fieldset = (form, name) => form.querySelector(`fieldset[data-question="${name}"]`);
const radio = (form, name, value) => form.querySelector(`input[name="${name}"][value="${value}"]`);

/** Event time, not handler time; engines that stamp events with the wall clock are brought back to ours. */
function timeOf(event, clock) {
  const now = clock();
  return Math.abs(now - event.timeStamp) < 60_000 ? event.timeStamp : now;
}

/** What there is to record where nothing is timed: how large the picture was, and whether the page was in front. */
function record({ watch, view }, { canvas, pictures, clicks }) {
  const dpr = view.devicePixelRatio || 1;
  const cssPx = canvas.getBoundingClientRect().width;
  return {
    ...watch.seen,
    dpr,
    css_px: cssPx,
    canvas_px: Math.round(cssPx * dpr),
    decode_ok: pictures.decodeOk,
    n_clicks: clicks.length,
    engine_version: ENGINE_VERSION,
  };
}
