"""neolata's rules for claims and searches, as the source of its version 0.8 states them; and stores made by them.

The npm package itself is asked in test_package.py, where it is installed.
"""

import json
import re
from datetime import UTC, datetime, timedelta
from random import Random

BASES = {"user_explicit": 1.0, "system": 0.95, "tool_output": 0.85, "user_implicit": 0.7, "document": 0.6}
FILES = {"graph": "memories", "archived": "archived", "episodes": "episodes", "pending-conflicts": "conflicts", "clusters": "clusters"}  # fmt: skip
WORDS = [
    "redis", "port", "budget", "deploy", "friday", "canary", "postgres", "index", "cache", "token", "queue",
    "latency", "owner", "review", "branch", "tag",
]  # fmt: skip
NAMES = ("kuro", "agent-2", "ci.bot", "Ana B")
START = datetime(2026, 1, 1, tzinfo=UTC)


def js(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def trust(provenance, reinforcements=0, disputes=0, days=0.0):
    votes = reinforcements + disputes
    swing = (reinforcements - disputes) / votes * 0.15 if votes else 0
    more = min(0.2, (provenance.get("corroboration", 1) - 1) * 0.05)
    return max(0, min(1.0, BASES.get(provenance.get("source"), 0.5) + more + swing - max(0, min(0.1, days / 3650))))


def overlap(a, b):
    ends = [(one.get("validFrom") or "0", one.get("validUntil") or "9") for one in (a, b)]
    return ends[0][0] <= ends[1][1] and ends[1][0] <= ends[0][1]


def value(claim):
    return claim.get("normalizedValue", claim["value"])


class Neolata:
    """A store with neolata's decisions; the clock stands where it is put."""

    def __init__(self, policies=None):
        self.memories, self.archived, self.episodes, self.conflicts, self.clusters = [], [], [], [], []
        self.now, self.made, self.policies = START, 0, policies or {}

    def id(self, prefix="mem"):
        self.made += 1
        return f"{prefix}_{self.made:08d}-0000-4000-8000-{self.made:012d}"

    def get(self, id):
        return next(one for one in self.memories if one["id"] == id)

    def same_key(self, claim):
        keys = ("subject", "predicate")
        return [
            one for one in self.memories if one.get("claim") and all(one["claim"][key] == claim[key] for key in keys)
        ]

    def store(self, agent, text, claim=None, source=None, on_conflict="quarantine", **said):
        now, policy = js(self.now), self.policies.get((claim or {}).get("predicate"), "supersede")
        if claim:
            claim = {"exclusive": True, "scope": "global", **claim, "normalizedValue": claim["value"]}
            for one in self.same_key(claim):
                if one.get("status") == "active" and value(one["claim"]) == value(claim):
                    self.corroborate(one)
                    return "corroborated", one["id"]
        provenance = {"source": source or "inference", "corroboration": 1}
        provenance["trust"] = trust(provenance)
        new = {
            "id": self.id(), "agent": agent, "memory": text, "category": "fact", "importance": 0.7, "tags": [],
            "embedding": None, "links": [], "created_at": now, "updated_at": now, "status": "active", "reinforcements": 0,
            "disputes": 0, "provenance": provenance, **said, **({"claim": claim} if claim else {}),
        }  # fmt: skip
        outcome = "stored"
        for one in self.rivals(claim) if claim else ():
            theirs = one.get("provenance", {}).get("trust", 0.5)
            record = {"newId": new["id"], "existingId": one["id"], "newTrust": provenance["trust"], "existingTrust": theirs,
                      "newClaim": claim, "existingClaim": one["claim"], "created_at": now}  # fmt: skip
            if policy == "keep_both":
                self.conflicts.append({"id": self.id(), **record, "resolved_at": now, "resolution": "keep_both"})
            elif policy == "supersede" and provenance["trust"] >= theirs:
                one |= {"status": "superseded", "superseded_by": new["id"]}
                new["supersedes"] = [*new.get("supersedes", []), one["id"]]
                new["links"].append({"id": one["id"], "similarity": 1.0, "type": "supersedes"})
                outcome = "superseded"
            else:
                self.conflicts.append({"id": self.id(), **record})
                outcome = "conflict"
                if on_conflict == "quarantine":
                    reason = "trust_insufficient" if policy == "supersede" else "predicate_requires_review"
                    new |= {"status": "quarantined", "quarantine": {"reason": reason, "created_at": now}}
        self.memories.append(new)
        return outcome, new["id"]

    def rivals(self, claim):
        if claim["exclusive"] is False or self.policies.get(claim["predicate"]) == "multi":
            return []
        return [
            one
            for one in self.same_key(claim)
            if one.get("status") not in ("superseded", "quarantined")
            and value(one["claim"]) != value(claim)
            and one["claim"].get("exclusive") is not False
            and not (claim["scope"] == "session" and one["claim"].get("scope") == "global")
            and overlap(claim, one["claim"])
        ]

    def voted(self, one):
        days = (self.now - datetime.fromisoformat(one["created_at"])).total_seconds() / 86400
        one["provenance"]["trust"] = trust(one["provenance"], one["reinforcements"], one["disputes"], days)
        one |= {"confidence": round(one["provenance"]["trust"], 4), "updated_at": js(self.now)}

    def corroborate(self, one):
        one["provenance"]["corroboration"] += 1
        self.voted(one)

    def reinforce(self, one):
        one |= {"reinforcements": one["reinforcements"] + 1, "accessCount": one.get("accessCount", 0) + 1,
                "importance": min(1, one["importance"] + 0.1), "stability": 1.5}  # fmt: skip
        self.voted(one)

    def dispute(self, one):
        one["disputes"] += 1
        self.voted(one)
        if one["provenance"]["trust"] < 0.3 and one["status"] == "active":
            one["status"] = "disputed"

    def archive(self, one):
        self.memories.remove(one)
        put = {key: said for key, said in one.items() if key != "embedding"}
        self.archived.append({**put, "archived_at": js(self.now), "archived_reason": "strength 0.12 below threshold"})

    def link(self, one, other, similarity):
        for here, there in ((one, other), (other, one)):
            here["links"].append({"id": there["id"], "similarity": similarity, "type": "similar"})

    def search(self, query):
        """Return score → ids, so that ties do not matter."""
        words, found = set(re.findall(r"[a-z0-9]{2,}", query.lower())), {}
        for one in self.memories:
            hits = len(words & set(re.findall(r"[a-z0-9]{2,}", one["memory"].lower())))
            if hits and one.get("status", "active") == "active":
                found.setdefault((hits, one["importance"]), set()).add(one["id"])
        return found

    def statuses(self):
        return {
            one["id"]: (one.get("status"), one.get("superseded_by"), one.get("supersedes")) for one in self.memories
        }

    def save(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, attribute in FILES.items():
            (folder / f"{name}.json").write_text(json.dumps(getattr(self, attribute), indent=2), encoding="utf-8")

    @classmethod
    def load(cls, folder, policies=None):
        made = cls(policies)
        for name, attribute in FILES.items():
            setattr(made, attribute, json.loads((folder / f"{name}.json").read_text(encoding="utf-8")))
        made.now, made.made = START + timedelta(days=90), 90_000
        return made


def a_claim(dice: Random) -> dict:
    claim = {"subject": dice.choice(("api", "shop")), "predicate": dice.choice(("port", "budget", "owner")),
             "value": dice.choice(("1", "2", "3", "$1,250.50"))}  # fmt: skip
    if dice.random() < 0.2:
        claim["exclusive"] = False
    if dice.random() < 0.25:
        claim |= {"scope": "session", "sessionId": dice.choice(("s-1", "s-2"))}
    if dice.random() < 0.4:
        first = START + timedelta(days=dice.randrange(60))
        claim |= {"validFrom": js(first), "validUntil": js(first + timedelta(days=dice.randrange(1, 40)))}
    return claim


def a_series(dice: Random, length: int) -> list[dict]:
    """Return arguments of `store` that contradict each other and what is there."""
    return [
        {"agent": dice.choice(NAMES), "text": " ".join(dice.sample(WORDS, 5)), "claim": a_claim(dice),
         "source": dice.choice((None, *BASES))}
        for _ in range(length)
    ]  # fmt: skip


def random_store(seed: int) -> Neolata:
    """Return a store after some dozens of steps, in which every field that neolata writes comes up."""
    dice = Random(seed)
    store = Neolata({"owner": dice.choice(("keep_both", "require_review", "multi", "supersede"))})
    for step in range(dice.randrange(12, 30)):
        store.now += timedelta(minutes=dice.randrange(1, 2000), milliseconds=dice.randrange(1000))
        said = {"category": dice.choice(("fact", "decision", "Preference")), "importance": round(dice.random(), 2),
                "tags": dice.sample(WORDS, dice.randrange(3))}  # fmt: skip
        if dice.random() < 0.3:
            said["event_at"] = js(store.now - timedelta(days=dice.randrange(400)))
        given = a_series(dice, 1)[0]
        if dice.random() < 0.4:
            given["claim"] = None
        if dice.random() < 0.2:
            given["on_conflict"] = "keep_active"
        store.store(**given, **said)
        one, other = dice.choice(store.memories), dice.choice(store.memories)
        move = dice.choice(("reinforce", "dispute", "dispute", "link", "archive", "batch", "evolve", "", ""))
        if move in ("reinforce", "dispute"):
            getattr(store, move)(one)
        elif move == "link" and one is not other:
            store.link(one, other, round(dice.uniform(0.5, 1), 6))
        elif move == "archive" and dice.random() < 0.3 and one.get("status") == "active":
            store.archive(one)
        elif move == "batch":
            batch = {"id": store.id(), "agent": "kuro", "memory": f"Batch {step}\n\nof two paragraphs ", "category": "fact",
                     "importance": 0.7, "tags": [], "embedding": [0.1, 0.2], "links": [], "created_at": js(store.now),
                     "updated_at": js(store.now)}  # fmt: skip
            store.memories.append({**batch, "provenance": {"source": "inference", "corroboration": 1, "trust": 0.5},
                                   "reinforcements": 0, "disputes": 0})  # fmt: skip
        elif move == "evolve":
            one["evolution"] = [{"from": "an older text", "to": one["memory"], "reason": "newer", "at": js(store.now)}]
    ids = [one["id"] for one in store.memories[:3]]
    times = {"created_at": js(store.now), "updated_at": js(store.now)}
    store.episodes.append({"id": store.id("ep"), "name": "Sprint 7", "agents": ["kuro"], "memoryIds": ids, "tags": ["work"],
                           "timeRange": {"start": js(START), "end": js(store.now)}, "metadata": {"n": 3}, **times})  # fmt: skip
    store.clusters.append({"id": store.id("cl"), "label": "Infra", "memoryIds": ids, **times})
    return store
