/** The form for reports of trouble: takes over which visit it is about, and keeps ids out of histories. */
import { readReport } from "../../participation/trial/report.js";

const { location, history } = window;
const hash = location.hash.slice(1);
const given = hash ? readReport(hash) : {};

for (const [name, value] of Object.entries(given)) {
  const field = document.querySelector(`form input[type="hidden"][name="${name}"]`);
  if (field && value) field.value = value;
}
const untied = document.querySelector('[data-value="untied"]');
if (untied && Object.values(given).some(Boolean)) untied.hidden = true;
const language = new URLSearchParams(location.search).get("language");
const query = language ? `?${new URLSearchParams({ language })}` : "";
if (hash || location.search !== query) history.replaceState(null, "", location.pathname + query);
