"""The app of the four packages that recruit: its label, addresses, commands, jobs and migrations."""
