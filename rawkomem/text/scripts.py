"""Characters of scripts other than Latin: folding and splitting them, function words, phrases that two
texts share, and letters or signs that imitate others. ASCII text never needs this file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from unicodedata import category, combining, normalize

from ..model.values import record
from .clean import DROP, EMOJI, JOIN, STYLE, TAG, is_within, range_edges, treatment_of

# Fold the characters of any script, so that words can be compared, and split text of scripts
# without spaces.
#
# Two translation tables do this. They fill themselves, so that only new characters take time.

SPREADING = "signs-1"  # version of the rules for terms: change it, and the index's schema version, with the rules
# Scripts without spaces, and Korean, whose endings no tokenizer removes.
UNSPACED = range_edges(
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3041, 0x318F),
    (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA960, 0xA97F), (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF), (0xFF66, 0xFFDC), (0x20000, 0x3FFFF),
)  # fmt: skip
# Scripts in which marks are accents or optional vowels: Greek, Cyrillic, Hebrew, Arabic. In others they are letters.
ACCENTED = range_edges((0x0370, 0x06FF), (0x0750, 0x077F), (0x1F00, 0x1FFF))
LATIN_RANGES = range_edges(
    (0, 0x036F),
    (0x1D00, 0x1EFF),
    (0x2C60, 0x2C7F),
    (0xA720, 0xA7FF),
    (0xFB00, 0xFB06),
    (0xFF21, 0xFF5A),
)
SKIN_TONES = range_edges((0x1F3FB, 0x1F3FF))
WIDE_FORMS, WIDE_SHIFT = range_edges((0xFF01, 0xFF5E)), 0xFEE0  # full-width forms of ASCII
UNWRITTEN = range_edges(
    (0x0300, 0x036F), (0xFE00, 0xFE0F)
)  # removed: accents on Latin letters, styles of emoji
TATWEEL = "\u0640"  # stretches an Arabic word
SAME_LETTER = {"ى": "ي", "ة": "ه", "ی": "ي", "ک": "ك", "ς": "σ"}  # variants of one letter


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
    bare = "".join(
        part for part in normalize("NFD", character) if category(part) != "Mn" and part != TATWEEL
    )
    return SAME_LETTER.get(bare, bare)


class _Words(dict[int, str]):
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
        self[code] = character if code < 128 else f" {word} " if is_unspaced(character) else word
        return self[code]


_word_table = _Words()
_spread_table = _Spread()


def spread_signs(text: str) -> str:
    """Return a text for the index's tokenizer, in which each sign of a script without spaces is a token."""
    return normalize("NFC", text).translate(_spread_table)


def terms_of(text: str) -> list[str]:
    """Return the lower-case words of a text, in order; for scripts without spaces, each two neighboring signs."""
    found: list[str] = []
    for word in normalize("NFC", text.lower()).translate(_word_table).split():
        found += sign_pairs(word) if any(map(is_unspaced, word)) else [word]
    return found


def sign_pairs(word: str) -> list[str]:
    """Return each two neighboring signs of a word in a script without spaces. Other letters and digits are words."""
    found: list[str] = []
    run: list[str] = []
    for sign in [*sign_clusters(word), ""]:
        if sign and is_unspaced(sign[0]) == (bool(run) and is_unspaced(run[0][0])):
            run.append(sign)
            continue
        if run:
            found += _pairs_of_run(run)
        run = [sign]
    return found


def _pairs_of_run(run: list[str]) -> list[str]:
    if not is_unspaced(run[0][0]) or len(run) == 1:
        return ["".join(run)]
    return [one + other for one, other in pairwise(run)]


def sign_clusters(word: str) -> list[str]:
    """Return the signs of a word, each with the marks that follow it."""
    found: list[str] = []
    for character in word:
        if found and is_mark(character):
            found[-1] += character
        else:
            found.append(character)
    return found


