"""Campaigns from launch to end: publishing, polling, watching, and the pages about them."""
