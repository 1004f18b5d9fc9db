"""Pure functions that compute state from entries. No I/O.

`trust`: who committed a text, the columns that filters compare, trust in a memory and its sources
`plans`: what a change is; plans and the checks of entries
`changes`: names and references; the kinds of change from amend to validity
`fold`: entries to Memory; vouching, dispute, quarantine, review
`history`: the steps of a memory, its explanation, differences, undo
`schema`: the JSON Schema of a frontmatter
`claims`: claims, and new texts that update a memory
`contradictions`: sentences that contradict each other; their words are in cues.json
`graph`: edges, walks and drawings
`digests`: digests and episodes
`strength`: strength, and the columns of RFC-0011; the conditions of `--filter`
`housekeeping`: duplicates, corroboration, consolidation, prune
`runs`: traces and experiences as runs
"""
