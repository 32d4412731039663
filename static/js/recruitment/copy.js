/**
 * Copies an address.
 *
 * <button data-copy="https://..." data-copied="Copied">Copy</button>
 */
for (const button of document.querySelectorAll("[data-copy]")) {
  const label = button.textContent;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = button.dataset.copied;
      setTimeout(() => (button.textContent = label), 2_000);
    } catch {
      // Without permission: select it, so that a key press copies it.
      const source = button.parentElement.querySelector("[data-copy-source]");
      getSelection().selectAllChildren(source ?? button);
    }
  });
}
