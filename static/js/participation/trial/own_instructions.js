/**
 * What the study itself asks people to keep to, numbered, and nothing of questions that it words otherwise. Where it is
 * shown at every picture, the usual explanations are left out.
 */
export function showOwnInstructions({ screens, session, document }) {
  const sentences = session.instructions ?? [];
  const isShown = session.instructions_shown === true;
  for (const usual of screens.findAll("[data-usual-questions]")) usual.hidden = session.own_words === true;
  for (const usual of isShown ? screens.findAll("[data-usual]") : []) usual.remove();
  for (const part of screens.findAll("[data-instructions]")) {
    part.hidden = sentences.length === 0 || part.dataset.instructions === (isShown ? "folded" : "shown");
    part.querySelector("ol").replaceChildren(
      ...sentences.map((sentence) => {
        const item = document.createElement("li");
        item.textContent = sentence;
        return item;
      }),
    );
  }
}
