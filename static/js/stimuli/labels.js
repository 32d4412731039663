// The page of a label space: the grid of answers, drawn by what draws it in a trial. It takes no answers here.
import { ChoiceGrid } from "../participation/trial/grid.js";

const root = document.querySelector("[data-sample]");
const { choices, columns } = JSON.parse(document.getElementById("grid").textContent);
new ChoiceGrid({ root, clock: () => performance.now() }).fill(choices, columns ?? undefined);
