"""Characters of scripts other than Latin: folding and splitting them, function words, phrases that two
texts share, and letters or signs that imitate others. ASCII text never needs this file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import groupby, pairwise
from unicodedata import category, combining, normalize

from ..model.values import record
from .clean import EMOJI, UNSEEN, is_within, range_edges, treatment_of, visible_text

# Fold the characters of any script, so that words can be compared, and split text of scripts
# without spaces.
#
# Two translation tables do this. They fill themselves, so that only new characters take time.

# With the rules for terms, change the index's schema version.
# Scripts without spaces, and Korean, whose endings no tokenizer removes.
UNSPACED = range_edges(
    "E00-EFF 1000-109F 1100-11FF 1780-17FF 3005-3007 3041-318F 31A0-31BF 31F0-31FF 3400-4DBF 4E00-9FFF A960-A97F"
    " AC00-D7FF F900-FAFF FF66-FFDC 20000-3FFFF"
)
# Scripts in which marks are accents or optional vowels: Greek, Cyrillic, Hebrew, Arabic. In others they are letters.
ACCENTED = range_edges("370-6FF 750-77F 1F00-1FFF")
LATIN_RANGES = range_edges("0-36F 1D00-1EFF 2C60-2C7F A720-A7FF FB00-FB06 FF21-FF5A")
SKIN_TONES = range_edges("1F3FB-1F3FF")
# full-width forms of ASCII
WIDE_FORMS = range_edges("FF01-FF5E")
WIDE_SHIFT = 0xFEE0
# removed: accents on Latin letters, styles of emoji
UNWRITTEN = range_edges("300-36F FE00-FE0F")
TATWEEL = "\u0640"  # stretches an Arabic word
SAME_LETTER = str.maketrans("ىةیکς", "يهيكσ")  # variants of one letter


def is_unspaced(character: str) -> bool:
    """Return whether a character belongs to a script without spaces."""
    return is_within(character, UNSPACED)


def is_emoji(character: str) -> bool:
    """Return whether a character is an emoji."""
    return (
        category(character) == "So"
        and is_within(character, EMOJI)
        and not is_within(character, SKIN_TONES)
    )


def is_mark(character: str) -> bool:
    """Return whether a character is a combining mark."""
    return category(character)[0] == "M"


def is_foreign(character: str) -> bool:
    """Return whether a character is a letter of a script other than Latin."""
    return character.isalpha() and not is_within(character, LATIN_RANGES)


def folded_character(character: str) -> str:
    """Return a lower-case character in the form that is compared: without accents, if its script ignores them."""
    if is_within(character, UNWRITTEN):
        return ""
    if is_within(character, WIDE_FORMS):
        return chr(ord(character) - WIDE_SHIFT).lower()
    if not is_within(character, ACCENTED):
        return character
    parts = normalize("NFD", character)
    return "".join(
        part for part in parts if category(part) != "Mn" and part != TATWEEL
    ).translate(SAME_LETTER)


class _WordTable(dict[int, str]):
    """A table that keeps letters, digits and marks, makes emoji words, and makes all else spaces."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        same = folded_character(character)
        if is_emoji(character):
            self[code] = f" {character} "
        elif not same or same.isalnum() or is_mark(same[0]):
            self[code] = same
        else:
            self[code] = " "
        return self[code]


class _Spread(dict[int, str]):
    """A table like `_Words`, but each sign of a script without spaces becomes a word, and ASCII is unchanged."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        word = _word_table[code]
        self[code] = (
            character if code < 128 else f" {word} " if is_unspaced(character) else word
        )
        return self[code]


_word_table = _WordTable()
_spread_table = _Spread()


def spread_signs(text: str) -> str:
    """Return a text for the index's tokenizer, in which each sign of a script without spaces is a token."""
    return normalize("NFC", text).translate(_spread_table)


def words_of(text: str) -> list[str]:
    """Return the lower-case words of a text, in order. An emoji is a word."""
    return normalize("NFC", text.lower()).translate(_word_table).split()


def terms_of(text: str) -> list[str]:
    """Return the lower-case words of a text, in order; for scripts without spaces, each two neighboring signs."""
    terms: list[str] = []
    for word in words_of(text):
        terms += sign_pairs(word) if any(map(is_unspaced, word)) else [word]
    return terms


def sign_pairs(word: str) -> list[str]:
    """Return each two neighboring signs of a word in a script without spaces. Other letters and digits are words."""
    terms: list[str] = []
    for unspaced, signs in groupby(
        sign_clusters(word), key=lambda sign: is_unspaced(sign[0])
    ):
        run = [*signs]
        pairs = [one + other for one, other in pairwise(run)] if unspaced else []
        terms += pairs or ["".join(run)]
    return terms


