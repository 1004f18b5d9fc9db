"""Ask the optional language model: prompts, and transports by HTTP or by a command."""
