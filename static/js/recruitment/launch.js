/**
 * Fields that mean something to some recruiters or sites alone are shown for those.
 *
 * <form data-launch-form><input type="radio" name="to" value="one"> <div data-only="two three">...</div></form>
 */
export function showFor(form) {
  const chosen = form.querySelector('input[name="to"]:checked')?.value;
  for (const part of form.querySelectorAll("[data-only]")) {
    part.hidden = chosen !== undefined && !part.dataset.only.split(" ").includes(chosen);
  }
  const site = form.querySelector('input[name="link_preset"]:checked')?.value;
  for (const part of form.querySelectorAll("[data-with-site]")) {
    part.hidden = site === "";
    const usual = part.dataset.credit.split(" ").includes(site) ? "credit" : "money";
    const pay = part.querySelector('[name="link_pay"]').value || usual;
    for (const field of part.querySelectorAll("[data-for-pay]")) field.hidden = field.dataset.forPay !== pay;
    for (const field of part.querySelectorAll("[data-for-site]")) {
      field.hidden = !field.dataset.forSite.split(" ").includes(site);
    }
    for (const field of part.querySelectorAll("[data-by-site]")) fillFor(field, site);
  }
}

/** What is usual at a site, unless something else was typed. */
function fillFor(field, site) {
  const usual = JSON.parse(field.dataset.bySite);
  const { filledFor = site } = field.dataset;
  if (!field.value || (filledFor !== site && field.value === usual[filledFor])) field.value = usual[site] ?? "";
  field.dataset.filledFor = site;
}

/**
 * A study that was found by its title: its id, which ends the line, is added to the ids of a field, once.
 *
 * @param {HTMLInputElement} search with `data-adds-to` and a `list`
 */
export function addFound(search) {
  const isFound = [...search.list.options].some(({ value }) => value === search.value);
  if (!isFound) return;
  const ids = search.ownerDocument.getElementById(search.dataset.addsTo);
  const found = search.value.split(" · ").at(-1);
  const known = ids.value.split(/[\s,]+/).filter(Boolean);
  ids.value = [...new Set([...known, found])].join("\n");
  search.value = "";
}

if (globalThis.document) {
  for (const search of document.querySelectorAll("[data-adds-to]")) search.addEventListener("input", () => addFound(search));
  for (const form of document.querySelectorAll("[data-launch-form]")) {
    form.addEventListener("change", () => showFor(form));
    showFor(form);
  }
}
