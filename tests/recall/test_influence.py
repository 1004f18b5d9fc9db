"""What no person vouches for changes nothing about what a person vouches for: its order, its evidence, its place."""

from rawkomem.model.entries import Task
from rawkomem.model.values import replace
from rawkomem.recall.candidates import best_first
from rawkomem.recall.scoring import profile_of

from tests import hostile

from .test_verified import text, write

TASK = Task("fix the login page")
RULE = "Rotate the session cookie after each login and log the old one out."


def confidences(repository) -> dict[str, float]:
    injection = repository.inject(TASK)
    return {item.memory.id: item.signals.confidence for item in (*injection.items, *injection.left_out)}


def test_a_long_memory_does_not_hide_how_close_others_are(git, memories, repository):
    write(memories, one=text("Cookie rules", RULE))
    git.commit()
    before = confidences(repository)
    paragraphs = "\n\n".join(f"## Part {n}\n\n" + "Fix the login page. " for n in range(2_100))
    write(memories, flood=text("Login page", paragraphs))
    assert confidences(repository)["one"] == before["one"]


def test_others_do_not_part_equals(git, memories, repository):
    write(memories, low=text("Cookie rules", RULE, importance="low"), high=text("Captcha", RULE, importance="high"))
    git.commit()
    write(memories, other=text("Login page", "Fix the login page."))
    injection = repository.inject(TASK)
    by_id = {item.memory.id: item for item in (*injection.items, *injection.left_out)}
    signals = [replace(by_id[id].signals, fired=None) for id in ("low", "high", "other")]
    scores = zip(("low", "high", "other"), (0.95, 0.94, 1.0), signals, strict=True)
    scored = [replace(by_id[id], signals=replace(own, confidence=score), out=None) for id, score, own in scores]
    assert [item.memory.id for item in best_first(scored, profile_of("fit"))] == ["high", "low", "other"]


def test_a_copy_that_was_told_does_not_silence_the_rule(git, memories, repository):
    said = "Answer with status 204 and an empty body."
    write(memories, rule=text("Empty answers", said, whenToUse="logout"))
    git.commit()
    write(memories, copy=text("Login hints", said))
    first = repository.inject(Task("fix the login page", session="s"))
    repository.note_use(first, "s")
    assert [item.memory.id for item in first.items] == ["copy"]
    again = repository.inject(Task("empty answers of login and logout", session="s"))
    assert "rule" in [item.memory.id for item in again.items]


def test_others_do_not_spend_the_budget_of_a_session(git, memories, repository):
    write(memories, rule=text("Empty answers", "Answer with status 204.", whenToUse="logout"))
    git.commit()
    long = "The login page needs a careful fix of its header. " * 30
    write(memories, **{f"u{n}": text(f"Login page {n}", f"Hint {n}: {long}") for n in range(12)})
    for _ in range(12):
        repository.note_use(repository.inject(Task("fix the login page", session="s"), budget=300), "s")
    again = repository.inject(Task("change the logout page", session="s"), budget=300)
    assert "rule" in [item.memory.id for item in again.items]


def test_others_do_not_take_the_place_of_what_a_rule_names(git, memories, repository):
    write(memories, rule=text("Cookie rules", RULE, relatedMemories="[detail]"))
    write(memories, detail=text("Vault keys", "Keys are rotated by hand.", whenToUse="vault"))
    git.commit()
    assert {item.memory.id for item in repository.inject(TASK, limit=2).items} == {"rule", "detail"}
    write(memories, other=text("Login page", "Fix the login page."))
    assert {item.memory.id for item in repository.inject(TASK, limit=2).items} == {"rule", "detail"}


def test_others_do_not_spend_the_budget_for_regexes(git, memories, repository):
    write(memories, one=text("Queue", "Restart the queue.", whenToUse=r"'f.x\s+the\s+log.n'"))
    git.commit()
    before = confidences(repository)
    hostile.expensive_regexes(memories, 20)
    after = confidences(repository)
    assert {id: after[id] for id in before} == before and repository.warnings


def test_others_take_no_place_in_a_search(git, memories, repository):
    write(memories, **{name: text(f"Cookie rules {name}", RULE) for name in ("one", "two", "three")})
    git.commit()
    before = repository.search("fix the login page", 2)
    write(memories, **{f"u{n}": text(f"Login page fix {n}", "Fix the login page.") for n in range(20)})
    after = repository.search("fix the login page", 2)
    assert [item for item in after if item.row.vouched] == before
    assert [item.row.vouched for item in after] == [1, 0, 1]  # the best two of all, then the one whose place was taken
