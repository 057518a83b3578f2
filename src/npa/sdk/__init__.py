"""npa from Python: the same verbs as the command line."""
