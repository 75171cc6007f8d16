"""The LLM suite: language models × ways to run them, each in a process of its own, kept in a database, shown as a page."""
