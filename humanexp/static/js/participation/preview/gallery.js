/** Shows one of the participants' pages in a frame of the gallery. Nothing is sent, and nothing can be pressed. */
import { ChoiceGrid } from "../trial/grid.js";
import { choiceCard } from "../trial/instructions.js";

const { name, part, choices, steps } = JSON.parse(document.getElementById("gallery-page").textContent);

/** What is filled in while the study runs stands there by its name. */
function showNames(root) {
  for (const element of root.querySelectorAll("[data-value]")) {
    if (!element.textContent.trim()) element.textContent = `{${element.dataset.value}}`;
  }
  for (const check of root.querySelectorAll("[data-check]")) check.querySelector("[data-text]").textContent = `{${check.dataset.check}}`;
}

function showOne(mark) {
  for (const section of document.querySelectorAll(`[data-${mark}]`)) {
    section.hidden = section.dataset[mark] !== name && !(name === "start" && section.dataset[mark] === "consent");
    if (section.hidden) continue;
    section.querySelectorAll("[data-page]").forEach((page, index) => {
      page.hidden = index + 1 !== part;
    });
    section.querySelector("[data-choices]")?.replaceChildren(...choices.map((choice) => choiceCard(document, choice)));
    for (const question of section.querySelectorAll("[data-question], [data-about-texts]")) question.hidden = false;
    for (const step of section.querySelectorAll("[data-step]")) step.hidden = !steps.includes(step.dataset.step);
    for (const code of section.querySelectorAll("[data-deletion]")) code.hidden = false;
    showNames(section);
  }
}

document.body.dataset.state = name;
showOne("screen");
showOne("panel");
if (name === "leave") document.querySelector("[data-leave-dialog]").showModal();
if (name === "trial") {
  const grid = new ChoiceGrid({ root: document.querySelector("[data-grid]"), clock: () => 0 });
  await grid.fill(choices);
  grid.show();
}
document.body.inert = true;
