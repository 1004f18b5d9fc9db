"""Claims (subject, predicate, value): rules decide which ones contradict each other, trust decides
which one wins. Also new texts that update a memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..model.entries import Entry, Memory, Plan, Value
from ..model.errors import BadInput, check_known
from ..model.values import (
    ACTIVE,
    GROUPS,
    KEPT_BOTH,
    PREDICATE_RULES,
    extra_value,
    record,
    replace,
    text_of,
)
from ..text.language import (
    RELATED_COSINE,
    SIMILAR,
    is_identical,
    shared_words,
    statement_of,
)
from ..text.prose import normalize_currency
from .changes import linking, outweighs, plan_corroborate, superseding
from .fold import NEEDS_REVIEW, TRUST_INSUFFICIENT, after, new_memory, plan_quarantined
from .plans import Trust, claimed_time, ids_in, plan_add

Registry = Mapping[str, "Predicate"]


SCOPES = GLOBAL, SESSION, TEMPORAL = ("global", "session", "temporal")
MAX_NAME_CHARS = 100  # characters of a subject or a predicate (neolata)
MAX_VALUE_CHARS = 1_000  # characters of a value (neolata)
# characters of the text of a claim (neolata): a claim is a statement, not a document
MAX_TEXT_CHARS = 10_000
CLAIM_KEYS = (
    "subject",
    "predicate",
    "value",
    "exclusive",
    "validFrom",
    "validUntil",
    "scope",
    "session",
    "sessionId",
)
ON_CONFLICT = QUARANTINE, KEEP_ACTIVE = ("quarantine", "keep_active")
SUPERSEDE = "supersede"
REQUIRE_REVIEW = "require_review"
KEEP_BOTH = "keep_both"
CORROBORATE = "corroborate"
STORE = "store"
MAX_BATCH = 1_000  # memories stored at once (neolata)


@record
class Claim:
    """A memory's claim, with its scope and its time window. The window is half-open; 0 means no limit."""

    subject: str
    predicate: str
    value: str
    exclusive: bool = True
    valid_from: int = 0
    valid_until: int = 0
    scope: str = GLOBAL
    session: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Return (subject, predicate). Only claims with the same key can contradict each other."""
        return self.subject, self.predicate


@record
class Predicate:
    """The rules of a predicate. The fields are the keys of config.yaml in snake case."""

    cardinality: str = "single"
    conflict_policy: str = SUPERSEDE
    normalize: str = "none"
    dedup_policy: str = CORROBORATE


# key in config.yaml → field
RULE_FIELDS = {
    "cardinality": "cardinality",
    "conflictPolicy": "conflict_policy",
    "normalize": "normalize",
    "dedupPolicy": "dedup_policy",
}
UNREGISTERED = Predicate()


def read_registry(rules: Mapping[str, Mapping[str, str]]) -> dict[str, Predicate]:
    """Return name → rules for the predicates of a configuration; rules that are not set have their default."""
    return {
        name.strip(): _read_predicate(name.strip(), given)
        for name, given in rules.items()
    }


def _read_predicate(name: str, given: Mapping[str, str]) -> Predicate:
    if not name:
        raise BadInput(
            "predicate must be a non-empty string",
            "name it below 'predicates:' in config.yaml",
        )
    fields: dict[str, str] = {}
    for key, value in given.items():
        valid = PREDICATE_RULES.get(key)
        if valid is None:
            raise BadInput(
                f'unknown rule {key!r} for predicate "{name}"',
                "use one of " + ", ".join(PREDICATE_RULES),
            )
        if value not in valid:
            raise BadInput(
                f'invalid {key} for predicate "{name}": {value!r}',
                "use one of " + ", ".join(valid),
            )
        fields[RULE_FIELDS[key]] = value
    return Predicate(**fields)


def normalized_value(value: str, how: str) -> str:
    """Return the form in which values of a predicate are compared."""
    if how == "currency":
        return normalize_currency(value)
    if how in ("lowercase", "lowercase_trim"):
        value = value.lower()
    return value.strip() if how in ("trim", "lowercase_trim") else value


def read_claim(extra: Mapping[str, Value]) -> Claim | None:
    """Return the usable claim in a frontmatter, or None. The time window may also be outside of the claim's mapping."""
    claim = extra.get("claim")
    if not isinstance(claim, dict):
        return None
    text = {
        key: value.strip() for key, value in claim.items() if isinstance(value, str)
    }
    if not text.get("subject") or not text.get("predicate") or "value" not in text:
        return None
    session = str(extra_value(text, "session") or extra_value(extra, "session"))
    scope = text.get("scope", GLOBAL)
    return Claim(
        subject=text["subject"],
        predicate=text["predicate"],
        value=str(claim["value"]),
        exclusive=text.get("exclusive", "true").lower() != "false",
        valid_from=claimed_time(extra, "validFrom"),
        valid_until=claimed_time(extra, "validUntil"),
        scope=scope,
        session=session if scope == SESSION else "",
    )


