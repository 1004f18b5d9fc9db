"""Stage 4, chunking: collects paragraphs under their headings until a chunk is full."""

from __future__ import annotations

from ...text.chunk import Chunk, chunk
from ...text.tokens import count_tokens
from .code import paragraphs
from .config import INDEX, Chunking

UNNAMED = "unnamed-section"
PATH = " > "  # between the headings of a chunk, as in the index


def segment(text: str, config: Chunking) -> list[Chunk]:
    """Return the chunks of a text, in order."""
    if config.whole_lines:
        return chunk(text)
    gathered = _Gathered(config)
    for paragraph, code in paragraphs(text):
        level = 0 if code else _level(paragraph)
        if level:
            gathered.open(level, paragraph.partition("\n")[0][level:].strip())
        tokens = count_tokens(paragraph)
        pieces = [paragraph] if tokens <= config.hard_max_tokens else _cut(paragraph, config.max_tokens)
        for piece in pieces:
            gathered.take(piece, count_tokens(piece))
    return gathered.closed()


def passages(body: str) -> list[Chunk]:
    """Return the chunks that the index holds of a body, which is already cleaned and redacted: see `INDEX`."""
    return segment(body, INDEX.chunking)


class _Gathered:
    """The finished chunks, and the open chunk, to which paragraphs are added."""

    def __init__(self, config: Chunking):
        self.config = config
        self.chunks: list[tuple[Chunk, int]] = []
        self.trail: list[str] = []
        self.texts: list[str] = []
        self.tokens = 0

    def open(self, level: int, heading: str) -> None:
        self._close()
        self.trail = [*self.trail[: level - 1], heading]

    def take(self, paragraph: str, tokens: int) -> None:
        if self.texts and self.tokens + tokens > self.config.max_tokens:
            self._close()
        self.texts.append(paragraph)
        self.tokens += tokens

    def closed(self) -> list[Chunk]:
        self._close()
        return [made for made, tokens in self.chunks if tokens >= self.config.min_tokens]

    def _close(self) -> None:
        """Finish the open chunk; if it is too small, join it with the chunk before it, if that has room."""
        if not self.texts:
            return
        text, tokens = "\n\n".join(self.texts), self.tokens
        self.texts, self.tokens = [], 0
        if self.chunks and tokens < self.config.min_tokens and self.chunks[-1][1] + tokens <= self.config.max_tokens:
            before, already = self.chunks.pop()
            self.chunks.append((Chunk(f"{before.text}\n\n{text}", before.heading), already + tokens))
        else:
            self.chunks.append((Chunk(text, PATH.join(part for part in self.trail if part)), tokens))


def _level(paragraph: str) -> int:
    level = len(paragraph) - len(paragraph.lstrip("#"))
    return level if level <= 6 and paragraph[level : level + 1] in (" ", "\t") else 0


def _cut(paragraph: str, most: int) -> list[str]:
    """Return a paragraph that is too long for a chunk in pieces of whole words."""
    pieces: list[str] = []
    words: list[str] = []
    tokens = 0
    for word in paragraph.split():
        cost = count_tokens(word + " ")
        if words and tokens + cost > most:
            pieces.append(" ".join(words))
            words, tokens = [], 0
        words.append(word)
        tokens += cost
    return [*pieces, " ".join(words)]
