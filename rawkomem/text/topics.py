"""Find the words that name the subject of texts, for labels of clusters and topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log

from ..model.ids import slug
from .language import language
from .overlap import subject_words


class Vocabulary:
    """The number of texts that each stem occurs in, and the usual spelling of each stem."""

    def __init__(self, texts: Iterable[str]):
        self.texts = 0
        self.count: dict[str, int] = {}
        self.forms: dict[str, dict[str, int]] = {}
        for text in texts:
            self.texts += 1
            found = subjects(text)
            for root, form in dict(zip(language().stemmer(found), found, strict=True)).items():
                self.count[root] = self.count.get(root, 0) + 1
                forms = self.forms.setdefault(root, {})
                forms[form] = forms.get(form, 0) + 1

    def written(self, root: str) -> str:
        """Return the most common word of a stem."""
        return min(self.forms[root].items(), key=lambda form: (-form[1], form[0]))[0]


def subjects(text: str) -> list[str]:
    """Return the words of a text that may name its subject, without numbers."""
    return [word for word in subject_words(text) if not word.isdecimal()]


def telling_words(texts: Sequence[str], among: Vocabulary, most: int) -> list[str]:
    """Return the `most` words that distinguish these texts: common in them, rare in `among`."""
    own = Vocabulary(texts)
    rarity = {root: log(1 + among.texts / among.count.get(root, 1)) for root in own.count}
    scored = sorted(own.count, key=lambda root: (-own.count[root] / own.texts * rarity[root], root))
    return [own.written(root) for root in scored[:most]]


def topic(text: str, synonyms: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the most common word of a text as a slug; empty if it has none. A synonym counts as its main word."""
    stem = language().stem
    stands_for = {stem(word): name for name, others in (synonyms or {}).items() for word in others}
    counts: dict[str, int] = {}
    for word in subjects(text) or language().content_words(text):
        name = stands_for.get(stem(word), word)
        counts[name] = counts.get(name, 0) + 1
    return slug(max(counts, key=lambda name: counts[name])) if counts else ""
