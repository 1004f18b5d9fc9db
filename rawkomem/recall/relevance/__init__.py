"""Judges whether a memory is relevant: the prompt, the evidence, the confidence and the gate."""
