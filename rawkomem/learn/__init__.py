"""Learn from sessions, runs and failures: drafts, lessons, learnings and skills.

`turns`: A session as turns, the same for all hosts, from the records that each host writes.
`chat_logs`: Chat logs as turns: Markdown or plain text in which lines name the speaker, and the histories of SpecStory
    and aider.
`transcripts`: Find transcripts and read a whole session from one: a stream of turns without injected text, repeats
    and sub-agents.
`proposed_conditions`: The `whenToUse` conditions that a text suggests; `kinds_of_work.json` has the words of requests.
`cues`: English cues. No pattern has nested repetition, and all are applied to texts of limited length only.
`exchanges`: What a person typed, agreed to and can be quoted with. Pasted text, tool output and the host's own text
    do not count.
`drafts`: Drafts of memories from a session: statements that a person made or agreed to, failures that were fixed, and
    edited instructions. A draft that somebody keeps becomes an entry.
`reviews`: Drafts from review comments of GitHub and GitLab: requests of a reviewer that a change followed.
`repetitions`: Find out whether memories or other drafts already say what is about to be learned, or contradict it.
`lessons`: Lessons (RFC-0011): read and write wire blocks, decide whether a lesson is new, and distill failures into
    drafts.
`extraction`: Ask a language model what is worth remembering in each chunk of a session (SPEC-0009).
`skills`: Skills: rate and rank them, plan to add or archive them, and export them for agent hosts.
`syntheses`: What several memories say together: proposed skills and reflections, with or without a language model.
`traces`: Traces of runs, with the keys, headings and file names of LLMos: recorded by a caller, or made from a
    session.
`learnings`: Consolidate the traces of one goal into a learning. Pure: returns a Plan.
"""
