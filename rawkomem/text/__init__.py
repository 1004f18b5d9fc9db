"""Processes plain text. No I/O.

`clean`: removes invisible characters and terminal sequences.
`language`: words and stems, compound names, whether two texts say the same; `languages`: one data file per language.
`scripts`: scripts other than Latin, and look-alikes.
`chunks`: cuts bodies into chunks; counts tokens and things.
`prompts`: the person's request in a prompt.
`safe`: defuses injected text.
`difference`: compares two texts for a reviewer, and marks what looks dangerous.
`conditions`: whenToUse.
`acts`: appliesTo and guard: which commands and writes of an agent a memory applies to.
`paths`: paths and file globs.
`json_values`: JSON values inside other text, in documents and inside other values.
`commands`: the simple commands of a shell line, patterns of commands, and whether a line tests or only reads.
`prose`: sentences, summaries, topics, text that reads like instructions, entities, sums of money.
"""
