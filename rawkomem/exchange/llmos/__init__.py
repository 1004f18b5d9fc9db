"""Import and export project folders of LLMos without losing a byte."""
