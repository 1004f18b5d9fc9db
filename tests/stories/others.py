"""Other memories of a project, so that a story is told among 1, 10, 45 or 300 of them."""

from pathlib import Path

# title | whenToUse | text
LINES = """
Login tokens live in an httpOnly cookie | login|session cookie|jwt | Never put a token into localStorage; the cookie is set by the API.
Money is stored in cents | price|money|amount|invoice total | Use integers; format only in the view.
Invoices are immutable | invoice|credit note | A wrong invoice gets a credit note, never an edit.
The mail queue retries three times | mail queue|retry mail | After that the mail goes to the dead letter table.
Dates are UTC in the database | timezone|utc|timestamp | Convert to the customer's zone in the view only.
Feature flags live in flags.yaml | feature flag|rollout | Remove a flag two weeks after it is on for everybody.
The search index is rebuilt at night | search index|reindex | It takes forty minutes; do not start it by day.
Uploads go to the object store | upload|attachment|s3 | The web servers have no writable disk.
Webhooks are signed | webhook|signature | Compare in constant time with the shared key.
Rate limits are per tenant | rate limit|throttle | The limit is in the plan, not in the code.
PDFs are made by the render service | pdf|render service | It needs fonts from the base image.
The admin pages use server side tables | admin table|pagination | Sorting happens in SQL.
Images are resized on upload | thumbnail|resize image | Three sizes; the original is kept for a year.
Passwords use argon2 | password hash|argon2 | The parameters are in settings/security.
GDPR exports are made weekly | gdpr|data export | A person asks for them through support.
The chart colours come from the brand palette | chart colour|palette | Do not invent new ones.
Customer names may be empty | customer name | Show the company instead.
The CSV import accepts semicolons | csv import | Excel in Europe writes them.
Bank files are ISO 20022 | bank file|sepa|camt | The old MT940 parser is gone.
Orders move through five states | order state|state machine | See docs/orders for the picture.
The cache key holds the locale | cache key|locale cache | Otherwise people see another language.
Background jobs are idempotent | background job|worker job | They may run twice after a restart.
The monitoring dashboard is in Grafana | dashboard|grafana|alert rule | Alerts are defined in monitoring/alerts.
Discounts do not add up | discount|voucher | The best one wins.
The public API is versioned by date | api version | A breaking change gets a new date.
Addresses are validated by the carrier | address validation|carrier | The result is cached for a day.
Stock is reserved for fifteen minutes | stock|reservation | A paid order makes it final.
Tax rates come from the tax service | tax rate|vat | Never hard-code nineteen percent.
The mobile app pins certificates | certificate pinning|mobile app | Rotate with two versions of overlap.
Chat messages are kept for ninety days | chat message|retention | Legal asked for it.
The old shop runs until March | old shop|legacy shop | Only security fixes go in.
Shipping labels are printed in the warehouse | shipping label|warehouse printer | The printer speaks ZPL.
Reports run on the replica | report|replica | The primary has no capacity for them.
Locale files are edited in the translation tool | locale file|translation tool | A merge by hand is overwritten at night.
The queue names start with the team | queue name | For example billing.mail.
Maps need an attribution | map tile|attribution | The provider checks it.
Avatars are public | avatar | Everything else needs a signed address.
Refunds need two people | refund | The second one confirms in the admin page.
The newsletter is double opt in | newsletter|opt in | A single click is not enough in Germany.
Cookies need consent first | consent|cookie banner | Only the session cookie is exempt.
Staging has a copy of last month's data | staging data | Names are replaced.
Phone numbers are stored as E.164 | phone number | The form accepts spaces.
Retries back off exponentially | backoff|retry policy | Start with 200 ms, at most five times.
Logs hold no personal data | personal data in logs | The filter is in logging/privacy.
Opening hours are per store | opening hours | Holidays come from a calendar feed.
"""
OTHERS = [tuple(line.split(" | ")) for line in LINES.strip().split("\n")]
assert len(OTHERS) == 45


def write_others(memories: Path, count: int) -> None:
    """Write `count` other memories as files; after the last one the list starts again, for another module."""
    for number in range(count):
        title, when, text = OTHERS[number % len(OTHERS)]
        if module := number // len(OTHERS):
            title, when = (f"{one} of module {module}" for one in (title, when.partition("|")[0]))
        head = f"id: mem_{number:013d}_000000\ntitle: {title}\nwhenToUse:\n  - {when}\nimportance: medium"
        (memories / f"other-{number}.md").write_text(f"---\n{head}\n---\n\n{text}\n")
