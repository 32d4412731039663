/**
 * Fields that mean something to some recruiters alone are shown for those.
 *
 * <form data-launch-form><input type="radio" name="to" value="one"> <div data-only="two three">...</div></form>
 */
export function showFor(form) {
  const chosen = form.querySelector('input[name="to"]:checked')?.value;
  for (const part of form.querySelectorAll("[data-only]")) {
    part.hidden = chosen !== undefined && !part.dataset.only.split(" ").includes(chosen);
  }
}

if (globalThis.document) {
  for (const form of document.querySelectorAll("[data-launch-form]")) {
    form.addEventListener("change", () => showFor(form));
    showFor(form);
  }
}
