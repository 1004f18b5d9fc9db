"""Checks whether a match that looks like a card, an IBAN, a number or an address really is one."""

from __future__ import annotations

# Length of an IBAN by country, from the registry; a match of another length is not an IBAN.
IBAN_LENGTHS = {
    code: length
    for length, codes in {
        15: "NO", 16: "BE", 18: "DK FO FI GL NL SD FK", 19: "MK SI", 20: "AT BA EE KZ LT LU XK MN", 21: "CH HR LI LV",
        22: "BH BG CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ TL OM SO", 24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST", 26: "IS TR", 27: "BI DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
        29: "BR EG PS QA UA", 30: "JO KW MU YE", 31: "MT SC", 32: "LC", 33: "RU",
    }.items()
    for code in codes.split()
}  # fmt: skip

# First digits and lengths of payment cards: Amex, Diners, JCB, Visa, Mastercard, Discover, UnionPay, Mir, Maestro.
CARDS = (
    ("34 37", (15,)),
    ("300 301 302 303 304 305 36 38 39", (14,)),
    ("352 353 354 355 356 357 358", (16,)),
    ("4", (13, 16, 19)),
    ("51 52 53 54 55 222 223 224 225 226 23 24 25 26 270 271 2720", (16,)),
    ("6011 644 645 646 647 648 649 65", (16,)),
    ("62", (16, 17, 18, 19)),
    ("2200 2201 2202 2203 2204", (16,)),
    ("5019 5610 637 638 639 6333 6334 6767 606282 508", (16,)),
    ("5018 5020 5038 5893 6304 6331 6759 6761 6762 6763", (16, 18, 19)),
)

FILE_ENDINGS = ("png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "ts", "json", "html", "md", "py", "service")
LOGINS = ("ssh", "sftp", "rsync", "mosh", "ssh-copy-id")  # `ssh deploy@host` names a machine
PHONE_DIGITS = range(8, 16)  # E.164 allows 15; fewer than 8 are extensions or years
OBJECT_IDS = ("1.3.", "2.5.")  # ISO object identifiers look like addresses
MIN_ADDRESS_OCTET = 30  # four numbers all below this are a version, not an address


def passes(check: str, value: str, before: str, after: str) -> bool:
    """Return whether a match passes the check that its rule names; `before` and `after` are the text around it."""
    if check == "email":
        return _is_email(value, before, after)
    if check == "card":
        return is_card(value)
    if check == "iban":
        return iban_in(value) != ""
    if check == "ssn":
        return _is_ssn(value)
    if check == "phone":
        return phone_in(value) != ""
    return _is_public_address(value, before) if check == "ip" else True


def is_card(value: str) -> bool:
    """Tell whether digits are a card number: a known issuer, the right length, and Luhn's checksum."""
    digits = "".join(c for c in value if c.isdigit())
    known = any(len(digits) in lengths and digits.startswith(tuple(starts.split())) for starts, lengths in CARDS)
    doubled = [int(d) * 2 for d in digits[-2::-2]]
    return known and (sum(map(int, digits[-1::-2])) + sum(d - 9 * (d > 9) for d in doubled)) % 10 == 0


def iban_in(value: str) -> str:
    """Return the IBAN at the start of a match, with spaces and hyphens; empty if there is none."""
    wanted = IBAN_LENGTHS.get(value[:2], 0)
    end = seen = 0
    while end < len(value) and seen < wanted:
        seen += value[end] not in " -"
        end += 1
    found = value[:end]
    plain = found.replace(" ", "").replace("-", "")
    if not wanted or len(plain) != wanted or value[end : end + 1].isalnum():
        return ""
    return found if int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1 else ""


def phone_in(value: str) -> str:
    """Return the telephone number at the start of a match: whole groups, with as many digits as a number may have."""
    while sum(c.isdigit() for c in value.partition("x")[0]) >= PHONE_DIGITS.stop:
        value = value[: max(value.rfind(c) for c in " .-")] if any(c in value for c in " .-") else ""
    return value if sum(c.isdigit() for c in value) in PHONE_DIGITS or "x" in value else ""


def _is_email(value: str, before: str, after: str) -> bool:
    local, _, domain = value.rpartition("@")
    if domain.rpartition(".")[2].lower() in FILE_ENDINGS or local.strip(".") == "":
        return False
    remote = after[:1] == ":" and (after[1:2].isalnum() or after[1:2] in "/~")  # an scp or git address
    login = any(f"{word} " in before for word in LOGINS)
    return not remote and not login and local.lower() != "git"


def _is_ssn(value: str) -> bool:
    digits = "".join(c for c in value if c.isdigit())
    separators = {c for c in value if not c.isdigit()}
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    never = area in ("000", "666") or area[0] == "9" or group == "00" or serial == "0000"
    return len(separators) < 2 and not never and digits not in ("078051120", "219099999", "123456789")


def _is_public_address(value: str, before: str) -> bool:
    from ipaddress import ip_address

    if before.rstrip(" =:").lower().endswith(("version", "v", "release")):
        return False
    try:
        address = ip_address(value)
    except ValueError:
        return False
    if value.startswith(OBJECT_IDS):
        return False
    version = address.version == 4 and all(int(part) < MIN_ADDRESS_OCTET for part in value.split("."))
    return address.is_global and not address.is_multicast and not version
