/** A few short pages before a task; where pictures are timed, one of them plays the real timing. */
import { coarse, drawing, noise, pictureOf, play, slowed, speckled } from "./example.js";
import { layOut, rowsOf } from "./grid.js";
import { showOwnInstructions } from "./own_instructions.js";
import { Surface } from "./surface.js";
import { taskOf } from "./tasks/index.js";

/** The answer that is no label. */
const NONE = "none";

/** The first look at the example is this many times slower. */
const SLOW = 6;

/** What is done to a drawing of a worked example, by the word that tasks use for it. */
const CHANGES = {
  unchanged: (document, size, image) => drawing(document, size, image).canvas,
  speckled,
  coarse,
};

/** @param {object} run @param {string} task */
export async function instruct(run, task) {
  const { screens, session } = run;
  const { protocol } = session;
  const stated = { ...protocol, ...run.stated };
  const choices = session.choices[task] ?? [];
  const alternatives = session.alternatives?.[task];
  const labels = choices.filter(({ name }) => name !== NONE).length;
  screens.show(`instructions-${task}`, {
    stimulus_s: seconds(stated.stimulus_ms, run.document),
    response_s: seconds(stated.response_ms, run.document),
    answers: String(alternatives ?? labels),
  });
  showOwnInstructions(run);
  for (const part of screens.findAll("[data-if]")) part.hidden = !holds(part.dataset.if, protocol);
  const offered = alternatives ? alternatives + choices.length - labels : choices.length;
  const rows = rowsOf(offered, alternatives ? undefined : session.columns?.[task]) > 1 ? "several" : "one";
  const kind = alternatives ? (alternatives === 2 ? "two" : "some") : "all";
  for (const part of screens.findAll("[data-offered]")) part.hidden = part.dataset.offered !== kind;
  for (const part of screens.findAll("[data-none]")) part.hidden = labels === choices.length;
  for (const part of screens.findAll("[data-rows]")) part.hidden = part.dataset.rows !== rows;
  const isOfNumbers = choices.some(({ label }) => /^[1-9]$/.test(label));
  for (const part of screens.findAll("[data-numbers]")) part.hidden = !isOfNumbers;
  const list = screens.find("[data-choices]");
  list?.replaceChildren(...choices.map((choice) => choiceCard(run.document, choice)));
  if (list) layOut(list, choices, session.columns?.[task]);
  const pages = screens.findAll("[data-page]");
  let at = 0;
  // The page with the example is left only once it was played.
  let isWatched = !screens.find("canvas");
  // Found now: an example may still be playing when the person has gone on to another screen.
  const next = screens.find("[data-action=next]");
  const notes = screens.findAll("[data-watch-first]");
  const allowNext = () => {
    const mustWatch = !isWatched && pages[at]?.querySelector("canvas") !== null;
    next.disabled = mustWatch;
    for (const note of notes) note.hidden = !mustWatch;
  };
  const onWatched = () => {
    isWatched = true;
    allowNext();
  };
  const example = screens.find("canvas") && prepareExample(run, taskOf(task).examples, onWatched);
  while (at < pages.length) {
    turnTo(screens, pages, at);
    allowNext();
    const action = await screens.pressed("next", "back");
    at = action === "back" ? Math.max(0, at - 1) : at + 1;
  }
  await example;
}

function holds(condition, protocol) {
  const isLast = protocol.click_policy === "last";
  const isCross = protocol.fixation_shape === "cross";
  return { last: isLast, first: !isLast, cross: isCross, square: !isCross }[condition];
}

/** With the decimal sign of the page's language. */
function seconds(ms, { documentElement }) {
  return (Math.round(ms / 10) / 100).toLocaleString(documentElement.lang || "en");
}

function turnTo(screens, pages, at) {
  pages.forEach((page, index) => {
    page.hidden = index !== at;
  });
  screens.find("[data-action=back]").hidden = at === 0;
  screens.fill({ page: at + 1, pages: pages.length });
  pages[at].querySelector("h1").focus({ preventScroll: true });
}

