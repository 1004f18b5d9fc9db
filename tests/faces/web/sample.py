"""A project that could be real: the ferry booking service "northwind-ferries", with memories of a year.

Used by the browser tests and by tools/picture_page.py, so that pictures show what is tested.
"""

from pathlib import Path
from unittest import mock

from rawkomem.files.installation import plan_start, write_start
from rawkomem.model.entries import Draft, Entry
from rawkomem.model.ids import slug
from rawkomem.model.values import DAY, now
from rawkomem.repository import Repository
from rawkomem.repository.core import Core

from tests.git.gitting import Git

# days ago | kind | importance | type | by | tags | title | whenToUse | text
MEMORIES = """
402|memory|high|decision|ada|database,postgres|Bookings live in one Postgres table|booking schema; bookings table|One row per passenger and crossing. A table per route was tried and made every report a union of nineteen tables.
395|memory|medium|insight|ada|api,pagination|Crossings are listed by cursor, not by offset|pagination|Offsets skipped rows whenever a crossing was cancelled between two pages. The cursor is `(departure, id)`. See [[bookings-live-in-one-postgres-table]].
388|memory|critical|correction|mikkel|payments,security|Never log the card token|log payment|The payment provider's token is as good as the card for thirty minutes. Log the last four digits and the charge id. [[payments-are-idempotent-by-order-number]] has the ids to look for.
372|memory|high|decision|ada|payments|Payments are idempotent by order number|charge; refund; payment retry|Every charge carries `Idempotency-Key: <order>-<attempt>`. The provider keeps keys for 24 hours, so a retry on the next day is a new charge.
360|lesson|high||mikkel|payments,retry|A retry after a timeout charged a passenger twice|retry payment|The first call had gone through; only its answer was lost. Ask for the charge by order number before trying again. See [[payments-are-idempotent-by-order-number]].
351|memory|medium|workflow_note|sofie|deploy|Deploys go out before ten in the morning|deploy; release|Harbour offices open at ten; a bad release after that keeps cars on the quay.
340|memory|medium|decision|ada|time,timezones|Departures are stored in UTC and shown in the harbour's time|timezone; departure time|Two harbours of one route lie in different zones. Store UTC, keep the harbour's zone name beside it, convert when shown.
333|lesson|medium||sofie|time,tests|Tests that freeze the clock miss the night of the change|clock test; daylight saving|In the night of 29 March the 02:30 crossing does not exist. The tests froze noon. Test 02:30, both nights. See [[departures-are-stored-in-utc-and-shown-in-the-harbour-s-time]].
320|memory|low|workflow_note|mikkel|docs|Diagrams are drawn in Mermaid||Images went stale; nobody had the source.
311|skill|high||ada|database,migrations|Add a column without locking bookings|migration; alter table|1. Add the column as nullable.\\n2. Fill it in batches of 5,000, with `pg_sleep(0.1)` between.\\n3. Add `NOT NULL` as a `CHECK ... NOT VALID`, then validate.\\n\\nBelongs to [[bookings-live-in-one-postgres-table]].
304|trace|low||agent|migrations|Added the column vehicle_height to bookings||Followed [[add-a-column-without-locking-bookings]]; 2.1 million rows in 14 minutes, no lock longer than 40 ms.
297|memory|high|insight|sofie|search,performance|Searching for a route is slow without the trigram index|route search slow|`ILIKE '%oslo%'` scanned everything. With `gin_trgm_ops` the 95th percentile went from 840 ms to 12 ms.
286|memory|medium|decision|ada|api|Errors are problem documents|error response|RFC 9457, with a `type` that leads to a page in the handbook. Clients match on `type`, never on the text.
275|experience|medium||agent|api|Moved all endpoints to problem documents||Took two days instead of one: the mobile app matched on the old text in four places. See [[errors-are-problem-documents]].
263|memory|medium|commitment|mikkel|mobile|The mobile app supports the last three versions|mobile release|Older ones get a friendly page that asks for an update.
250|memory|high|correction|ada|pricing,rounding|Round prices once, at the very end|price; rounding|Rounding each leg gave totals that differed by up to 3 øre from the sum that people compute. Use `Decimal`, quantise in `pricing.total`.
241|lesson|high||mikkel|pricing,rounding|Floats made the invoice differ from the receipt|float; invoice|0.1 + 0.2. See [[round-prices-once-at-the-very-end]].
232|learning|medium||agent|pricing|Prices go wrong where two services compute them||Three of four pricing incidents began with a second implementation. One service computes, the others show. From [[floats-made-the-invoice-differ-from-the-receipt]].
221|memory|medium|insight|sofie|cache|The timetable may be cached for a minute, seats never|cache; timetable|People refresh a full crossing. A cached seat count sells the same seat twice.
214|lesson|critical||sofie|cache,seats|A cached seat count sold eleven places twice|seats; overbooking|A well-meant `Cache-Control` on the wrong route. [[the-timetable-may-be-cached-for-a-minute-seats-never]].
205|memory|medium|decision|ada|queue|Mails go through the queue, never from the request|send mail; confirmation|The mail provider was down for two hours and with it every booking. The queue retries for a day.
196|trace|low||agent|queue,mail|Moved confirmation mails to the queue||See [[mails-go-through-the-queue-never-from-the-request]].
188|memory|low|insight|mikkel|css|Safari needs -webkit-backdrop-filter||The timetable header was unreadable on old phones.
179|memory|high|decision|ada|auth,security|Sessions are rotated at every privilege change|session; login; auth|On login, on logout, and when somebody becomes a harbour clerk. Fixation was found in the audit of spring.
171|skill|medium||mikkel|auth,testing|Test a login flow with two browsers|test login|Open both, log in with one, and look whether the other one's cookie still works. See [[sessions-are-rotated-at-every-privilege-change]].
163|memory|medium|insight|sofie|ci|The slow tests are the ones that start Postgres|slow tests|One server for the whole run and a template database for each test: 9 minutes became 2.
154|skill|high||ada|incident|Answer an incident|incident; outage|1. Say on the status page what does not work.\\n2. Stop the bleeding: feature flags, then rollback.\\n3. Write down times.\\n4. Look for the cause afterwards.
148|episode|medium||ada|incident|The outage of midsummer||Everybody wanted to go to the islands. From 06:10 to 07:45 nobody could book.
147|experience|high||agent|incident,database|The connection pool ran dry on midsummer's morning||A report of the finance team held 40 connections. Part of [[the-outage-of-midsummer]].
146|memory|critical|correction|ada|database,incident|Reports read from the replica|report; replica; analytics|They hold connections for minutes. The primary is for bookings alone. Learned in [[the-outage-of-midsummer]].
145|lesson|high||sofie|incident,database|A pool without a limit for each user is no limit|connection pool|Give every role its own `CONNECTION LIMIT`. See [[reports-read-from-the-replica]].
133|reflection|medium||agent|incident|Most incidents begin at a boundary that two teams share||Midsummer, the double charges, the eleven seats: each time one side assumed what the other did. See [[the-outage-of-midsummer]] and [[a-cached-seat-count-sold-eleven-places-twice]].
124|memory|medium|decision|mikkel|feature-flags|Feature flags die after ninety days|feature flag|Each has an owner and a date; CI fails after it.
116|memory|medium|insight|sofie|accessibility|The date picker must work without a mouse|date picker; accessibility|A third of the clerks book with the keyboard alone.
108|learning|high||agent|database,migrations|Migrations go wrong when they do two things||Four of five failed ones changed the schema and the data. Split them. From [[add-a-column-without-locking-bookings]].
97|memory|high|decision|ada|vehicles|Vehicles are measured in centimetres, as integers|vehicle; height; length|Height decides about the deck. Floats and feet have both been wrong.
88|trace|low||agent|vehicles|Imported 412 vehicle types from the registry||See [[vehicles-are-measured-in-centimetres-as-integers]].
76|memory|medium|pattern_seed|mikkel|review|Small pull requests are read, large ones are waved through||Above 400 lines the median comment count falls to one.
67|memory|medium|decision|sofie|weather|Cancelled crossings keep their bookings for a week|cancelled; weather|Storms cancel a whole day; people rebook in the evening. Seats are held, not money.
58|lesson|medium||mikkel|weather,queue|Nine thousand mails in a minute are spam|bulk mail; cancellation mail|The storm of September. Send in slices of 200; see [[mails-go-through-the-queue-never-from-the-request]].
49|memory|high|insight|ada|performance,search|Prefetch tomorrow's timetable at midnight|timetable slow; prefetch|The first visitors after midnight paid for everybody. See [[searching-for-a-route-is-slow-without-the-trigram-index]].
41|skill|medium||sofie|weather|Rebook a cancelled day|rebook; storm|Run `ferry rebook --date`, look at the diff, then `--apply`. See [[cancelled-crossings-keep-their-bookings-for-a-week]].
33|memory|medium|decision|ada|api,versioning|API versions are dates|api version|`2026-10-01`, sent as a header. A client that names none gets the version of its first call.
26|trace|low||agent|api|Answered 3 clients with the dated API||See [[api-versions-are-dates]].
17|memory|medium|insight|mikkel|observability|Trace ids go into the problem document|trace id; support|Clerks read them out on the phone. See [[errors-are-problem-documents]].
9|lesson|high||sofie|deploy,feature-flags|A flag without a default stopped the ticket printers|flag default|The printers ask offline. Every flag needs a default in code. See [[feature-flags-die-after-ninety-days]].
3|memory|high|decision|ada|deploy,ci|Releases are rolled out to one harbour first|rollout; canary; release|Rønne for thirty minutes, then the rest. It has every kind of ship.
"""

