// What the pages of a stimulus set have in common.

import { enter, listen } from "./cells.js";
import { connect } from "./compare.js";

const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;

for (const root of document.querySelectorAll("[data-cells]")) enter(root);
for (const root of document.querySelectorAll("[data-compare]")) connect(root, isCalm);
listen(document);

document.addEventListener("htmx:load", (event) => {
  for (const root of event.target.querySelectorAll?.("[data-cells]") ?? []) enter(root);
});
