"""The LLM suite: runs language models × runtimes, each in its own process, stores results in a database and shows a page."""