def is_mostly_foreign(words: list[str]) -> bool:
    """Return whether most words are in a script other than Latin. Words without letters or digits do not count."""
    named = [word for word in words if any(map(str.isalnum, word))]
    foreign = [word for word in named if not word.isascii() and any(map(is_foreign, word))]
    return 2 * len(foreign) > len(named)


# Function words of languages in scripts other than Latin: they do not name the subject of a text.


def _words(text: str) -> list[str]:
    return text.split()


def _word_set(text: str) -> frozenset[str]:
    return frozenset(_words(text))


# Languages with spaces. Each word is folded as in the index: without accents, optional vowels and letter variants.
FUNCTION_WORDS = _word_set(
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
# Languages without spaces, the longest words first. A phrase that two texts share does not continue across these.
FUNCTION_SIGNS = _words(
    """
    ทุกครั้ง อย่างไร อย่าง เมื่อ หน่อย ความ เป็น ต้อง ก่อน หลัง ช่วย ครับ อะไร ด้วย แล้ว หรือ 的时候 为什么 การ ที่ และ
    ของ ไม่ ให้ ได้ ค่ะ จาก โดย 什么 怎么 怎样 如何 我们 你们 他们 这个 那个 一个 一下 可以 需要 应该
    必须 时候 之前 之后 以前 以后 如果 因为 所以 但是 或者 以及 并且 不要 没有 请帮 帮我 我想 จะ ใน
    的 了 是 在 和 与 吗 呢 吧 们 这 那 个 我 你 他 请 當 時 时 当
    """
)
# Endings of Korean words, longest first: a noun has different endings in different sentences.
KOREAN_ENDINGS = _words(
    """
    으로부터 해주세요 에서는 입니다 합니다 하세요 해줘요 에서 으로 까지 부터 에게 처럼 보다 하는
    하고 하기 해줘 할때 이나 을 를 이 가 은 는 에 의 로 과 와 도 만
    """
)
KOREAN_WORDS = _word_set(
    """
    그리고 그러나 하지만 또는 위해 위한 대한 대해 전에 후에 때 경우 것 수 좀 이 그 저 어떻게 무엇 왜 언제 모든 항상
    반드시 있는 없는 새
    """
)


# Find out whether two texts in scripts other than Latin share a phrase. It replaces vectors, which
# are missing there.
#
# A phrase is about two words long: four Chinese characters, eight Thai signs, or two words of
# together eight letters.

MIN_PHRASE_WEIGHT = 24  # of a phrase
CHINESE_WEIGHT, KOREAN_WEIGHT, HIRAGANA_WEIGHT, OTHER_SIGN_WEIGHT, LETTER_WEIGHT = (
    6,
    6,
    1,
    3,
    3,
)  # weight of one sign or letter
MAX_COMPARED_CHARS = 2_000  # of either text
MIN_INFLECTED_CHARS, ENDING_CHARS = (
    6,
    2,
)  # words of at least 6 letters are compared without their last 2


@record
class _PhraseUnit:
    """A sign of a script without spaces, or a word of a script with spaces."""

    text: str
    weight: int  # 0: a Latin word, which may be inside a phrase
    is_word: bool


def foreign_phrases(text: str) -> frozenset[tuple[str, ...]]:
    """Return for each word or sign of a text the shortest phrase that starts there."""
    if text.isascii() or not any(map(is_foreign, set(text))):
        return frozenset()
    found = set()
    for run in _phrase_runs(text[:MAX_COMPARED_CHARS]):
        found |= {
            phrase
            for at, unit in enumerate(run)
            if unit.weight and (phrase := _phrase_from(run, at))
        }
    return frozenset(found)


def _phrase_from(run: list[_PhraseUnit], start: int) -> tuple[str, ...]:
    weight = words = signs = 0
    for end in range(start, len(run)):
        unit = run[end]
        weight += unit.weight
        words += unit.is_word and unit.weight > 0
        signs += not unit.is_word
        if weight >= MIN_PHRASE_WEIGHT and (signs or words > 1):
            return tuple(one.text for one in run[start : end + 1])
    return ()


def _phrase_runs(text: str) -> list[list[_PhraseUnit]]:
    """Return the runs of units between punctuation and function words of scripts without spaces."""
    text = normalize("NFC", text.lower())
    for sign in FUNCTION_SIGNS:
        text = text.replace(sign, "\n")
    plain = "".join(
        [sign if sign == " " or sign.isalnum() or is_mark(sign) else "\n" for sign in text]
    )
    return [
        [unit for word in line.split() for unit in _phrase_units(word)]
        for line in plain.split("\n")
    ]


def _phrase_units(word: str) -> list[_PhraseUnit]:
    if any(is_unspaced(sign) and not _is_korean(sign) for sign in word):
        return [
            _PhraseUnit(sign, _sign_weight(sign), is_word=False) for sign in sign_clusters(word)
        ]
    if any(map(_is_korean, word)):
        bare = next(
            (
                word.removesuffix(end)
                for end in KOREAN_ENDINGS
                if word.endswith(end) and word != end
            ),
            word,
        )
        return (
            []
            if word in KOREAN_WORDS
            else [_PhraseUnit(bare, KOREAN_WEIGHT * len(bare), is_word=True)]
        )
    word = "".join(map(folded_character, word))
    if word in FUNCTION_WORDS:
        return []
    if not any(map(is_foreign, word)):
        return [_PhraseUnit(word, 0, is_word=True)]
    return [
        _PhraseUnit(
            word[:-ENDING_CHARS] if len(word) >= MIN_INFLECTED_CHARS else word,
            LETTER_WEIGHT * len(word),
            is_word=True,
        )
    ]


def _sign_weight(sign: str) -> int:
    code = ord(sign[0])
    if 0x3040 <= code <= 0x309F:
        return HIRAGANA_WEIGHT
    return CHINESE_WEIGHT if code >= 0x3400 else OTHER_SIGN_WEIGHT if is_foreign(sign[0]) else 0


def _is_korean(sign: str) -> bool:
    return "\uac00" <= sign <= "\ud7a3" or "\u1100" <= sign <= "\u11ff"


# Detect look-alikes: words that mix scripts, keys that imitate a known key, and signs that imitate
# other signs.

LATIN_ALPHABET = range_edges(
    (0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F), (0x250, 0x2AF), (0x1E00, 0x1EFF), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A)
)  # fmt: skip
OTHER_SCRIPTS = (
    ("Cyrillic", range_edges((0x400, 0x52F), (0x1C80, 0x1C8F), (0x2DE0, 0x2DFF), (0xA640, 0xA69F))),
    ("Greek", range_edges((0x370, 0x3FF), (0x1F00, 0x1FFF))),
)
MAX_LATIN_BESIDE_GREEK = 2  # kΩ, Δt and μSv are legitimate; a disguised word has more Latin letters