CODE = '''\
"""What a crossing costs."""

from decimal import ROUND_HALF_UP, Decimal


def total(legs: list[Decimal]) -> Decimal:
    """The price of a journey, rounded once."""
    return sum(legs, Decimal(0)).quantize(Decimal("0.01"), ROUND_HALF_UP)
'''

PRICES = """\
Rounding each leg gave totals that differed by up to **3 øre** from the sum that people compute on paper.

```python
total = sum(legs, Decimal(0)).quantize(Decimal("0.01"), ROUND_HALF_UP)
```

- Use `Decimal` everywhere, and quantise in `pricing.total` only.
- The receipt, the invoice and the app show what `pricing` says; none of them adds anything up.

Two incidents taught us this: [[floats-made-the-invoice-differ-from-the-receipt]], and the season of half-price cars.
"""


def make_sample(folder: Path) -> Path:
    """The project in a new folder, committed by a person; what waits for a review is not."""
    with mock.patch.object(Core, "claimed", lambda core, via: via):  # what a person typed, see tests/conftest.py
        return _made(folder)


def _made(folder: Path) -> Path:
    project = folder / "northwind-ferries"
    project.mkdir(parents=True)
    write_start(plan_start(str(project)))
    (project / "pricing.py").write_text(CODE, encoding="utf-8")
    repository = Repository.open(str(project), via="person")
    repository.add_many([_entry(line) for line in MEMORIES.strip().splitlines()])
    _decide(repository)
    git = Git(project)
    git("init", "-q")
    git.commit("memories of a year")
    _leave_open(repository)
    repository.close()
    return project