def claim_of(memory: Memory) -> Claim | None:
    """Return a memory's claim; its window is the memory's, which a `validity` entry may have changed."""
    claim = read_claim(memory.extra)
    return claim and replace(
        claim, valid_from=memory.valid_from, valid_until=memory.valid_until
    )


def check_claim(extra: Mapping[str, Value], body: str) -> None:
    """Raise BadInput for a claim that could not be used, before anything is written."""
    claim = extra.get("claim")
    if claim is None:
        return
    if not isinstance(claim, dict):
        raise BadInput("a claim must be a mapping", "set subject, predicate and value")
    unknown = [key for key in claim if key not in CLAIM_KEYS]
    if unknown:
        raise BadInput(
            f"unknown key {unknown[0]!r} in a claim",
            "use only " + ", ".join(CLAIM_KEYS[:-1]),
        )
    for key in ("subject", "predicate"):
        value = claim.get(key)
        text = text_of(value).strip()
        if not text or len(text) > MAX_NAME_CHARS:
            message = (
                f"claim.{key} must be a non-empty string (max {MAX_NAME_CHARS} chars)"
            )
            raise BadInput(message, f"set claim.{key}")
    value = claim.get("value")
    if not isinstance(value, str) or len(value) > MAX_VALUE_CHARS:
        message = f"claim.value must be a string (max {MAX_VALUE_CHARS} chars)"
        raise BadInput(message, "put a longer text into the body")
    if len(body) > MAX_TEXT_CHARS:
        message = f"a claim's text has more than {MAX_TEXT_CHARS:,} characters"
        raise BadInput(message, "shorten it to the claim")
    scope = claim.get("scope", GLOBAL)
    check_known("claim.scope", scope, SCOPES)
    if scope == SESSION and not (claim.get("session") or claim.get("sessionId")):
        raise BadInput("a claim of scope session needs a session", "add session=NAME")
    if str(claim.get("exclusive", "true")).lower() not in ("true", "false"):
        raise BadInput(
            f"claim.exclusive must be true or false, not {claim['exclusive']!r}",
            "default: true",
        )


def conflicting(a: Claim, b: Claim, registry: Registry) -> bool:
    """Return whether two claims contradict each other."""
    rule = registry.get(a.predicate, UNREGISTERED)
    return (
        a.key == b.key
        and rule.cardinality == "single"
        and a.exclusive
        and b.exclusive
        and _overlap(a, b)
        and a.session == b.session  # empty except for claims of scope session
        and (a.scope == SESSION) == (b.scope == SESSION)
        and normalized_value(a.value, rule.normalize)
        != normalized_value(b.value, rule.normalize)
    )


def same_claim(new: Claim, known: Claim, registry: Registry) -> bool:
    """Return whether a known claim covers a new one: same value and scope, and a window that includes the new one's.

    With the rule `dedupPolicy: store`, no claim covers another one.
    """
    rule = registry.get(new.predicate, UNREGISTERED)
    return (
        rule.dedup_policy == CORROBORATE
        and new.key == known.key
        and (new.scope, new.session) == (known.scope, known.session)
        and known.valid_from <= new.valid_from
        and (not known.valid_until or 0 < new.valid_until <= known.valid_until)
        and _overlap(new, known)
        and normalized_value(new.value, rule.normalize)
        == normalized_value(known.value, rule.normalize)
    )


def _overlap(a: Claim, b: Claim) -> bool:
    return (not a.valid_until or b.valid_from < a.valid_until) and (
        not b.valid_until or a.valid_from < b.valid_until
    )


