// The form of a new set: one button chooses every function.

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
