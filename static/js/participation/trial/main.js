/** The participant's page. */
import { runSession } from "./flow.js";
import { openPage } from "./page.js";

openPage().then(runSession);
