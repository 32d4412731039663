/** The button that prints the text of consent. */
const button = document.querySelector("[data-action=print]");
button.hidden = false;
button.addEventListener("click", () => window.print());
