"""Runs tactus-bench and its peers side by side and prints what came of it."""
