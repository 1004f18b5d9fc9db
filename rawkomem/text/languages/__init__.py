"""The data of each language: one file per code.

`en`: English, the default
`de`: German
"""
