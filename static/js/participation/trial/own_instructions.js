/** What the study itself asks people to keep to, numbered; nothing where it asks for nothing. */
export function showOwnInstructions({ screens, session, document }) {
  const part = screens.find("[data-instructions]");
  const sentences = session.instructions ?? [];
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
