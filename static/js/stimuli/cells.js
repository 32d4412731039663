// Many small links as one stop of the keyboard: arrow keys go from link to link, Home and End to the ends of a row.

/**
 * The cell that a key leads to.
 * @param {number[]} rows   number of cells in each row
 * @param {{row: number, place: number}} from
 * @param {string} key      KeyboardEvent.key
 * @returns {{row: number, place: number} | null}  null for keys that do not move
 */
export function destination(rows, { row, place }, key) {
  const last = (of) => rows[of] - 1;
  switch (key) {
    case "ArrowRight":
      return { row, place: Math.min(place + 1, last(row)) };
    case "ArrowLeft":
      return { row, place: Math.max(place - 1, 0) };
    case "ArrowDown": {
      const below = Math.min(row + 1, rows.length - 1);
      return { row: below, place: Math.min(place, last(below)) };
    }
    case "ArrowUp": {
      const above = Math.max(row - 1, 0);
      return { row: above, place: Math.min(place, last(above)) };
    }
    case "Home":
      return { row, place: 0 };
    case "End":
      return { row, place: last(row) };
    default:
      return null;
  }
}

const rowsOf = (root) => {
  const marked = [...root.querySelectorAll("[role=row]")].map((row) => [...row.querySelectorAll("[data-cell]")]);
  return marked.length ? marked : [[...root.querySelectorAll("[data-cell]")]];
};

/** One cell of each root takes part in the order of the Tab key: the current one, else the first. */
export function enter(root) {
  const cells = [...root.querySelectorAll("[data-cell]")];
  const first = cells.find((cell) => cell.hasAttribute("aria-current")) ?? cells[0];
  for (const cell of cells) cell.setAttribute("tabindex", cell === first ? "0" : "-1");
}

function say(cell) {
  const said = cell.closest("[data-cells]").querySelector("[data-said]");
  if (said) said.textContent = cell.getAttribute("aria-label");
}

/** Listens on the document, so that swapped-in parts need no connecting. */
export function listen(page) {
  page.addEventListener("keydown", (event) => {
    const cell = event.target.closest?.("[data-cell]");
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = rowsOf(cell.closest("[data-cells]"));
    const row = rows.findIndex((cells) => cells.includes(cell));
    const there = destination(rows.map((cells) => cells.length), { row, place: rows[row].indexOf(cell) }, event.key);
    if (!there) return;
    event.preventDefault();
    const next = rows[there.row][there.place];
    cell.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
  for (const kind of ["focusin", "pointerover"]) {
    page.addEventListener(kind, (event) => {
      const cell = event.target.closest?.("[data-cell]");
      if (cell) say(cell);
    });
  }
}