# Letters and digits that look like a Latin letter: capitals, then lower case.
LATIN_CAPITALS = str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX")
LATIN_LETTERS = str.maketrans(
    "авсԁеһіјкӏмнорԛѕтуѵԝхьαεηικνορτυχγϲϳı01", "abcdehijklmhopqstyvwxbaenikvoptuxycjiol"
)

HTML_ENTITIES = {
    "lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "num": "#", "ast": "*", "midast": "*", "lpar": "(",
    "rpar": ")", "comma": ",", "colon": ":", "lsqb": "[", "lbrack": "[", "rsqb": "]", "rbrack": "]", "vert": "|",
    "verbar": "|", "sol": "/", "bsol": "\\", "lowbar": "_", "equals": "=", "grave": "`", "hyphen": "-", "dash": "-",
    "minus": "-", "ndash": "-", "mdash": "-", "nbsp": " ", "tab": " ", "newline": "\n", "shy": "",
}  # fmt: skip
MAX_CODE = 0x10FFFF
ENTITY_OR_CHARACTER = re.compile(  # numbers and some names need no semicolon
    r"(?is)&#x(?P<hexadecimal>[0-9a-f]{1,8});?|&#(?P<decimal>[0-9]{1,9});?"
    rf"|&(?P<name>(?:{'|'.join(HTML_ENTITIES)})(?=;)|lt|gt|amp|quot|nbsp|shy);?|."
)
LINE_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # inside a line, only an entity can encode one
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
}
LOOKALIKE_SIGNS = str.maketrans(
    {sign: plain for plain, signs in LOOKALIKES.items() for sign in signs}
)


