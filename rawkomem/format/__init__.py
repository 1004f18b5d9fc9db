"""Read and write the file format: frontmatter, entries and wire blocks.

`yaml_mapping`: a strict YAML reader that keeps every scalar as text.
`frontmatter`: keys and values; reads and writes frontmatter and whole entries as text.
`blocks`: splits a file into blocks, and joins entries to a file; what a body holds: sections, list items, wikilinks,
citations.
`entries`: parses texts into entries with Problems; a person's text with flags.
`mesh_fields`: lessons and metadata of RFC-0011 as frontmatter.
`yamo`: YAMO blocks and the chain of their hashes.
`skill_files`: the text and the fields of a skill file.
`handler`: our frontmatter for the package python-frontmatter.
"""
