"""Judge whether a memory is relevant to a task: evidence, confidence and gate."""