/** A choice as the instructions show it. */
export function choiceCard(document, choice) {
  const card = document.createElement("li");
  if (choice.icon) {
    const icon = document.createElement("img");
    icon.alt = "";
    icon.src = choice.icon;
    card.append(icon);
  }
  card.append(choice.label);
  return card;
}

/** Before another round of practice: what helps, and the example standing still. @param {object} run @param {object} block */
export async function explainAgain(run, { task, needed }) {
  const { screens } = run;
  screens.show(`instructions-again-${task}`, { needed });
  const icons = await exampleIcons(run);
  drawStills(run, showingsOf(run, taskOf(task).examples, icons), icons);
  await screens.pressed("next");
}

/** By the name of each example, what it shows. */
function showingsOf({ document, session }, examples, icons) {
  const size = session.protocol.size_px;
  const mask = noise(document, size, 7);
  return Object.fromEntries(
    Object.entries(examples).map(([name, changes], example) => [
      name,
      changes.map((change, index) => ({ stimulus: CHANGES[change](document, size, icons[index].image, 11 + 7 * example + index), mask })),
    ]),
  );
}

/** Every example as a row of still pictures, with its answer. */
function drawStills({ screens, document }, kinds, icons) {
  const stills = screens.find("[data-stills]");
  stills.hidden = false;
  stills.replaceChildren(
    ...Object.entries(kinds).map(([name, showings]) => {
      const figure = document.createElement("figure");
      const row = document.createElement("div");
      row.className = "stills__row";
      row.append(...showings.flatMap(({ stimulus, mask }) => [stimulus, mask].map((picture) => copyOf(document, picture))));
      const answer = document.createElement("figcaption");
      answer.textContent = screens.message(`example-${name}`, { label: icons[0].label });
      figure.append(row, answer);
      return figure;
    }),
  );
}

function copyOf(document, picture) {
  const copy = document.createElement("canvas");
  copy.className = "stills__picture";
  copy.width = picture.width;
  copy.height = picture.height;
  copy.setAttribute("aria-hidden", "true"); // the caption says what it shows
  copy.getContext("2d", { alpha: false }).drawImage(picture, 0, 0);
  return copy;
}

async function prepareExample(run, examples, onWatched) {
  const { screens, session } = run;
  const { protocol } = session;
  const surface = new Surface({
    canvas: screens.find("canvas"),
    view: run.view,
    protocol,
    centred: false,
  });
  surface.fixation();
  const buttons = screens.findAll("[data-play]");
  const result = screens.find("[data-example-answer]");
  const icons = await exampleIcons(run);
  const kinds = showingsOf(run, examples, icons);
  if (run.view.matchMedia("(prefers-reduced-motion: reduce)").matches) {
    drawStills(run, kinds, icons);
    onWatched();
  }
  for (const button of buttons) {
    button.onclick = async () => {
      for (const other of buttons) other.disabled = true;
      result.textContent = "";
      await play({
        showings: kinds[button.dataset.play],
        protocol: button.dataset.pace === "slow" ? slowed(protocol, SLOW) : protocol,
        refreshMs: run.refresh.medianMs,
        surface,
        clock: run.clock,
        raf: run.raf,
      });
      result.textContent = screens.message(`example-${button.dataset.play}`, { label: icons[0].label });
      onWatched();
      for (const other of buttons) other.disabled = false;
      button.focus({ preventScroll: true });
    };
  }
}

/** The drawings of the template, decoded; with their labels where they are answers. */
async function exampleIcons({ screens, session, document }) {
  const images = screens.findAll("[data-example-icon]");
  const choices = session.choices.categorisation ?? [];
  const shown = images.map((image) => {
    const choice = choices.find(({ name }) => name === image.dataset.exampleIcon);
    return { image, label: choice?.label ?? "" };
  });
  // Where the answers have no such thing, the example is the first of them: its icon, or its word.
  if (choices.length && !shown[0].label) shown[0] = { image: pictureOf(document, choices[0]), label: choices[0].label };
  await Promise.all(shown.map(({ image }) => image.decode().catch(() => {}))); // the example then shows its ground only
  return shown;
}
