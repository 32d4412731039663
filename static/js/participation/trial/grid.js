/** The choices on the screen: pointer and keyboard give answers, nothing is laid out while a trial runs. */
import { readKey } from "./keys.js";

/** Choices up to this many stand in one row. */
const ONE_ROW = 4;

/** Columns of so many choices, where nothing states them. */
const columnsOf = (count) => (count <= ONE_ROW ? count : Math.ceil(Math.sqrt(count)));

/** Rows of so many choices. @param {number} [columns] as stated */
export const rowsOf = (count, columns) => Math.ceil(count / (columns ?? columnsOf(count)));

/** Words of this many letters fit below an icon. */
const SHORT = 9;

/**
 * Lays choices out on an element by the properties and attributes that its style sheet reads.
 *
 * @param {HTMLElement} root @param {Array<{label: string, icon?: string}>} choices @param {number} [columns] as stated
 * @param {Array<{label: string}>} [all] those of other trials, too: with their words buttons are as large in every trial
 */
export function layOut(root, choices, columns, all = choices) {
  const letters = Math.max(0, ...all.flatMap(({ label }) => label.split(/\s+/)).map((word) => word.length));
  root.style.setProperty("--columns", String(columns ?? columnsOf(choices.length)));
  root.style.setProperty("--rows", String(rowsOf(choices.length, columns)));
  root.style.setProperty("--longest", String(letters));
  // Words of which one has no icon, or too long for the room below one, are given more width, and broken where that is not enough.
  mark(root, "words", letters > SHORT || all.some(({ icon }) => !icon));
  mark(root, "pair", choices.length === 2 && rowsOf(2, columns) === 1);
}

function mark({ dataset }, name, isSo) {
  if (isSo) dataset[name] = "";
  else delete dataset[name];
}

export class ChoiceGrid {
  /** @type {((answer: {choice: string, at: number, input: "pointer"|"touch"|"key"}) => boolean)|null} */
  onAnswer = null;
  #root;
  #document;
  #clock;
  #choices = [];
  #buttons = [];
  #columns = 1;
  #cursor = null;
  #row = null;
  #isShown = false;

  /**
   * @param {object} options
   * @param {HTMLElement} options.root
   * @param {() => number} options.clock same time base as Event.timeStamp
   */
  constructor({ root, clock }) {
    this.#root = root;
    this.#document = root.ownerDocument;
    this.#clock = clock;
    root.addEventListener("pointerdown", (event) => this.#onPointer(event));
    this.#document.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** @param {string} question what a screen reader says of the grid */
  ask(question) {
    this.#root.setAttribute("aria-label", question);
  }

  /**
   * Builds the buttons; icons are decoded before the promise resolves, so that showing the grid paints it whole.
   *
   * @param {Array<{name: string, label: string, icon?: string}>} choices in the order of the grid, row by row
   * @param {number} [columns] those of the grid; without them it is as square as can be
   * @param {Array<{label: string}>} [all] those of other trials, too
   */
  async fill(choices, columns, all = choices) {
    this.#choices = choices;
    this.#columns = columns ?? columnsOf(choices.length);
    const hasRows = rowsOf(choices.length, columns) > 1;
    const icons = [];
    this.#buttons = choices.map((choice, index) => {
      const button = this.#document.createElement("button");
      button.type = "button";
      button.tabIndex = -1;
      button.className = "choice";
      button.dataset.choice = choice.name;
      if (choice.icon) {
        const icon = this.#document.createElement("img");
        icon.alt = "";
        icon.draggable = false;
        icon.src = choice.icon;
        icons.push(icon);
        button.append(icon);
      }
      const label = this.#document.createElement("span");
      label.textContent = choice.label;
      button.append(label);
      // What the keyboard has to press; shown to those who use it, and only in the order of their grid.
      const column = String((index % this.#columns) + 1);
      button.dataset.keys = hasRows ? `${Math.floor(index / this.#columns) + 1} ${column}` : column;
      return button;
    });
    this.#root.dataset.columns = String(this.#columns);
    // On the parent, for the verdict below the grid is placed by them, too.
    layOut(this.#root.parentElement ?? this.#root, choices, columns, all);
    this.#root.replaceChildren(...this.#buttons);
    // A label without its icon is still an answer: a failed icon must not stop a session.
    await Promise.allSettled(icons.map((icon) => icon.decode()));
  }

  show() {
    this.#cursor = null;
    this.#choose(null);
    this.#isShown = true;
    this.#root.dataset.shown = "";
  }

  /** Takes the grid away with every mark on it. */
  hide() {
    this.#isShown = false;
    delete this.#root.dataset.shown;
    for (const button of this.#buttons) delete button.dataset.mark;
    this.#choose(null);
    if (this.#root.contains(this.#document.activeElement)) this.#document.activeElement.blur();
  }

  /** @param {string} name a choice @param {"chosen"|"right"|"wrong"} mark */
  mark(name, mark) {
    const index = this.#choices.findIndex((choice) => choice.name === name);
    if (index >= 0) this.#buttons[index].dataset.mark = mark;
  }

  #answer(index, event, input) {
    if (!this.#isShown || !this.onAnswer) return;
    // Event time, not handler time; engines that stamp events with the wall clock are brought back to ours.
    const now = this.#clock();
    const at = Math.abs(now - event.timeStamp) < 60_000 ? event.timeStamp : now;
    this.#choose(null);
    if (!this.onAnswer({ choice: this.#choices[index].name, at, input })) return;
    for (const button of this.#buttons) delete button.dataset.mark;
    this.#buttons[index].dataset.mark = "chosen";
  }

  /** @param {number|null} row the row whose number was pressed */
  #choose(row) {
    this.#row = row;
    this.#buttons.forEach((button, index) => {
      if (row !== null && Math.floor(index / this.#columns) === row) button.dataset.row = "";
      else delete button.dataset.row;
    });
  }

  #onPointer(event) {
    if (!event.isPrimary || event.button !== 0) return;
    const index = this.#buttons.indexOf(event.target.closest("[data-choice]"));
    if (index < 0) return;
    // Keeps the browser from moving the focus to the button, and its ring with it.
    event.preventDefault();
    this.#answer(index, event, event.pointerType === "touch" ? "touch" : "pointer");
  }

  #onKey(event) {
    if (!this.#isShown || event.ctrlKey || event.altKey || event.metaKey) return;
    const { key, code } = event;
    const meaning = readKey({ key, code, cursor: this.#cursor, row: this.#row, columns: this.#columns, choices: this.#choices });
    if (!meaning) return;
    event.preventDefault();
    // From the first key on, the numbers of rows and columns are on the choices.
    this.#root.dataset.keyed = "";
    if (meaning.row !== undefined) {
      this.#choose(meaning.row);
    } else if (meaning.move !== undefined) {
      this.#choose(null);
      this.#cursor = meaning.move;
      this.#buttons[meaning.move].focus({ preventScroll: true });
    } else if (!event.repeat) {
      this.#answer(meaning.answer, event, "key");
    }
  }
}
