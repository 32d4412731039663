/** Lets a report of trouble name the session that it is about: a proof behind the # of the link, which opens nothing. */
export function tieReports(root, proof) {
  for (const link of root.querySelectorAll("[data-report]")) link.hash = proof ?? "";
}

/** The same where no session is known: whom the page was opened for. Behind the #, ids reach no server's log. */
export function idsForReport({ workerId, assignmentId }) {
  const ids = Object.entries({ person: workerId, submission: assignmentId }).filter(([, id]) => id);
  return ids.length ? new URLSearchParams([["about", "ids"], ...ids]).toString() : "";
}

/** What stands behind the # of the form's address, by the names of its fields: the proof of a session, or ids. */
export function readReport(hash) {
  const given = new URLSearchParams(hash);
  if (given.get("about") !== "ids") return { proof: hash };
  return { person: given.get("person") ?? "", submission: given.get("submission") ?? "" };
}
