"""Write tests/data/secrets.json: made-up keys in the formats of providers, personal data, harmless look-alikes.

Nothing in it was ever a secret. Texts are base64, so that secret scanners do not report the file. Run this script again
after you change it: random values are seeded, so that the same input gives the same file.
"""

from __future__ import annotations

import json
import random
import string
from base64 import b64encode
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "tests" / "data" / "secrets.json"
HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
WORD = ALNUM + "_-"
BASE64 = ALNUM + "+/"
DIGITS = string.digits

# A made-up key in parts: a literal text, or (alphabet, length) for random characters.
KEYS = {
    "airtable": ("pat", (ALNUM, 14), ".", (HEX, 64)),
    "adafruit": ("aio_", (ALNUM, 28)),
    "anthropic": ("sk-ant-api03-", (WORD, 93), "AA"),
    "asana": ("2/", (DIGITS, 16), "/", (DIGITS, 16), ":", (HEX, 32)),
    "aws": ("AKIA", (UPPER[:26] + "234567", 16)),
    "azure": ((ALNUM, 3), "8Q~", (ALNUM, 34)),
    "bitbucket": ("ATBB", (ALNUM, 32)),
    "cerebras": ("csk-", (LOWER, 48)),
    "digitalocean": ("dop_v1_", (HEX, 64)),
    "discord": ("MTU0", (ALNUM, 20), ".", (ALNUM, 6), ".", (WORD, 37), "a"),
    "docker": ("dckr_pat_", (WORD, 27)),
    "firecrawl": ("fc-", (HEX, 32)),
    "github": ("ghp_", (ALNUM, 36)),
    "github fine-grained": ("github_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "gitlab": ("glpat-", (ALNUM, 20)),
    "google": ("AIza", (WORD, 34), "a"),
    "grafana": ("glsa_", (ALNUM, 32), "_", (HEX, 8)),
    "groq": ("gsk_", (ALNUM, 52)),
    "hubspot": (
        "pat-na1-",
        (HEX, 8),
        "-",
        (HEX, 4),
        "-",
        (HEX, 4),
        "-",
        (HEX, 4),
        "-",
        (HEX, 12),
    ),
    "hugging face": ("hf_", (string.ascii_letters, 34)),
    "linear": ("lin_api_", (ALNUM, 40)),
    "mailchimp": ((HEX, 32), "-us14"),
    "mailgun": ((HEX, 32), "-", (HEX, 8), "-", (HEX, 8)),
    "neon": ("napi_", (LOWER, 64)),
    "notion": ("ntn_", (DIGITS, 11), (ALNUM, 35)),
    "npm": ("npm_", (ALNUM, 36)),
    "nvidia": ("nvapi-", (WORD, 64)),
    "openai": ("sk-proj-", (WORD, 48), "T3BlbkFJ", (WORD, 48)),
    "openrouter": ("sk-or-v1-", (HEX, 64)),
    "pypi": ("pypi-AgEIcHlwaS5vcmc", (WORD, 60)),
    "sendgrid": ("SG.", (WORD, 22), ".", (WORD, 42), "a"),
    "shopify": ("shpat_", (HEX, 32)),
    "slack": ("xoxb-", (DIGITS, 12), "-", (DIGITS, 12), "-", (ALNUM, 24)),
    "stripe": ("sk_live_", (ALNUM, 24)),
    "supabase": ("sb_secret_", (ALNUM, 31)),
    "tailscale": ("tskey-auth-", (ALNUM, 12), "CNTRL-", (ALNUM, 32)),
    "telegram": ((DIGITS, 10), ":AA", (WORD, 32), "a"),
    "together": ("tgp_v1_", (WORD, 43)),
    "vault": ("hvs.", (WORD, 90), "a"),
    "vault legacy": ("s.", (ALNUM, 24)),
    "vercel": ("vcp_", (ALNUM, 56)),
    "apify": ("apify_api_", (ALNUM, 36)),
    "e2b": ("e2b_", (HEX, 40)),
    "new relic": ("NRAK-", (UPPER, 27)),
    "new relic license": ((HEX, 36), "NRAL"),
    "sonar": ("squ_", (HEX, 40)),
    "trello": ("ATTA", (HEX, 64)),
    "unknown vendor": ("acme_live_", (ALNUM, 40)),
}
PLACES = (
    "{}",
    "- **key**: **{}**",
    "It is `{}`.",
    "Rotate {}, then deploy.",
    "| prod | {} |",
    "<https://example.com/cb?t={}&x=1>",
    "_{}_",
)

# Secrets that only their surroundings reveal; @ is replaced with the made-up value.
ASSIGNED = (
    ('password = "@"', (ALNUM + "!#%", 14)),
    ("DB_PASS=@", (ALNUM, 14)),
    ("api_key: @", (ALNUM, 32)),
    ("client_secret = '@'", (ALNUM, 32)),
    ("JWT_SECRET=@", (ALNUM, 24)),
    ("The root password is @ for now.", (ALNUM, 12)),
    ("postgres://app:@@db:5432/main".replace("@@", "@\0"), (ALNUM, 16)),
    ("Authorization: Bearer @", (ALNUM, 40)),
    ("Authorization: Splunk @", (HEX, 32)),
    ("x-api-key: @", (ALNUM, 40)),
    ("curl -u admin:@ https://x.example.com", (ALNUM, 12)),
    ("mysql -u root -p@ prod", (ALNUM, 12)),
    ("redis-cli -h cache -a @", (ALNUM, 20)),
    ("sshpass -p '@' ssh host", (ALNUM, 12)),
    ("Server=tcp:x;User ID=sa;Password=@;Encrypt=True", (ALNUM, 12)),
    ("Set-Cookie: session=@; HttpOnly", (ALNUM, 40)),
    ("aws_secret_access_key = @", (BASE64, 40)),
    ("PrivateKey = @=", (BASE64, 43)),
    ("secret_key_base: @", (HEX, 128)),
    ('variable "db_password" {\n  default = "@"\n}', (ALNUM, 14)),
    ("machine x login me password @", (ALNUM, 12)),
    ("Use the token `@` for staging", (ALNUM, 32)),
    ("otpauth://totp/x:a?secret=@&issuer=x", (UPPER[:26], 32)),
    ("https://api.example.com/v1?api_key=@&q=1", (ALNUM, 32)),
    ("Authorization: SSWS 00@", (WORD, 39), "a"),
    ("X-Api-Key: myKeyValue@", (DIGITS, 5)),
    ("password=horse@secret", (DIGITS, 2)),
    ("DB_PASS=blue-horse-@", (DIGITS, 2)),
    ("use pw @", (ALNUM, 9), "7"),
    ("private key 0x@", (HEX, 64)),
    ("| user | password |\n|------|----------|\n| ada | @ |", (ALNUM, 11), "3"),
    ("user,password\nada,@\n", (ALNUM, 11), "3"),
    ("mot de passe : @", (ALNUM, 11), "3"),
    ("contraseña: @", (ALNUM, 11), "3"),
    ("пароль: @", (ALNUM, 11), "3"),
    ("密码是@", (ALNUM, 11), "3"),
    ("パスワードは@です", (ALNUM, 11), "3"),
    ("ID/PW: ada/@", (ALNUM, 11), "3"),
    ("the password for staging is @", (ALNUM, 11), "3"),
    ("CREATE USER ada IDENTIFIED BY '@';", (ALNUM, 11), "3"),
    ("kubeadm join --token @", (LOWER, 6), ".", (LOWER, 16)),
)

PERSONAL = {
    "email": (
        "Ask ada.lovelace@engine.example first",
        "<ada+x@mail.engine.co.uk>",
        "Signed-off-by: A <a@b.dev>",
        "owner: müller@bücher.example",
    ),
    "phone": (
        "call +49 30 901820 now",
        "(415) 555-0132",
        "tel: 030 12345678",
        "+44 20 7946 0958",
        "0171 2345678",
        "07911 123456",
        "415.555.0132",
    ),
    "card": (
        "4242 4242 4242 4242",
        "378282246310005",
        "5555-5555-5555-4444",
        "6011111111111117",
        "2200770212727079",
    ),
    "iban": (
        "DE89 3704 0044 0532 0130 00",
        "GB82WEST12345698765432",
        "NL91-ABNA-0417-1643-00",
        "NO93 8601 1117 947",
    ),
    "ip": (
        "client 93.184.216.34 left",
        "[2606:4700:4700::1111]:443",
        "http://52.95.110.1/x",
    ),
    "ssn": ("SSN: 219-09-9998",),
}

HARMLESS = (
    "self.password = password",
    "password: ${DB_PASSWORD}",
    'api_key = "<your-api-key>"',
    "token = get_token(user)",
    "max_tokens=1024, tokenizer: cl100k_base",
    "primary_key: user_id",
    "keys start with sk_live_ in production",
    "commit 9a038989604e8da62ecddbe2094b16ce1b778be1",
    "image@sha256:936ebec2fb430753b4d2fba717cdc68ae6586d8de8eddaf3f805cf03e8be64b0",
    "trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7",
    "id: 01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "git@github.com:org/repo.git",
    "ssh deploy@build.internal.example",
    "scp x user@host.example:/srv/data",
    "npm i @scope/pkg@2.0.1",
    "127.0.0.1, 10.0.0.7, 192.168.1.10, 172.16.3.4, ::1, 0.0.0.0",
    "192.0.2.7 and 2001:db8::1 are for documentation",
    "version 10.20.30.40, v1.2.3.4, chrome 121.0.6167.85",
    "ISBN 978-3-16-148410-0",
    "build 20260123.4, ratio 0.123456789012",
    "2026-01-23T10:30:00Z to 2026-02-01 09:00:00",
    "<Buffer 01 02 03 04 05 06 07 08>",
    "order 1234567890123456 is late",
    "`auth`, `src/**/*.py` | a glob",
    "pass the user to the handler",
    "Pass `override=True` to override them.",
    "mysql -u root -p mydb",
    "Cookie: theme=dark; lang=en",
    "the token `refresh_token` is kept",
    "Authorization: Bearer <token>",
    "mem_1739836800000_a1b2c3 supersedes mem_1739836700000_0f0f0f",
    "sort_key: a1b2c3d4e5f6g7h8",
    "[REDACTED_SECRET] was here",
    "see https://example.com:8080/a@b",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI1gfc27SRO public",
    "@app.route('/x')",
    "path/to/patterns and pathology",
    "the root cause is a race",
    "$PATH, $1 and ${HOME}",
    "user-agent: Mozilla/5.0",
    "The password field is required; each password needs 8 characters.",
    "def login(password: str, token: Token2 | None = None) -> None:",
    "password hashing uses argon2id and sha256, see RFC2898 and PROJ-1234",
    "| field | password |\n|---|---|\n| type | string |\n| required | yes |",
    "signed with key 4AEE18F83AFDEB23",
    "PASS: test_login_2 (0.3 s)",
    "curl -u user:password https://example.com",
    "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP",
)


def main() -> None:
    """Write the sample."""
    FILE.parent.mkdir(exist_ok=True)
    rows = [*_keys(), *_assigned(), *_blocks(), *_personal(), *_harmless()]
    lines = ",\n".join(json.dumps(row) for row in rows)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _made_up(parts: tuple[str | tuple[str, int], ...], seed: str) -> str:
    chance = random.Random(seed)
    return "".join(
        part if isinstance(part, str) else "".join(chance.choices(part[0], k=part[1]))
        for part in parts
    )


def _keys() -> list[dict[str, object]]:
    return [
        _row(f"secret:{name}", place.format(key), key)
        for number, (name, parts) in enumerate(KEYS.items())
        for key in (_made_up(parts, name),)
        for place in (PLACES[0], PLACES[1 + number % (len(PLACES) - 1)])
    ]


def _assigned() -> list[dict[str, object]]:
    rows = []
    for text, *parts in ASSIGNED:
        fake = _made_up(tuple(parts), text)  # type: ignore[arg-type]
        rows.append(
            _row("secret:assigned", text.replace("@", fake).replace("\0", "@"), fake)
        )
    return rows


def _blocks() -> list[dict[str, object]]:
    body = "\n".join(_made_up(((BASE64, 64),), f"line {number}") for number in range(6))
    dashes = "-" * 5
    whole = [
        f"{dashes}BEGIN {kind}PRIVATE KEY{dashes}\n{body}\n{dashes}END {kind}PRIVATE KEY{dashes}"
        for kind in ("", "RSA ", "OPENSSH ")
    ]
    torn = whole[1].partition(f"\n{dashes}END")[0]
    putty = f"Private-Lines: 6\n{body}\nPrivate-MAC: {_made_up(((HEX, 40),), 'mac')}"
    return [
        _row("secret:private-key", f"Before\n{block}\n\nAfter it.", body)
        for block in (*whole, torn, putty)
    ]


def _personal() -> list[dict[str, object]]:
    return [
        _row(f"pii:{kind}", text, "")
        for kind, texts in PERSONAL.items()
        for text in texts
    ]


def _harmless() -> list[dict[str, object]]:
    return [_row("benign:look-alike", text, "", wanted=False) for text in HARMLESS]


def _row(kind: str, text: str, span: str, wanted: bool = True) -> dict[str, object]:
    row: dict[str, object] = {
        "kind": kind,
        "expected_redacted": wanted,
        "text_b64": b64encode(text.encode()).decode(),
    }
    return {**row, "span_b64": b64encode(span.encode()).decode()} if span else row


if __name__ == "__main__":
    main()
