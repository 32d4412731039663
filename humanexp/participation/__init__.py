"""Taking part: sessions, trials, answers, the participant's API, and the pages that show who is where."""
