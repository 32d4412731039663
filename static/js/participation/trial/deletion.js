/** The code with which somebody who came without an id can have their answers deleted later. */
import { patiently } from "./pause.js";

/** Shows it on the pages on which a session ends, where the study gives one and the person came without an id. */
export async function showDeletionCode(run) {
  const parts = [...run.document.querySelectorAll("[data-deletion]")];
  if (parts.length === 0) return;
  let code;
  try {
    ({ code } = await patiently(() => run.api.deletionCode(), { sleep: run.sleep, attempts: 3 }));
  } catch {
    return; // the page's other sentences hold without it; loading it again asks again
  }
  for (const part of parts) {
    part.hidden = !code;
    part.querySelector('[data-value="deletion-code"]').textContent = code;
  }
}
