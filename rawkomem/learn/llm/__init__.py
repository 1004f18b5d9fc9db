"""The optional language model: settings, transports, prompts."""
