/** Lets a report of trouble name the session that it is about: a proof behind the # of the link, which opens nothing. */
export function tieReports(root, proof) {
  for (const link of root.querySelectorAll("[data-report]")) link.hash = proof ?? "";
}
