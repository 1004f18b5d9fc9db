"""Turns texts into vectors: `embedder.open_embedder` returns an Embedder, whose vectors are
float32 little-endian bytes.

`embedder`: the interface of embedders, their settings, the cache, the stand-in for one that failed; which one the settings open.
`static`: the bundled static vectors, WordPiece, and how rare a word is.
`blas`: how numpy is loaded.
`minilm`: the bundled contextual model; `minilm_pass`: its forward pass.
`endpoint`: embedding servers with OpenAI's API.
`transformer`: models of sentence-transformers.
"""