def _entry(line: str) -> Entry:
    days, kind, importance, type, by, tags, title, when, text = line.split("|", 8)
    body = PRICES if title.startswith("Round prices") else text.replace("\\\\n", "\n")
    return Entry(
        kind=kind,
        title=title,
        importance=importance,
        by=by,
        tags=tuple(tags.split(",")),
        when=tuple(part.strip() for part in when.split(";") if part.strip()),
        at=now() - int(days) * DAY,
        body=body,
        extra={"type": type} if type else {},
    )


def _decide(repository: Repository) -> None:
    prices = slug("Round prices once, at the very end")
    repository.citations.add(prices, ["pricing.py#total"], by="ada")
    for _ in range(3):
        repository.feedback(prices, "helpful", by="sofie")
    repository.beliefs.reinforce(prices, "the auditors found no difference any more", by="mikkel")
    repository.graph.link(prices, slug("Prices go wrong where two services compute them"), "supports", by="ada")
    repository.beliefs.supersede(
        slug("Deploys go out before ten in the morning"),
        slug("Releases are rolled out to one harbour first"),
        "the rollout protects the quay better than the clock",
        by="sofie",
        anyway=True,
    )


def _leave_open(repository: Repository) -> None:
    """What an agent wrote and nobody reviewed yet, among it a claim that contradicts one of a person."""
    holds = {"subject": "crossing", "predicate": "seat hold", "value": "15 minutes", "exclusive": "true"}
    repository.add(
        Entry(title="Seats are held for fifteen minutes", body="Long enough to find the card.", by="ada",
              tags=("seats",), at=now() - 80 * DAY, extra={"claim": holds}),
        via="person",
    )  # fmt: skip
    rival = {**holds, "value": "30 minutes"}
    repository.add(
        Entry(title="Seats are held for thirty minutes", by="agent", tags=("seats",), at=now() - 2 * DAY,
              body="The checkout of the mobile app counts down from **30:00**.", extra={"claim": rival}),
        via="agent",
    )  # fmt: skip
    found = repository.add(
        Entry(title="The harbour API allows ten calls a second", by="agent", tags=("api",), at=now() - DAY, importance="high",
              body="Found in the answer's headers:\n\n```\nx-rate-limit: 10\n```\n\nBeyond that it answers 429 for a minute."),
        via="agent",
    )  # fmt: skip
    repository.beliefs.quarantine(found.entry.id, "written by an agent, not reviewed", by="agent")


