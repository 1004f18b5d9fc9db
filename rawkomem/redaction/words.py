"""Words for passwords and keys in languages other than English, and their translation for the patterns.

Patterns read one byte per character. A word beyond Latin-1 is replaced with an English word of the same length, and
typographic colons, quotes and blanks with ASCII characters, so that all positions stay.
"""

from __future__ import annotations

# Latin-1 words, as part of a pattern.
PASSWORD_PATTERN = (
    r"passwort|kennwort|losungswort|contrase(?:n|\xf1)a|palavra-passe|mot ?de ?passe|senha|wachtwoord|"
    r"l(?:\xf6|o)senord|adgangskode|salasana|heslo|geslo|lozinka|parool|parol[ae]|slaptazodis|jelsz(?:\xf3|o)|"
    r"kata ?sandi|katasandi|lykilor(?:\xf0|d)|sifre"
)
KEY_PATTERN = (
    r"(?:api[ -]?)?schl(?:\xfc|ue)ssel|cl(?:\xe9|e) (?:d'|de l')?api|cl(?:\xe9|e) (?:secr(?:\xe8|e)te|priv(?:\xe9|e)e)|"
    r"(?:clave|chave|chiave|llave) (?:de |da |do |di )?(?:la |l')?(?:api|secreta|segreta|privada|privata)|"
    r"(?:clave|chave) de (?:acceso|acesso)|jeton|sleutel|nyckel|klucz|avain|kl(?:\xed|i)c"
)
PASSWORD_WORDS = (
    "passwort", "kennwort", "losungswort", "passe", "senha", "wachtwoord", "losenord", "lösenord", "passord",
    "adgangskode", "salasana", "heslo", "geslo", "lozinka", "parool", "parola", "parole", "slaptazodis", "jelszó",
    "jelszo", "sandi", "katasandi", "lykilorð", "sifre", "contraseña", "contrasena", "motdepasse",
)  # fmt: skip
KEY_WORDS = (
    "schlüssel", "schluessel", "clé", "cle", "clave", "chave", "chiave", "llave", "jeton", "sleutel", "nyckel", "klucz",
    "avain", "klíč",
)  # fmt: skip

# Words beyond Latin-1. Forms that only add an ending are left out.
WIDE_PASSWORD_WORDS = (
    "пароль", "пароля", "паролем", "парола", "лозинка", "hasło", "hasła", "şifre", "parolă", "slaptažodis", "κωδικός",
    "συνθηματικό", "סיסמה", "סיסמא", "كلمة المرور", "كلمة السر", "رمز عبور", "گذرواژه", "पासवर्ड", "รหัสผ่าน", "mật khẩu",
    "密码", "密碼", "口令", "暗証番号", "パスワード", "비밀번호", "비번", "패스워드", "암호",
)  # fmt: skip
WIDE_KEY_WORDS = (
    "密钥", "密鑰", "秘钥", "令牌", "トークン", "シークレット", "アクセスキー", "APIキー", "토큰", "API 키", "API-ключ",
    "ключ API", "токен", "секрет", "κλειδί API", "مفتاح API",
)  # fmt: skip
TYPOGRAPHY = "…–—•≤≥−✓"  # characters beyond Latin-1 in English texts
COPULAS = "是为為はがの이가는은"  # "is" between a word and its value without a blank
STAND_INS = ("", "", "pw", "pwd", "pwds", "_pwds", "passwd", "_passwd", "password")  # by length
KEY_STAND_INS = ("", "", "pw", "pat", "auth", "token", "secret")

PLAIN = {
    "：": ":", "﹕": ":", "＝": "=", "→": ":", "⇒": ":", "➜": ":",
    "\xa0": " ", "\u202f": " ", "\u2009": " ", "\u3000": " ",
    "’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "「": '"', "」": '"', "『": '"', "』": '"',
}  # fmt: skip


def _by_first_character() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Return first character → the words that start with it, in each letter case, with their stand-ins."""
    words: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for listed, stand_ins in ((WIDE_PASSWORD_WORDS, STAND_INS), (WIDE_KEY_WORDS, KEY_STAND_INS)):
        for word in listed:
            for form in sorted({word, word.capitalize(), word.upper()}):
                if len(form) == len(word):
                    words.setdefault(form[0], []).append((form, stand_ins))
    return words


WIDE_WORDS = _by_first_character()


def familiar(text: str) -> str:
    """Return the text with words for passwords and keys of other scripts in English; its length stays the same."""
    if text.isascii():
        return text
    for character, plain in PLAIN.items():
        if character in text:
            text = text.replace(character, plain)
    if len(text.encode("latin-1", "ignore")) + sum(map(text.count, TYPOGRAPHY)) == len(text):
        return text  # no letter beyond Latin-1
    for character, words in WIDE_WORDS.items():
        for word, stand_ins in words if character in text else ():
            if word in text:
                text = _replaced(text, word, stand_ins)
    return text


def _replaced(text: str, word: str, stand_ins: tuple[str, ...]) -> str:
    """Return the text with a stand-in of the same length for a word, and a colon for a copula after it."""
    longest = stand_ins[-1]
    said = stand_ins[len(word)] if len(word) < len(stand_ins) else "_" * (len(word) - len(longest)) + longest
    for copula in COPULAS:
        text = text.replace(word + copula, said + ":")
    return text.replace(word, said)
