"""Classifies keys by their names: a password, a secret, a token, a value of a known provider, or none of these."""

from __future__ import annotations

from .looks_secret import letter_runs
from .words import KEY_WORDS, PASSWORD_WORDS

MAX_KNOWN_KEYS = 2_000  # keys whose kind is cached
PREFIX_LETTERS = range(6, 13)  # length of a provider's name that may start a longer one; `sumo` starts `sumOfExposures`

PASSWORDS = frozenset(
    (*"password passwords passwd passphrase passphrases passcode pwd pwds pass pw psk".split(), *PASSWORD_WORDS)  # noqa: SIM905
)
SECRETS = frozenset(("secret", "secrete", "secrets", "credential", "credentials", "creds", "jwtsecret"))
TOKENS = frozenset(
    (*"token tokens authtoken auth authorization apikey apikeys pat accesskey".split(), *KEY_WORDS)  # noqa: SIM905
)
KEY_OWNERS = frozenset(
    """
    access account admin anon api app application auth authorization client cloud consumer crypt decryption deploy dev
    developer encryption fernet hmac iam insert jwt license licence live master preshared private prod production psk
    rest secret server service session shared signing ssh storage subscription user webhook write
    aws azure gcp google ibm sl oci openai anthropic gemini stripe slack sentry github gitlab twilio sendgrid supabase
    vault
    """.split()  # noqa: SIM905 - a list of quoted words reads worse
)
NO_PASSWORDS = frozenset(("bypass", "compass", "encompass", "surpass", "trespass", "overpass", "underpass"))
PUBLIC = frozenset(("public", "pub", "publishable", "primary", "foreign", "partition", "sort", "cache", "unique"))
NOT_THE_SECRET = frozenset(
    """
    alias algorithm arn attempts class cli config count counter dir dirs duration endpoint env error expiration expires
    expiry field file filename format generator hash header hint host id ids index info input issuer label
    length level limit lifetime limits list location manager max message method min mode model name names path paths
    placeholder policy prefix provider ref refs regex required rotation rule scope service size source status store
    suffix table template tiktoken tokenizer ttl type types uri url usage user username validator version
    """.split()  # noqa: SIM905 - as above
)
PROVIDERS = frozenset(
    """
    adafruit adobe airtable algolia alibaba artifactory asana atlassian auth0 beamer bitbucket bittrex blynk
    bugsnag clickhouse cloudflare codeclimate codecov cohere coinbase confluent contentful datadog digitalocean
    discord droneci dropbox easypost etsy facebook fastly finicity finnhub flickr freemius freshbooks gitter
    gocardless grafana heroku hubspot intercom jfrog jira kraken kucoin launchdarkly linkedin looker mailchimp
    mailgun mapbox mattermost maxmind meraki messagebird netlify newrelic nytimes okta pagerduty plaid postmark
    privateai rapidapi rollbar saucelabs sendbird shodan snyk softlayer sonar sourcegraph squarespace sumo
    sumologic telegram travis trello twitch twitter typeform yandex zendesk
    """.split()  # noqa: SIM905 - as above
)  # services whose name in a key makes a random value a secret


_kinds: dict[str, str] = {}  # cache of key → kind: a text repeats a few keys


def kind_of(key: str) -> str:
    """Return the kind of a key: "password", "secret", "token", "provider", or an empty text."""
    if key not in _kinds:
        if len(_kinds) >= MAX_KNOWN_KEYS:
            _kinds.clear()
        _kinds[key] = _kind_of(key)
    return _kinds[key]


def _kind_of(key: str) -> str:
    parts = letter_runs(key)
    if not parts or PUBLIC.intersection(parts):
        return ""
    if parts[-1] in NOT_THE_SECRET:
        return "provider" if parts[-2:] == ["access", "id"] and _has_provider(parts) else ""
    if PASSWORDS.intersection(parts) or parts[-1].endswith(("password", "passwd", "pwd")):
        return "password"
    if SECRETS.intersection(parts) or parts[-1].endswith(("secret", "secretkey", "secretaccesskey")):
        return "secret"
    if parts[-1].endswith("pass") and parts[-1] not in NO_PASSWORDS:
        return "secret"
    if TOKENS.intersection(parts) or parts[-1].endswith(("token", "apikey", "accesskey", "privatekey", "authkey")):
        return "token"
    if "key" in parts:
        owner = parts[parts.index("key") - 1] if parts[0] != "key" else ""
        return "token" if owner in KEY_OWNERS or (owner and key.isupper()) or _has_provider(parts) else ""
    return "provider" if _has_provider(parts) else ""


def tells(name: str) -> bool:
    """Return whether a name says that it holds a secret: `dbPassword`, `access_token`."""
    return any(word in name.lower() for word in ("pass", "pwd", "secret", "token", "key", "cred", "auth"))


def names_password(key: str) -> bool:
    """Return whether a key names a password itself: `db_password`, not `password_changed`."""
    parts = letter_runs(key)
    return bool(parts) and (parts[-1] in PASSWORDS or parts[-1].endswith(("password", "passwd", "pwd")))


def _has_provider(parts: list[str]) -> bool:
    """Return whether one part, or two joined parts, name a provider: `message_bird`, `softlayerapikey`."""
    names = parts + [parts[at] + parts[at + 1] for at in range(len(parts) - 1)]
    return any(name in PROVIDERS or any(name[:end] in PROVIDERS for end in PREFIX_LETTERS) for name in names)
