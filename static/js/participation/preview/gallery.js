/** Shows one of the participants' pages in a frame of the gallery, with examples filled in. Nothing is sent, nothing can be pressed. */
import { Panels } from "../../recruitment/take/panels.js";
import { drawCard } from "../trial/calibration.js";
import { showQuestions, tell } from "../trial/checks.js";
import { tellAbout } from "../trial/closing.js";
import { drawDot } from "../trial/distance.js";
import { drawing, pictureOf } from "../trial/example.js";
import { ChoiceGrid } from "../trial/grid.js";
import { explainAgain, instruct } from "../trial/instructions.js";
import { tellLeft } from "../trial/leaving.js";
import { showOwnInstructions } from "../trial/own_instructions.js";
import { announceRound } from "../trial/ready.js";
import { Screens } from "../trial/screens.js";
import { draw, showQuestion } from "../trial/tasks/validation.js";

const { name, part, task, session, examples } = JSON.parse(document.getElementById("gallery-page").textContent);
const screens = new Screens(document);
const panels = new Panels(document);
const run = { screens, session, document, view: window };

/** When the time of the site that sent the participant ends. */
const ENDS = { time: "15:30" };
const fillEnd = () => screens.fill(ENDS);

/** Pages of the run on which something is filled in. */
const FILLED = {
  checks: () => {
    showQuestions(run);
    const { clientWidth: width, clientHeight: height } = document.documentElement;
    tell(screens, "window", true, { width, height });
    tell(screens, "refresh", true, { rate: 60 });
  },
  calibration: () => drawCard(screens),
  distance: () => {
    screens.fill({ time: 1, times: 3 });
    drawDot(screens);
  },
  ready: () => {
    announceRound(run, { block: session.blocks[0] }, session.blocks[0].last + 1);
    screens.fill({ loading: screens.message("pictures-ready") });
    screens.find("progress").value = 1;
    screens.find("[data-action=start]").disabled = false;
  },
  absent: () => {
    screens.find("[data-deadline]").hidden = false;
    screens.fill({ deadline: screens.message("deadline", ENDS) });
  },
  deadline: fillEnd,
  "time-short": fillEnd,
  "time-over": fillEnd,
  validation: async () => {
    showOwnInstructions(run);
    showQuestion(screens, examples.question, { kind: "main", number: 1, of: session.blocks[0].last + 1 });
    const { question } = examples;
    const canvas = screens.find("canvas");
    const icon = document.querySelector(`[data-example-icon="${question.wanted}"]`) ?? pictureOf(document, question);
    await icon.decode();
    draw(canvas, drawing(document, session.protocol.size_px, icon).canvas);
  },
  closing: () => {
    for (const question of screens.findAll("[data-question]")) question.hidden = !examples.closing.includes(question.dataset.question);
    screens.find("[data-about-texts]").hidden = !screens.findAll("[data-question]:not([hidden]) textarea").length;
  },
  done: () => {
    screens.fill({ code: examples.completion_code });
    if (screens.find(".debrief")) tellAbout(run, { debrief: examples.debrief });
  },
};

async function showScreen() {
  if (name === `instructions-again-${task}`) explainAgain(run, { task, needed: examples.needed[task] });
  else if (name === `instructions-${task}`) {
    instruct(run, task);
    screens.findAll("[data-page]").forEach((page, index, { length }) => {
      page.hidden = index + 1 !== part;
      screens.fill({ page: part, pages: length });
    });
    screens.find("[data-action=back]").hidden = part === 1;
  } else {
    screens.show(name);
    await FILLED[name]?.();
  }
}

if (document.querySelector(`[data-screen="${name}"]`)) await showScreen();
if (document.querySelector(`[data-panel="${name}"]`)) panels.show(name, { focus: false });
document.body.dataset.state = name;
panels.fill({
  progress: panels.message("progress", { answered: 52, total: session.blocks.at(-1).last + 1 }),
  "completion-code": examples.completion_code,
  "deletion-code": examples.deletion_code,
  refusal: examples.refusal,
});
const bar = panels.find("[data-progress]");
if (bar?.matches("progress")) Object.assign(bar, { max: session.blocks.at(-1).last + 1, value: 52 });
const line = { count: screens.message("progress", { done: 52, total: session.blocks.at(-1).last + 1 }), saved: screens.message("saved") };
for (const part of document.querySelectorAll("[data-progress] [data-part]")) part.textContent = line[part.dataset.part];
const codes = document.querySelectorAll("[data-deletion]");
for (const code of codes) code.hidden = false;
// The code is for answers that have stayed.
tellLeft(document, codes.length > 0);
if (name === "leave") {
  document.querySelector("[data-leave-dialog]").showModal();
  document.querySelector('[data-leave-answer="stay"]').focus();
}
if (name === "trial") {
  const grid = new ChoiceGrid({ root: document.querySelector("[data-grid]"), clock: () => 0 });
  const [choices, alternatives] = [session.choices[task], session.alternatives?.[task]];
  // A trial that offers some labels only, as it might come.
  const offered = choices.filter(({ name: answer }, place) => !alternatives || place < alternatives || answer === "none");
  await grid.fill(offered, alternatives ? undefined : session.columns?.[task], choices);
  grid.show();
}
document.body.inert = true;
