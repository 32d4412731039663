/** The way back to the site that has sent somebody: in no page before the server tells it. */

/**
 * Shows how the person goes back.
 *
 * @param {ParentNode} root
 * @param {{outcome: string, kind: "redirect"|"code"|"return"|"nothing", address: string, code: string}} out
 */
export function showWayOut(root, out) {
  for (const block of root.querySelectorAll("[data-way-out]")) {
    for (const part of block.querySelectorAll("[data-out-for], [data-out-kind]")) part.hidden = !isMeant(part.dataset, out);
    const code = block.querySelector("[data-out-code]");
    code.hidden = !out.code;
    code.querySelector("[data-out-text]").textContent = out.code;
    if (out.address) {
      block.querySelector("[data-out-link]").href = out.address;
      block.querySelector("[data-out-host]").textContent = new URL(out.address).host;
    }
    block.hidden = false;
  }
}

function isMeant({ outFor, outKind }, { outcome, kind }) {
  return (!outFor || outFor.split(" ").includes(outcome)) && (!outKind || outKind.split(" ").includes(kind));
}
