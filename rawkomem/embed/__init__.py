"""Turns texts into vectors: `providers.open_embedder` returns an Embedder, whose vectors are
float32 little-endian bytes.

`embedder`: the interface of embedders, their settings, the cache, the stand-in for one that failed.
`providers`: which embedder the settings open.
`static`: the bundled static vectors, WordPiece, and how rare a word is.
`minilm`: the bundled contextual model; `minilm_pass`: its forward pass, and how numpy is loaded.
`endpoint`: embedding servers with OpenAI's API; models of sentence-transformers.
"""
