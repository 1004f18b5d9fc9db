"""The index: a database derived from the files, from which every question is answered.

`index`: opens it, keeps it up to date, and shows the memories inside a filter.
`catalogue`: its tables; files, entries and memories read back.
`authors`: who committed which entry; the standing of memories, and the trust in them.
`statements`: whenToUse conditions and which of them fire for a task; claims, and sentences that contradict each other.
`act_table`: the memories that apply to acts of an agent, in a file that hooks read.
`sync`: compares the files with the index and reads those that changed.
`ingest`: changed files into entries, folded memories, passages and documents; memories as of a past time.
`contextual`: the second tier of vectors, filled in the background.
`status`: whether index and files agree, and the hash of the index.
`neighbors`: similar memories by their vectors.
`summaries`: counts, entities and the graph of all memories.
`stores`: the search stores.
"""
