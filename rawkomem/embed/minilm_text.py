"""Cuts a text into rows of the contextual embedder's vocabulary, between the two marks that BERT expects."""

from __future__ import annotations

from .static import INDEX_CHARS, finder
from .wordpiece import WordPiece, knows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .minilm_file import WeightsFile

START, END, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"  # as BERT's vocabulary spells them


class Cutter:
    """Cuts texts as the original model does: a text is cut at the longest input, which includes the two marks."""

    def __init__(self, file: WeightsFile):
        self._file = file
        self._start, self._end, self._unknown = map(file.find, (START, END, UNKNOWN))
        self._cutter = WordPiece(file.find, file.shape.longest, (self._unknown,))
        self._indexed = False

    def rows(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the rows of each text; none for a text without a known word, because such texts would look alike."""
        if not self._indexed and sum(map(len, texts)) > INDEX_CHARS:
            self._cutter.find = finder(self._file.index())
            self._indexed = True
        return [self._framed(self._cutter.rows(text)) if knows(text) else [] for text in texts]

    def _framed(self, rows: list[int]) -> list[int]:
        kept = rows[: self._file.shape.positions - 2]
        return [self._start, *kept, self._end] if any(row != self._unknown for row in kept) else []
