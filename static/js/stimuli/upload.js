// Pages of picture sets: an archive or a folder may be dropped on its field; a page that waits for a job shows itself anew.

/**
 * Whether files are larger than a form takes.
 * @param {number} mostMb
 * @param {{size: number}[]} files
 */
export function areTooLarge(mostMb, ...files) {
  return files.reduce((sum, file) => sum + file.size, 0) > mostMb * 1e6;
}

/** @param {HTMLFormElement} form  with data-upload, data-most-mb and data-too-large; with a data-folder field, a folder is packed */
export function attachUpload(form) {
  const field = form.querySelector("[data-drop]");
  const folder = form.querySelector("[data-folder]");
  const button = form.querySelector("button[type=submit]");
  const room = field.closest(".drop");
  const check = (...files) => {
    const isRefused = areTooLarge(Number(form.dataset.mostMb), ...files);
    field.setCustomValidity(isRefused ? form.dataset.tooLarge : "");
    field.reportValidity();
    return !isRefused;
  };
  const pack = async (find) => {
    const { packed, filesBelow, filesOf } = await import("./folder.js");
    const files = await find({ filesBelow, filesOf });
    if (!files.length || !check(...files.map((one) => one.file))) return;
    const note = form.querySelector("[data-packing]");
    button.disabled = true;
    note.hidden = false;
    try {
      const show = (done) => {
        note.textContent = note.dataset.packing.replace("{done}", done).replace("{all}", files.length);
      };
      const holder = new DataTransfer();
      holder.items.add(await packed(files, files[0].path.split("/")[0], show));
      field.files = holder.files;
      check(...field.files);
    } catch {
      note.textContent = note.dataset.unreadable;
    } finally {
      button.disabled = false;
    }
  };
  field.addEventListener("change", () => check(...field.files));
  folder?.addEventListener("change", () => pack(({ filesOf }) => filesOf(folder.files)));
  room.addEventListener("dragover", (event) => {
    event.preventDefault();
    room.classList.add("drop--over");
  });
  room.addEventListener("dragleave", () => room.classList.remove("drop--over"));
  room.addEventListener("drop", (event) => {
    event.preventDefault();
    room.classList.remove("drop--over");
    const { files, items } = event.dataTransfer;
    if (files.length !== 1) return;
    const entry = folder && items[0].webkitGetAsEntry();
    if (entry?.isDirectory) {
      pack(({ filesBelow }) => filesBelow(entry));
      return;
    }
    field.files = files;
    check(...files);
  });
  form.addEventListener("submit", () => {
    form.querySelector("[data-sending]").hidden = false;
    button.disabled = true;
  });
}

if (typeof document !== "undefined") {
  document.querySelectorAll("form[data-upload]").forEach(attachUpload);
  if (document.querySelector("[data-reload-when-finished]")) {
    document.body.addEventListener("jobFinished", () => window.location.reload());
  }
}
