/** Makes a passkey, or answers with one: a form with data-passkey="create" or "get" gets the browser's answer. */

const form = document.querySelector("[data-passkey]");
const said = form.querySelector("[data-passkey-said]");

/** What the server wants to be asked: in the page, or, before anyone has said who they are, from its address. */
async function wanted() {
  const inPage = document.getElementById("passkey-options");
  if (inPage) return JSON.parse(inPage.textContent);
  const answer = await fetch(form.action, { headers: { Accept: "application/json", "X-Requested-With": "XMLHttpRequest" } });
  return answer.json();
}

async function ask() {
  const options = await wanted();
  if (form.dataset.passkey === "create") {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options.creation_options.publicKey);
    // one that the browser keeps can replace the password, and so has to ask for a finger, face or PIN
    publicKey.authenticatorSelection = {
      ...publicKey.authenticatorSelection, residentKey: "preferred", userVerification: "preferred",
    };
    return navigator.credentials.create({ publicKey });
  }
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options.request_options.publicKey);
  return navigator.credentials.get({ publicKey });
}

const button = form.querySelector("[data-passkey-button]");
if (window.PublicKeyCredential?.parseCreationOptionsFromJSON) {
  button.disabled = false;
  button.addEventListener("click", async () => {
    said.hidden = true;
    try {
      const credential = await ask();
      form.elements.credential.value = JSON.stringify(credential.toJSON());
      form.submit();
    } catch {
      said.hidden = false;
    }
  });
} else {
  form.querySelector("[data-passkey-missing]").hidden = false;
}
