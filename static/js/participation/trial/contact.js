/** Letters to the contact name the visit that they are about, by a code or an id that opens nothing. */

/** Shows what to quote, and puts it into the subject of letters that are begun here. @param {string} id "" where none is known */
export function quoteIn(root, id) {
  for (const part of root.querySelectorAll("[data-quote]")) {
    part.hidden = !id;
    part.querySelector("code").textContent = id;
  }
  for (const link of root.querySelectorAll("[data-letter]")) {
    link.dataset.letter ||= link.href;
    link.href = link.dataset.letter + (id ? encodeURIComponent(` (${id})`) : "");
  }
}

/** What is known of a visit that has no session here: its id at the recruiter, or the one that a link gives to people. */
export function idOfVisit({ isPreview, isLink, assignmentId, workerId }) {
  if (isPreview) return "";
  return assignmentId || (isLink ? workerId : "");
}
