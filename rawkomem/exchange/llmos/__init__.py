"""Project folders of LLMos, in and out without the loss of a byte."""