def leave_drafts(repository: Repository) -> None:
    """Two drafts of sessions; they belong to this machine, so that a copy of the sample has none."""
    corrected = repository.get("the-harbour-api-allows-ten-calls-a-second").id
    repository.drafts.store.put([
        Draft(id="drf_5c1d2e3f4a5b", kind="correction", title="Ports are written in capitals", host="claude-code",
              said="no, ports are written in capitals: CPH, not cph", before="I renamed the port to `cph` in all fixtures.",
              text="no, ports are written in capitals: CPH, not cph", when=("port|harbour",), score=2.3,
              why="corrects, contrasts", at=now() - DAY, corrects=(corrected,)),
        Draft(id="drf_6d2e3f4a5b6c", kind="agreed", title="Seed the fixtures with a fixed date", host="codex", score=1.0,
              said="yes, do that", before="The tests depend on today. Shall I seed the fixtures with a fixed date?",
              text="Seed the fixtures with a **fixed date**.", why="agrees with the agent", at=now() - 2 * DAY),
    ])  # fmt: skip


ERRORS = """\
RFC 9457, with a `type` that leads to a page in the handbook and a `trace` for support. Clients match on `type`,
never on the text.

| type | status | what the client does |
|---|---:|---|
| `sold-out` | 409 | offers the next crossing |
| `payment-open` | 402 | asks for the charge by order number |

- [x] booking and payment services
- [ ] the old mobile app, until version 4 is gone
"""


def leave_work(project: Path) -> None:
    """Leave something for each view: code that changed, and an agent's proposal."""
    (project / "pricing.py").write_text(CODE.replace("ROUND_HALF_UP)", "ROUND_HALF_EVEN)"), encoding="utf-8")
    with Repository.open(str(project), via="agent") as agent:
        agent.amend("errors-are-problem-documents", body=ERRORS, by="agent")
