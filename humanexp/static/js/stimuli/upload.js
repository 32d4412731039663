// Pages of picture sets: an archive may be dropped on its field; a page that waits for a job shows itself anew.

/**
 * Whether a file is larger than a form takes.
 * @param {{size: number}} file
 * @param {number} mostMb
 */
export function isTooLarge(file, mostMb) {
  return file.size > mostMb * 1e6;
}

/** @param {HTMLFormElement} form  with data-upload, data-most-mb and data-too-large */
export function attachUpload(form) {
  const field = form.querySelector("[data-drop]");
  const room = field.closest(".drop");
  const check = () => {
    const file = field.files[0];
    field.setCustomValidity(file && isTooLarge(file, Number(form.dataset.mostMb)) ? form.dataset.tooLarge : "");
    field.reportValidity();
  };
  field.addEventListener("change", check);
  room.addEventListener("dragover", (event) => {
    event.preventDefault();
    room.classList.add("drop--over");
  });
  room.addEventListener("dragleave", () => room.classList.remove("drop--over"));
  room.addEventListener("drop", (event) => {
    event.preventDefault();
    room.classList.remove("drop--over");
    if (event.dataTransfer.files.length !== 1) return;
    field.files = event.dataTransfer.files;
    check();
  });
  form.addEventListener("submit", () => {
    form.querySelector("[data-sending]").hidden = false;
    form.querySelector("button[type=submit]").disabled = true;
  });
}

if (typeof document !== "undefined") {
  document.querySelectorAll("form[data-upload]").forEach(attachUpload);
  if (document.querySelector("[data-reload-when-finished]")) {
    document.body.addEventListener("jobFinished", () => window.location.reload());
  }
}
