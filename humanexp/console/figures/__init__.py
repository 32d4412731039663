"""The papers' figures as files: which there are, what each needs, and how it is drawn with its data beside it."""
