"""Finds and redacts secrets and personal data.

`values`: whether a value looks like a secret, checksums of personal data; the rules as data, and how RE2 compiles them.
`assigned`: secrets that a key, a table heading or a place gives away, in many languages.
`find`: finds and redacts secrets in a text; private keys of several lines.
`entries`: redacts and anonymizes whole entries, field by field; names of people become ids.
`scrubber`: the six stages of RFC-0011 that prepare a text for embedding.
"""