def sign_clusters(word: str) -> list[str]:
    """Return the signs of a word, each with the marks that follow it."""
    clusters: list[str] = []
    for character in word:
        if clusters and is_mark(character):
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


def is_mostly_foreign(words: list[str]) -> bool:
    """Return whether most words are in a script other than Latin. Words without letters or digits do not count."""
    named = [word for word in words if any(map(str.isalnum, word))]
    foreign = [
        word for word in named if not word.isascii() and any(map(is_foreign, word))
    ]
    return 2 * len(foreign) > len(named)


# Function words of languages in scripts other than Latin: they do not name the subject of a text.


# Languages with spaces. Each word is folded as in the index: without accents, optional vowels and letter variants.
FUNCTION_WORDS = frozenset(
    str.split(
        """
    а без бы был была были было быть в вам вас весь во вот все всего всех вы где да для до его ее если есть еще же
    за и из или им их к как какие какои каждыи ко когда которые которыи кто ли либо между меня мне мои мы на над
    надо нам нас наш не него нее нет ни них но ну нужно о об обо он она они оно от перед по под пожалуиста после
    потом потому почему при про раз с сам свои себя со так также такои там те тем то того тоже тои только том тот ты
    у уже хочу чего чем что чтобы эта эти это этого этои этом этот я сделаи сделать тебя что-то помоги можно і або
    але був вона вони від він з й його коли ми та ти це чи що щоб який як αλλα αν αντι απο αυτα αυτη αυτο αυτος για
    δεν ειμαι ειναι εαν εγω εδω ενα ενας επισης εχει εχω η ημουν ηταν θα θελω ι και καθε κανω κατα με μεσα μετα μη
    μην μια μου να ο οι ολα οποια οποιο οποιος οπως οταν οτι ουτε παρακαλω περι πολυ που πρεπει πριν προς πως σε σας
    σου στα στη στην στις στο στον στους τα τη την της τι τις το τον του τους των ως ωστε של על את עם אל אם או אבל
    אז אין אני אתה אנחנו הוא היא הם הן זה זאת זו אלה יש כל כי כך כמו כן לא לי לך לו לנו לפני אחרי מה מי מאת מן עד
    עוד איך למה מתי איפה רק גם היה היתה להיות בבקשה צריך אפשר בכל כדי ביו في من علي الي عن مع هذا هذه ذلك تلك التي
    الذي الذين ان او ثم لا لم لن ما ماذا كيف متي اين هل قد قبل بعد كل اي عند اذا حتي هو هي هم نحن انا انت كان كانت
    يكون بين و ف ب ل ك يجب يمكن لكي الان فضلك غير بدون اريد का की के को में से पर है हैं था थी थे हो होना होने और या
    तो ही भी यह वह ये वे इस उस इन उन एक कि जो जब तब तक कब क्या क्यों कैसे कहां कौन मैं हम तुम आप मेरा मेरे मेरी
    हमारे हमारा अपना अपने अपनी नहीं न मत ना कर करें करना करने करता करते करती किया किए कीजिए लिए लिये साथ बाद पहले
    द्वारा ने रहा रहे रही गया गई जा जाता जाते जाती हुआ हुए कृपया चाहिए दें देना सकता सकते हर कोई कुछ
    """
    )
)
# Languages without spaces, the longest words first. A phrase that two texts share does not continue across these.
FUNCTION_SIGNS = str.split(
    """
    ทุกครั้ง อย่างไร อย่าง เมื่อ หน่อย ความ เป็น ต้อง ก่อน หลัง ช่วย ครับ อะไร ด้วย แล้ว หรือ 的时候 为什么 การ ที่ และ
    ของ ไม่ ให้ ได้ ค่ะ จาก โดย 什么 怎么 怎样 如何 我们 你们 他们 这个 那个 一个 一下 可以 需要 应该
    必须 时候 之前 之后 以前 以后 如果 因为 所以 但是 或者 以及 并且 不要 没有 请帮 帮我 我想 จะ ใน
    的 了 是 在 和 与 吗 呢 吧 们 这 那 个 我 你 他 请 當 時 时 当
    """
)
# Endings of Korean words, longest first: a noun has different endings in different sentences.
KOREAN_ENDINGS = str.split(
    """
    으로부터 해주세요 에서는 입니다 합니다 하세요 해줘요 에서 으로 까지 부터 에게 처럼 보다 하는
    하고 하기 해줘 할때 이나 을 를 이 가 은 는 에 의 로 과 와 도 만
    """
)
KOREAN_WORDS = frozenset(
    str.split(
        """
    그리고 그러나 하지만 또는 위해 위한 대한 대해 전에 후에 때 경우 것 수 좀 이 그 저 어떻게 무엇 왜 언제 모든 항상
    반드시 있는 없는 새
    """
    )
)