def rivals_of(
    memory: Memory, others: Sequence[Memory], registry: Registry
) -> list[Memory]:
    """Return the active memories of `others` whose claims contradict this memory's, sorted by id."""
    return sorted(
        _with_claims(memory, others, ACTIVE, conflicting, registry),
        key=lambda other: other.id,
    )


def _with_claims(
    memory: Memory,
    others: Sequence[Memory],
    status: str,
    test: Callable[[Claim, Claim, Registry], bool],
    registry: Registry,
) -> list[Memory]:
    """Return the other memories with this status whose claims pass a test with this memory's claim."""
    claim = claim_of(memory)
    if claim is None:
        return []
    # earlier claims that ended do not count
    claim = replace(claim, valid_from=claim.valid_from or memory.created)
    matching = []
    for other in others:
        if other.status == status and other.id != memory.id:
            its = claim_of(other)
        else:
            its = None
        if its and test(claim, its, registry):
            matching.append(other)
    return matching


def plan_claim(
    entry: Entry,
    others: Sequence[Memory],
    registry: Registry,
    trust: Trust,
    on_conflict: str = QUARANTINE,
) -> Plan:
    """Plan to store a memory that may have a claim; `others` are the memories with the same subject and predicate."""
    if on_conflict not in ON_CONFLICT:
        raise BadInput(
            "onConflict must be either 'quarantine' or 'keep_active'",
            f"not {on_conflict!r}",
        )
    check_claim(entry.extra, entry.body)
    plan = plan_add(entry)
    (first,) = plan.entries
    new = new_memory(first)
    claim = claim_of(new)
    if claim is None:
        return plan
    rule = registry.get(claim.predicate, UNREGISTERED)
    if twin := _twin(new, others, registry, ACTIVE):
        return plan_corroborate(twin, first)
    rivals = rivals_of(new, others, registry)
    if not rivals:
        return plan
    ids = [rival.id for rival in rivals]
    names = ", ".join(ids)
    if rule.conflict_policy == KEEP_BOTH:
        link = linking(new, ids, KEPT_BOTH, first.by)
        return Plan((first, link), f"{plan.why} and keep {names}")
    if rule.conflict_policy == SUPERSEDE and outweighs(new, rivals, trust):
        return plan_superseding(
            first, rivals, "a newer claim that is trusted at least as much"
        )
    if rule.conflict_policy == REQUIRE_REVIEW:
        reason = NEEDS_REVIEW
    else:
        reason = TRUST_INSUFFICIENT
    if on_conflict == KEEP_ACTIVE:
        kept = replace(first, extra={**first.extra, "conflictsWith": ids})
        return Plan((kept,), f"{plan.why}, in conflict with {names}: {reason}")
    if waiting := _twin(new, others, registry, "quarantined"):
        return plan_corroborate(waiting, first)
    why = f"{plan.why} in quarantine: {reason}, conflicts with {names}"
    return replace(plan_quarantined(first, reason, first.by, ids), why=why)


def plan_claims(
    entries: Sequence[Entry],
    claiming: Callable[[str, str], Sequence[Memory]],
    registry: Registry,
    trust: Trust,
    on_conflict: str = QUARANTINE,
) -> list[Plan]:
    """Return a plan for each memory, assuming that the plans before it are written.

    `claiming` returns the memories with a subject and a predicate.
    """
    if len(entries) > MAX_BATCH:
        raise BadInput(
            f"{len(entries):,} memories in one call are too many",
            f"store at most {MAX_BATCH:,}",
        )
    known: dict[tuple[str, str], dict[str, Memory]] = {}
    plans: list[Plan] = []
    for place, entry in enumerate(entries, 1):
        claim = read_claim(entry.extra)
        if claim and claim.key not in known:
            known[claim.key] = {memory.id: memory for memory in claiming(*claim.key)}
        others = known[claim.key] if claim else {}
        try:
            plan = plan_claim(
                entry, tuple(others.values()), registry, trust, on_conflict
            )
        except BadInput as failure:
            where = f"memory {place} of {len(entries)}: " if len(entries) > 1 else ""
            raise BadInput(where + failure.message, failure.hint) from None
        plans.append(plan)
        for written in plan.entries:
            known_before = others.get(written.target)
            others[written.target] = (
                after(known_before, [written]) if known_before else new_memory(written)
            )
    return plans


