"""Two memory files that name each other."""

RETRY = """---
id: mem_1700000000000_abc123
title: Retry with jitter
whenToUse:
  - "retry|backoff"
tags: [queue, network]
importance: high
discoveredAt: 2026-01-23T10:30:00Z
---

Retries without jitter brought the queue down twice. See [[queue-limits]].
"""
LIMITS = """---
title: Queue limits
whenToUse: ["queue"]
tags: [queue]
relatedMemories: [mem_1700000000000_abc123, "nobody"]
---

The 😀 queue holds [[mem_1700000000000_abc123|retries]] and `[[code]]`.

---

---
kind: amend
about: queue-limits
at: 2026-02-01T09:00:00Z
importance: critical
---
"""