# Find out whether two texts in scripts other than Latin share a phrase. It replaces vectors, which
# are missing there.
#
# A phrase is about two words long: four Chinese characters, eight Thai signs, or two words of
# together eight letters.

MIN_PHRASE_WEIGHT = 24  # of a phrase
# of one sign or letter
SIGN_WEIGHT = 3
HIRAGANA_WEIGHT = 1
CHINESE_WEIGHT = 6
KOREAN_WEIGHT = 6
MAX_COMPARED_CHARS = 2_000  # of either text
# words of at least 6 letters are compared without 2
MIN_INFLECTED_CHARS = 6
ENDING_CHARS = 2
KOREAN = range_edges("1100-11FF AC00-D7A3")


@record
class _PhraseUnit:
    """A sign of a script without spaces, or a word of a script with spaces."""

    text: str
    weight: int  # 0: a Latin word, which may be inside a phrase
    is_word: bool = True


def foreign_phrases(text: str) -> frozenset[tuple[str, ...]]:
    """Return for each word or sign of a text the shortest phrase that starts there."""
    if text.isascii() or not any(map(is_foreign, set(text))):
        return frozenset()
    text = normalize("NFC", text[:MAX_COMPARED_CHARS].lower())
    for sign in FUNCTION_SIGNS:
        text = text.replace(sign, "\n")
    plain = [
        sign if sign == " " or sign.isalnum() or is_mark(sign) else "\n"
        for sign in text
    ]
    phrases = set()
    for line in "".join(plain).split("\n"):
        run = [unit for word in line.split() for unit in _phrase_units(word)]
        phrases |= {_phrase_from(run[at:]) for at in range(len(run)) if run[at].weight}
    return frozenset(phrases - {()})


def _phrase_from(run: list[_PhraseUnit]) -> tuple[str, ...]:
    """Return the shortest start of a run that is heavy enough; empty if it is not, or if it is only one word."""
    weight = words = 0
    for end, unit in enumerate(run, 1):
        weight += unit.weight
        words += 1 if unit.is_word else 2
        words -= unit.is_word and not unit.weight
        if weight >= MIN_PHRASE_WEIGHT and words > 1:
            return tuple(one.text for one in run[:end])
    return ()


def _phrase_units(word: str) -> list[_PhraseUnit]:
    korean = [is_within(sign, KOREAN) for sign in word]
    if any(
        is_unspaced(sign) and not own for sign, own in zip(word, korean, strict=True)
    ):
        return [
            _PhraseUnit(sign, _sign_weight(sign), False) for sign in sign_clusters(word)
        ]
    if any(korean):
        ends = (end for end in KOREAN_ENDINGS if word.endswith(end) and word != end)
        bare = word.removesuffix(next(ends, ""))
        if word in KOREAN_WORDS:
            return []
        return [_PhraseUnit(bare, KOREAN_WEIGHT * len(bare))]
    word = "".join(map(folded_character, word))
    if word in FUNCTION_WORDS:
        return []
    weight = SIGN_WEIGHT * len(word) if any(map(is_foreign, word)) else 0
    is_inflected = weight and len(word) >= MIN_INFLECTED_CHARS
    return [_PhraseUnit(word[:-ENDING_CHARS] if is_inflected else word, weight)]


def _sign_weight(sign: str) -> int:
    code = ord(sign[0])
    if 0x3040 <= code <= 0x309F:
        return HIRAGANA_WEIGHT
    if code >= 0x3400:
        return CHINESE_WEIGHT
    if is_foreign(sign[0]):
        return SIGN_WEIGHT
    return 0


LATIN_ALPHABET = range_edges("41-5A 61-7A C0-24F 250-2AF 1E00-1EFF FF21-FF3A FF41-FF5A")
OTHER_SCRIPTS = {
    "Cyrillic": range_edges("400-52F 1C80-1C8F 2DE0-2DFF A640-A69F"),
    "Greek": range_edges("370-3FF 1F00-1FFF"),
}
# kΩ, Δt and μSv are legitimate; a disguised word has more Latin letters
MAX_LATIN_BESIDE_GREEK = 2