def _twin(
    new: Memory, others: Sequence[Memory], registry: Registry, status: str
) -> Memory | None:
    """Return the oldest memory with this status whose claim covers the new one, or None if the rules store it again."""
    twins = _with_claims(new, others, status, same_claim, registry)
    return min(twins, key=lambda other: (other.created, other.id), default=None)


def plan_superseding(first: Entry, rivals: Sequence[Memory], reason: str) -> Plan:
    """Plan to store a memory that supersedes others; the new memory and the others record it."""
    ids = [rival.id for rival in rivals]
    first = replace(first, extra={**first.extra, "supersedes": ids})
    entries = [superseding(rival, first.id, reason, first.by) for rival in rivals]
    why = f"add {first.title!r}; it supersedes {', '.join(ids)}"
    return Plan((first, *entries), why)


@record
class Outcome:
    """The outcome of storing a memory: `what` happened, the memory's id, and the ids of other memories involved."""

    what: str  # stored | corroborated | superseded | quarantined | kept_both | conflict
    id: str
    others: tuple[str, ...] = ()
    reason: str = ""


def stored_outcome(entries: Sequence[Entry]) -> Outcome:
    """Return the outcome that the entries of one stored memory express."""
    first, *rest = entries
    if first.kind == "corroborate":
        return Outcome("corroborated", first.about)
    if not rest:
        open_with = ids_in(first, "conflictsWith")
        return Outcome("conflict" if open_with else "stored", first.id, open_with)
    second = rest[0]
    if second.kind == "quarantine":
        rivals = ids_in(second, "conflictsWith")
        reason = str(second.extra["reason"])
        return Outcome("quarantined", first.id, rivals, reason)
    if second.kind == "link":
        return Outcome("kept_both", first.id, ids_in(second, "to"))
    return Outcome("superseded", first.id, tuple(entry.about for entry in rest))


# Evolve: find the memory that a new text updates, and plan to supersede or confirm it. Pure.

MAX_CANDIDATES = 10  # memories compared with a new text (neolata)


@record
class Related:
    """A memory related to a text: the similarity, and the share of specific words that both have."""

    memory: Memory
    cosine: float
    shared: float

    @property
    def same_subject(self) -> bool:
        """Return whether the memory is clearly about the same subject."""
        return self.cosine >= SIMILAR.min_cosine and self.shared >= SIMILAR.min_shared


def related_to(entry: Entry, found: Sequence[tuple[Memory, float]]) -> list[Related]:
    """Return the active memories of `found` that are related to a new text, closest first."""
    own = statement_of(entry.title_and_body)
    kept = [
        (memory, cosine)
        for memory, cosine in found
        if memory.status == ACTIVE and memory.kind not in GROUPS
    ]
    related = [
        Related(
            memory,
            cosine,
            shared_words(own, statement_of(memory.title_and_body), subject_only=True),
        )
        for memory, cosine in kept
        if cosine > RELATED_COSINE
    ]
    return sorted(related, key=lambda item: (-item.cosine, item.memory.id))[
        :MAX_CANDIDATES
    ]


def plan_evolve(entry: Entry, related: Sequence[Related], trust: Trust) -> Plan:
    """Plan to confirm the closest memory if it says the same, to supersede it if trust allows, or just to store."""
    if len(entry.body) > MAX_TEXT_CHARS:
        raise BadInput(
            f"the text has more than {MAX_TEXT_CHARS:,} characters",
            "use 'rawkomem add' for documents",
        )
    plan = plan_add(entry)
    (first,) = plan.entries
    closest = next((item.memory for item in related if item.same_subject), None)
    if closest is None:
        why = "; no memory is clearly about the same subject" if related else ""
        return replace(plan, why=plan.why + why)
    if is_identical(f"{first.title} {first.body}", f"{closest.title} {closest.body}"):
        return plan_corroborate(closest, first)
    if not outweighs(new_memory(first), [closest], trust):
        return replace(
            plan, why=f"{plan.why} and keep {closest.id}, which is trusted more"
        )
    return plan_superseding(first, [closest], "a newer text about the same")
