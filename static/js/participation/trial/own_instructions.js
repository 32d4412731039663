/** What the study itself asks people to keep to, numbered, and nothing of questions that it words otherwise. */
export function showOwnInstructions({ screens, session, document }) {
  const part = screens.find("[data-instructions]");
  const sentences = session.instructions ?? [];
  for (const usual of screens.findAll("[data-usual-questions]")) usual.hidden = session.own_words === true;
  if (!part) return;
  part.hidden = sentences.length === 0;
  part.querySelector("ol").replaceChildren(
    ...sentences.map((sentence) => {
      const item = document.createElement("li");
      item.textContent = sentence;
      return item;
    }),
  );
}
