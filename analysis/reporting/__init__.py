"""The study as a document: a frozen analysis plan, the methods in words with every number."""
