// The form of a new set: one button chooses every function, and pictures of one small size suggest how they are shown.

const button = document.querySelector("[data-choose-all]");
if (button) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const boxes = [...button.form.querySelectorAll("input[name=corruptions]")];
    const all = boxes.every((box) => box.checked);
    for (const box of boxes) box.checked = !all;
    boxes[0].dispatchEvent(new Event("change", { bubbles: true }));
  });
}

const enlarged = document.querySelector("[data-suggested]");
if (enlarged) {
  const { source_set: pictures, size_px: size } = enlarged.form.elements;
  const suggested = JSON.parse(enlarged.dataset.suggested);
  const usual = ["224", "1"];
  pictures.addEventListener("change", () => {
    const found = suggested[pictures.value];
    if (found) [size.value, enlarged.value] = found;
    else if (enlarged.value !== "1") [size.value, enlarged.value] = usual;
  });
}