def mixed_script(text: str) -> str:
    """Return the scripts that one word mixes, such as "Latin + Cyrillic"; empty if no word mixes scripts."""
    if text.isascii():
        return ""
    for word in "".join(c if c.isalpha() else " " for c in text).split():
        mix = _mixed_scripts(word)
        if mix:
            return mix
    return ""


def confusable_with(key: str, known: Iterable[str]) -> str:
    """Return the known key that a key imitates by look-alike letters or by case; empty if there is none."""
    names = list(known)
    if key in names:
        return ""
    folded = _fold_key(key)
    return next((name for name in names if _fold_known_key(name) == folded), "")


def _mixed_scripts(word: str) -> str:
    latin = sum(is_within(c, LATIN_ALPHABET) for c in word)
    others = [name for name, edges in OTHER_SCRIPTS if any(is_within(c, edges) for c in word)]
    if not latin or not others:
        return ""
    if others == ["Greek"] and latin <= MAX_LATIN_BESIDE_GREEK and not _disguised(word):
        return ""
    return " + ".join(["Latin", *others])


def _disguised(word: str) -> bool:
    """Return whether a short mixed word looks entirely like Latin letters."""
    return len(word) > 2 and _fold_key(word).isascii()


def _fold_key(key: str) -> str:
    seen = "".join(c for c in key if treatment_of(c) not in (DROP, JOIN, STYLE, TAG))
    plain = normalize("NFKD", seen).translate(LATIN_CAPITALS).casefold().strip()
    return "".join(c for c in plain if not combining(c)).translate(LATIN_LETTERS)


_fold_known_key = cache(_fold_key)


def read_as_seen(line: str) -> tuple[str, list[int] | None]:
    """Return a line in lower case as a reader sees it, and the old index of each character (None: unchanged)."""
    if (
        "&" not in line
        and "\\" not in line
        and all(len(_plain_look(character)) == 1 for character in set(line))
    ):
        return "".join(map(_plain_look, line)), None
    seen: list[str] = []
    places: list[int] = []
    for match in ENTITY_OR_CHARACTER.finditer(line):
        character = _encoded_character(match)
        for one in "" if character == "\\" else _plain_look(character):
            seen.append(one)
            places.append(match.start())
    return "".join(seen), [*places, len(line)]


def _encoded_character(match: re.Match[str]) -> str:
    """Return the character that an entity encodes, or the character itself."""
    if match["name"]:
        return HTML_ENTITIES[match["name"].lower()]
    code = int(match["hexadecimal"] or "0", 16) or int(match["decimal"] or "0")
    return chr(code) if 0 < code <= MAX_CODE else match[0][0]


_plain_looks: dict[str, str] = {}


def _plain_look(character: str) -> str:
    """Return the plain characters, in lower case, that one character looks like."""
    if character in LINE_BREAKS:
        return "\n"
    if character == "\t":
        return " "
    if character.isascii():
        return character.lower()
    if character not in _plain_looks:
        sign = character.translate(LOOKALIKE_SIGNS)
        plain = (
            normalize("NFKD", sign).translate(LOOKALIKE_SIGNS).translate(LATIN_CAPITALS).casefold()
        )
        letters = "".join(c for c in plain if not combining(c))
        letters = letters if letters.isascii() else letters.translate(LATIN_LETTERS)
        _plain_looks[character] = " " if letters.isspace() else letters
    return _plain_looks[character]
