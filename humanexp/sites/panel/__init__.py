"""The practice panel: a stand-in of Prolific's API and participant pages, without real money or real people."""
