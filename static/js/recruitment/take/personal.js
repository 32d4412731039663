/** A personal link: one press goes on with the study. Looking at the page changes nothing. */
import { Refusal, TakeApi } from "./api.js";
import { Panels } from "./panels.js";

const page = JSON.parse(document.getElementById("personal-page").textContent);
const panels = new Panels(document);
const api = new TakeApi({ fetch: window.fetch.bind(window), page });
// What proves who follows the link stands behind the #, so that it is in no log; it leaves the address at once.
const link = window.location.hash.slice(1);
window.history.replaceState(null, "", window.location.pathname + window.location.search);
const button = document.querySelector("[data-action=follow]");

panels.reveal("incomplete", !link);
button.disabled = !link;
button.addEventListener("click", async () => {
  button.disabled = true;
  panels.reveal("refusal", false);
  try {
    const { handoff, run_url: path } = await api.follow(link);
    const url = new URL(path, window.location.href);
    url.searchParams.set("language", page.language);
    url.hash = handoff;
    window.location.assign(url.href);
  } catch (error) {
    const isRefusal = error instanceof Refusal;
    panels.fill({ refusal: isRefusal ? error.message : panels.message("unreachable") });
    panels.reveal("refusal", true);
    button.disabled = false;
  }
});
