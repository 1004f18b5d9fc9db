"""Places of passwords and keys other than assignments: commands, headers, addresses, prose. Data only.

A row is (test, words, pattern): the test of the value (see `assigned`), words that must occur, in any case
(`a|b&c`: a or b, and c), and the pattern with the value in its last group.
"""

from __future__ import annotations

from .words import PASSWORD_PATTERN

USER = r"(?:user ?id|uid|user_?name|user|login)"
PASSWORD = r"(?:password|passwd|pwd|pass|pw)"
ANY_PASSWORD = rf"(?:password|passwd|passphrase|passcode|pwd|pw|{PASSWORD_PATTERN})"
KEY = r"(?:(?:api|access|secret|auth|deploy)[ -]?key|token|secret)"
VALUE = r"[\"'`]?([^\s\"'`,;|]+)"
SQL = (
    r"(?:identified (?:by|with \w+ (?:by|as))(?: password)?"
    r"|(?:with|encrypted|set) password(?: for [^=\n]{1,60})?(?: ?=)?)"
)
HEXADECIMAL_KEY = r"((?:0x)?[0-9a-f]{64})\b"

PLACES = (
    ("sure", ";&user|uid|login", rf"(?i){USER}\s*=[^;\n]*;[\s\"&+]*{PASSWORD}\s*=\s*([^;\"'\s]+)"),
    ("any", "pass|pw&user|uid|login", rf"(?im)^\W{{0,4}}{USER}\s*[:=]\s*\S+[^\n]*\n(?:[ \t]*(?:#|//)[^\n]*\n){{0,3}}"
            rf"\W{{0,4}}{PASSWORD}\s*[:=]\s*(\S+)$"),
    ("any", "machine", r"(?i)machine\s+\S+\s+login\s+\S+\s+password\s+(\S+)"),
    ("pair", "pass|pw&user|uid|login", rf"(?i)\b{USER}[ \t]+([^\s:=,]+)[ \t]+{PASSWORD}[ \t]+([^\s:=,|`]+)"),
    ("sure", "pass|pw&user|uid|login", rf"(?i)\b{USER}\s+[\"'][^\"'\n]*[\"']\s+{PASSWORD}\s+[\"']([^\"'\n]+)[\"']"),
    ("any", "mysql|mariadb", r"\b(?:mysql\w*|mariadb\S*)\b[^\n]*?\s-p['\"]?([^\s'\"]+)"),
    ("any", "redis-cli", r"redis-cli\b[^\n]*?\s(?:-a|--pass)\s+['\"]?([^\s'\"]+)"),
    ("any", "securestring", r"(?i)ConvertTo-SecureString\s+(?:-String\s+)?[\"']([^\"'\n]+)[\"']"),
    ("any", "variable \"",
     r"variable\s+\"\w*(?:password|secret|token|key)\w*\"\s*\{[^}]*?\bdefault\s*=\s*\"([^\"\n]+)\""),
    ("strong", "cookie:", r"(?i)cookie:[^\n]*?\b(?:session\w*|[\w.]*sid|auth\w*|jwt)=([^\s;,\"']{16,})"),
    ("strong", "passw|passphrase", r"(?i)\b(?:password|passwd|passphrase)(?: is| was)?:? +`([^`\s]+)`"),
    ("any", "sshpass|psexec", r"(?i)(?:sshpass\s+-p\s*|psexec[^\n]*?\s-p\s+)['\"]?([^\s'\"]+)"),
    ("any", "password", r"(?m)^\s*password\s+[\"']([^\"'\n]+)[\"']"),
    ("any", "==&passw|pwd|secret", r"(?i)[\"']([^\"'\n]{4,})[\"']\s*[!=]==?\s*[\w.]*(?:passw|pwd|secret)"),
    ("login", "-u |-u\"|-u'|--user|--proxy-user",
     r"(?:curl|wget|http)\b[^\n]*?(?:\\\s*\n[^\n]*?)*?\s(?:-u|--user|--proxy-user)[ =]*"
     r"[\"']?[^\s:\"'$-][^\s:\"'$]*:[\"']?([^\s\"']+)"),
    ("strong", "-pass|-token|-api|-secret|-auth|_token|_key",
     r"(?i)(?:^|\s)--?[\w-]*(?:password|passwd|pass|token|api-?key|secret|auth)[ =]+[\"']?([^\s\"']+)"),
    ("chosen", "-pass|-pw|-db", rf"(?i)(?:^|\s)--?[\w-]*{PASSWORD}[ =]+[\"']?([^\s\"']+)"),
    ("chosen", "htpasswd|ldap|unzip|7z|openssl|smbclient|net use|sqlcmd|docker login|mongo|sshpass|bcp |zip -",
     r"(?i)\b(?:htpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+|ldap\w+\b[^\n]*?\s-w\s*|(?:unzip|zip)\b[^\n]*?\s-P\s*|7z\w*\s[^\n]*?\s-p"
     r"|openssl\b[^\n]*?\s(?:-k\s+|-pass(?:in|out)?\s+pass:)|smbclient\b[^\n]*?\s-U\s*[^\s%]+%"
     r"|net use\b[^\n]*?/user:\S+\s+|(?:sqlcmd|bcp)\b[^\n]*?\s-P\s*"
     r"|docker login\b[^\n]*?\s-p\s*|mongo\w*\b[^\n]*?\s-p\s*)[\"']?([^\s\"']+)"),
    ("login", "chpasswd", r"(?:echo|printf)\s+[\"']?[\w.-]+:([^\s\"'|]+)[\"']?\s*\|\s*(?:sudo\s+)?chpasswd"),
    ("any", "identified|with password|set password|encrypted password", rf"(?i)\b{SQL}\s*\(?[\"']([^\"'\n]+)[\"']"),
    ("shell", "setx|set -|config set|env |arg &pass|pwd|token|secret|key",
     r"(?im)(?:^|\s)(?:setx|set\s+-\w+|config set|ENV|ARG)\s+[\w./:-]*(?:pass|pwd|token|secret|key)\w*[ =]+"
     r"[\"']?([^\s\"']+)"),
    ("spoken", "pass|pw|kennwort|losungswort|wachtwoord|senha|salasana|heslo|lozinka|jelsz|senord|contrase",
     rf"(?i)\b{ANY_PASSWORD}"
     rf"(?: (?:for|of|in|on|to) (?:the )?[\w.@-]+(?: [\w.@-]+)?(?: is| was)?[ :=]{{1,3}}|[ \t]+){VALUE}"),
    ("spoken-key", "token|secret|api key|api-key|apikey|access key|auth key|deploy key", rf"(?i)\b{KEY}[ \t]+{VALUE}"),
    ("pair-strong", "cred|login|account",
     r"(?i)\b(?:creds|credentials?|login|account|user/pass(?:word)?)\W{1,3}([\w.@-]+)\s?[:/|]\s?[`\"']?([^\s`\"'|]+)"),
    ("pair-strong", "pass|pw&id/|id |user|login|account|\xff",  # ID/PW: ada/…, user and password = ada : …
     r"(?i)(?:\b|_|\xff)(?:id|user(?:name)?|login|account|\xff)\)?\s?(?:[/&+,:( ]|and|und|et|y)\s?"
     rf"{ANY_PASSWORD}\b(?:/\w+)?"
     r"[ \t:=>)(-]{1,4}([\w.@-]+)\s?(?:/{1,2}|[:,(]|\s)\s?([^\s/)(\"'`,;|=]+)"),
    ("spoken", "is the pass|is the pw", rf"(?i)[\"'`]?([^\s\"'`,;|]+)[\"'`]? is the {ANY_PASSWORD}"),
    ("any", "private|priv", rf"(?i)priv(?:ate)?[ _-]?key\W{{1,4}}(?:is |was )?\W{{0,2}}{HEXADECIMAL_KEY}"),
    ("sure", "phrase|seed words|recovery words|mnemonic",
     r"(?i)(?:(?:seed|recovery|backup|wallet|secret)[ _-]?(?:phrase|words)|mnemonic)\W{1,4}(?:is |= ?)?[\"'`]?"
     r"((?-i:[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11}(?:(?:[ ,]{1,2}[a-z]{3,8}){3}){0,4}))\b"),
    ("login", "5432|6432", r"(?m)^[\w.*-]+:\d{4,5}:[\w*-]+:[\w*-]+:(\S+)$"),
)  # fmt: skip

HEADS = ("bearer", "basic ", "token ", "apikey ", "authorization", "ssws")
# The rows with their words in groups: one word of each group must occur.
GROUPED = tuple((test, tuple(group.split("|") for group in words.split("&")), row) for test, words, row in PLACES)
WORDS = tuple(sorted({"://", *HEADS, *(word for _, groups, _ in GROUPED for group in groups for word in group)}))

# Group 1 or 2: the scheme; 3: the value.
HEADER = (
    r"(?i)(?:authorization[\"']?\s*[:=]\s*[\"'`]?([a-z][\w-]{1,19}) |\b(bearer|basic|token|api-?token|apikey|ssws) )"
    r"\s*([\w.~+/=:^#-]{8,})"
)
URL = r"[A-Za-z][A-Za-z0-9+.-]*://[^\s:/@\"'`<>]*:([^\s/\"'`<>]+)@[\w\[]"
