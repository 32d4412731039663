/**
 * Tables that are sorted by a click on the head of a column: <table data-sortable>, cells with data-value.
 * The order is announced by aria-sort; a second click turns it round. Rows without a value stay last.
 */

/** Rows in order; `value` gives what a row is sorted by: a number, a text, or "" for nothing. */
export function sorted(rows, value, descending) {
  const sign = descending ? -1 : 1;
  return [...rows].sort((first, second) => {
    const [a, b] = [value(first), value(second)];
    if (a === "" || b === "") return (a === "") - (b === "");
    const [x, y] = [Number(a), Number(b)];
    return sign * (Number.isNaN(x) || Number.isNaN(y) ? String(a).localeCompare(String(b)) : x - y);
  });
}

export function makeSortable(table) {
  const heads = [...table.querySelectorAll("thead th")];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      // Numbers are looked at from the highest on, names from A on.
      const descending = before ? before === "ascending" : head.classList.contains("n");
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const body = table.tBodies[0];
      const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
      body.append(...sorted(body.rows, value, descending));
    });
  });
}