# Letters and digits that look like a Latin letter: capitals, then lower case.
LATIN_CAPITALS = str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX")
LATIN_LETTERS = str.maketrans(
    "авсԁеһіјкӏмнорԛѕтуѵԝхьαεηικνορτυχγϲϳı01ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢɑɡɩօ",
    "abcdehijklmhopqstyvwxbaenikvoptuxycjiolabcdefghijklmnopqrstuvwyzagio",
)

ENTITY_OR_CHARACTER = re.compile(r"(?s)&(?:#x?[0-9A-Fa-f]{1,9}|[A-Za-z]{2,12});?|.")
# inside a line, only an entity can encode one
LINE_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
# Plain sign → signs that look like it.
LOOKALIKES = {
    "-": "‐‑‒–—―−⁃﹘﹣－─━╌╍┄┅➖⸺⸻ー〜",
    "*": "∗⁎✱✲✳＊٭",
    ":": "꞉∶ː：﹕︰ː᛬",
    "|": "∣│┃¦ǀ｜❘⏐",
    "(": "（❨⟮⦅﹙⁽₍",
    "[": "［【〔⟦❲﹇",
    "]": "］】〕⟧❳﹈",
    "<": "＜‹〈⟨❮❰ᐸ﹤〈˂",
    ">": "＞›〉⟩❯❱ᐳ﹥〉˃",
    "#": "＃♯﹟",
    ",": "，‚、﹐",
    "/": "／⁄∕⧸",
    "=": "＝═﹦",
    " ": "\u2800",  # of Braille, without dots
}
LOOKALIKE_SIGNS = str.maketrans(
    {sign: plain for plain, signs in LOOKALIKES.items() for sign in signs}
)


def mixed_script(text: str) -> str:
    """Return the scripts that one word mixes, such as "Latin + Cyrillic"; empty if no word mixes scripts."""
    if text.isascii():
        return ""
    words = "".join(c if c.isalpha() else " " for c in text).split()
    return next(filter(None, map(_mixed_scripts, words)), "")


def confusable_with(key: str, known: Iterable[str]) -> str:
    """Return the known key that a key imitates by look-alike letters or by case; empty if there is none."""
    names = list(known)
    if key in names:
        return ""
    folded = _fold_key(key)
    return next((name for name in names if _fold_known_key(name) == folded), "")


def _mixed_scripts(word: str) -> str:
    latin = sum(is_within(c, LATIN_ALPHABET) for c in word)
    others = [
        name
        for name, edges in OTHER_SCRIPTS.items()
        if any(is_within(c, edges) for c in word)
    ]
    if others == ["Greek"] and latin <= MAX_LATIN_BESIDE_GREEK:
        # else a unit
        others = others if len(word) > 2 and _fold_key(word).isascii() else []
    return " + ".join(["Latin", *others]) if latin and others else ""


def _fold_key(key: str) -> str:
    seen = normalize("NFKD", visible_text(key)[0])
    return _folded(seen).strip().translate(LATIN_LETTERS)


def _folded(text: str) -> str:
    """Return a decomposed text in small letters without marks; capitals that look like Latin ones become Latin."""
    plain = text.translate(LATIN_CAPITALS).casefold()
    return "".join(c for c in plain if not combining(c))


_fold_known_key = cache(_fold_key)


def read_as_seen(line: str) -> tuple[str, list[int] | None]:
    """Return a line in lower case as a reader sees it, and the old index of each character (None: unchanged)."""
    if (
        "&" not in line
        and "\\" not in line
        and all(len(_plain_look(character)) == 1 for character in set(line))
    ):
        return "".join(map(_plain_look, line)), None
    from html import unescape  # a large table that few texts need

    seen: list[str] = []
    places: list[int] = []
    for match in ENTITY_OR_CHARACTER.finditer(line):
        for character in unescape(match[0]).replace("\\", ""):
            look = _plain_look(character)
            seen += look
            places += [match.start()] * len(look)
    return "".join(seen), [*places, len(line)]


@cache
def _plain_look(character: str) -> str:
    """Return the plain characters, in lower case, that one character looks like."""
    if character in LINE_BREAKS:
        return "\n"
    if character == "\t":
        return " "
    if character.isascii():
        return character.lower()
    if treatment_of(character) in UNSEEN:
        return ""
    sign = normalize("NFKD", character.translate(LOOKALIKE_SIGNS))
    letters = _folded(sign.translate(LOOKALIKE_SIGNS))
    letters = letters if letters.isascii() else letters.translate(LATIN_LETTERS)
    return " " if letters.isspace() else letters
