/** The form for reports of trouble: takes over what ties it to a session, and keeps ids out of histories. */
const { location, history } = window;
const proof = location.hash.slice(1);
const field = document.querySelector('input[name="proof"]');

if (field && proof) {
  field.value = proof;
  const untied = document.querySelector('[data-value="untied"]');
  if (untied) untied.hidden = true;
}
const language = new URLSearchParams(location.search).get("language");
const query = language ? `?${new URLSearchParams({ language })}` : "";
if (proof || location.search !== query) history.replaceState(null, "", location.pathname + query);
