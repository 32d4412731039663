"""Where pictures come from: a folder, an archive, a storage; and which of their files are pictures of what."""
