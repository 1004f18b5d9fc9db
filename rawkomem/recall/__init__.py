"""Find and rank memories for a question or a task.

`signals`: limits, filters, the question, and the signals of each memory for it
`search`: search results
`excerpt`: the part of a memory that is shown, and its labels
`scoring`: factors, profiles and scores; the reasons against an injection
`relevance`: evidence, confidence, gate, and their explanation
`candidates`: gather and order the candidates for a task
`inject`: pack the best ones into a prompt, without those that the session has received
`render`: the formats of a prompt, fences and redaction
`earlier_tasks`: similar earlier tasks, and briefs
"""
