"""Lessons: learned once, surer ones take their place, unsure and old ones are not injected, failures are distilled."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.files.reading import read_data
from rawkomem.files.records import read
from rawkomem.format.frontmatter import emit_entry
from rawkomem.format.mesh_fields import (
    LESSON_HEADINGS,
    LessonContext,
    checked_lesson,
    lesson_of,
    new_lesson,
    pattern_id,
    read_wire,
)
from rawkomem.learn.lessons import (
    LESSON_HELD,
    LESSON_KNOWN,
    LESSON_STORED,
    LESSON_TAG,
    lesson_drafts,
    lesson_of_draft,
    plan_lesson,
)
from rawkomem.model.entries import Draft, Entry, Task
from rawkomem.model.errors import BadInput, Refused
from rawkomem.model.values import DAY, iso, now, replace
from rawkomem.repository.experience import DECIDED, DRAFTED, WAITING
from rawkomem.state.fold import new_memory
from rawkomem.state.trust import derived_from

from tests.commands import ENVIRONMENT
from tests.torture.helpers import memory as memory_file

AUTH = LessonContext(
    situation="The service started without a key; nobody noticed.\n\n- in staging\n- then in production",
    error_pattern="auth_fallback_production",
    oversight="The fallback was not limited to development",
    fix="Start fails without a key",
    preventative_rule="Never fall back to default credentials",
    severity="high",
    applicable_scope="AuthService initialization",
    inverse_lesson="Fail loudly when the key is missing",
    confidence=0.8,
)
TASK = Task("work on AuthService initialization")
WORDS = ("situation", "error_pattern", "oversight", "fix", "preventative_rule", "applicable_scope")


def learn(repository, **changes):
    return repository.lessons.learn(replace(AUTH, **changes), "alice", "agent")


def test_a_lesson_is_a_file_that_people_like_to_read(repository, project):
    lesson, what = learn(repository)
    memory = repository.get(lesson.id)
    assert what == LESSON_STORED and memory.kind == "lesson" and memory.path.startswith("memories/lessons/")
    assert memory.title == AUTH.preventative_rule and memory.importance == "high" and LESSON_TAG in memory.tags
    assert memory.extra["patternId"] == "8e9c0883bcd69739" == lesson.pattern_id
    assert memory.extra["errorPattern"] == "auth_fallback_production"
    assert memory.body.startswith(
        "[LESSON:auth_fallback_production] The fallback was not limited to development "
        "| Rule: Never fall back to default credentials | Scope: AuthService initialization\n\n## Situation\n\nThe service"
    )
    assert lesson.context == AUTH
    assert [item.verdict for item in repository.check()] == ["accept"]


def test_who_is_trusted_less_waits_for_a_review(repository):
    first, _ = repository.lessons.learn(AUTH, "alice", "person")
    second, what = learn(repository, confidence=0.95)
    assert what == LESSON_HELD and repository.get(second.id).status == "quarantined"
    assert repository.get(first.id).status == "active"
    assert learn(repository, confidence=0.95)[1] == LESSON_KNOWN  # and is not stored again and again


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"severity": "fatal"}, "unknown severity"),
        ({"confidence": 1.5}, "not between 0 and 1"),
        ({"confidence": float("nan")}, "not between 0 and 1"),
        ({"fix": "  "}, "a lesson needs fix"),
        ({"situation": "a\n## Fix\nb"}, "contains a reserved heading"),
    ],
)
def test_what_is_wrong_with_a_lesson_is_told(changes, message, repository):
    with pytest.raises(BadInput, match=message):
        learn(repository, **changes)
    assert not repository.list()


SEEN = st.characters(categories=("L", "N", "P", "S", "Zs"), include_characters="\n")  # the reader drops what is unseen
TEXTS = st.text(SEEN, min_size=1, max_size=80)


@given(st.lists(TEXTS, min_size=6, max_size=6), st.floats(0, 1))
def test_the_file_keeps_every_text_exactly(texts, confidence):
    try:
        context = checked_lesson(replace(AUTH, **dict(zip(WORDS, texts, strict=True)), confidence=confidence))
        (entry,) = plan_lesson(new_lesson(context), [], lambda memory: 1.0).plan.entries
    except BadInput:
        return  # nothing to be seen in one of them
    reading = read_data(emit_entry(entry).encode(), "memories/lessons/x.md").entries
    assert len(reading) != 1 or lesson_of(new_memory(reading[0])).context == context  # several: the writer refuses


def test_unsure_and_old_lessons_are_not_injected_and_why_says_so(repository, memories):
    unsure, _ = learn(repository, confidence=0.6)
    old = memory_file("Rotate keys of AuthService", "Rotate them.", kind="lesson", id="old", whenToUse="AuthService",
                      discoveredAt=iso(now() - 400 * DAY))  # fmt: skip
    (memories / "old.md").write_text(old)
    injection = repository.inject(TASK)
    assert not injection.items
    reasons = {item.memory.id: item.why_not for item in injection.left_out}
    assert "confidence 0.6: 0.7 is needed" in reasons[unsure.id] and "400 days ago" in reasons["old"]
    scored, injected = repository.explain(unsure.id, TASK)
    assert not injected and scored.out.code == "unsure-lesson"


def test_settings_move_both_limits(repository, memories, project):
    (project / ".rawko/config.yaml").write_text("lessons: {minConfidence: 0.5}\nkeepDays: {lessons: 1000}\n")
    learn(repository, confidence=0.6)
    assert len(repository.inject(TASK).items) == len(repository.lessons.search()) == 1


def test_wire_blocks_go_there_and_back(repository, tmp_path_factory):
    from rawkomem.files.installation import plan_start, write_start
    from rawkomem.repository import Repository

    lesson, _ = learn(repository)
    other = tmp_path_factory.mktemp("other")
    write_start(plan_start(str(other)))
    elsewhere = Repository.open(str(other))
    taken, what = elsewhere.lessons.take_over(lesson.wire)
    assert what == LESSON_STORED and taken.wire == lesson.wire
    assert (taken.id, taken.pattern_id, taken.at, taken.by) == (lesson.id, lesson.pattern_id, lesson.at, lesson.by)
    assert elsewhere.lessons.take_over(lesson.wire)[1] == LESSON_KNOWN
    assert elsewhere.beliefs.trust(elsewhere.get(taken.id)).source == "document"  # it came by import
    assert repository.lessons.take_over(lesson.wire) == (lesson, LESSON_KNOWN)
    surer = lesson.wire.replace("confidence;0.8;", "confidence;0.9;").replace(lesson.id, "lesson_1769164200000_abcdef")
    better, _ = repository.lessons.take_over(surer)
    assert better.context.error_pattern == "auth_fallback_production"  # a name that the repository knows
    elsewhere.close()


@given(st.lists(TEXTS, min_size=6, max_size=6))
def test_a_wire_block_that_we_wrote_is_the_same_after_reading(texts):
    try:
        context = checked_lesson(replace(AUTH, **dict(zip(WORDS, texts, strict=True))))
        (entry,) = plan_lesson(new_lesson(context, "agent_7"), [], lambda memory: 1.0).plan.entries
        wire = lesson_of(new_memory(entry)).wire
        taken = read_wire(wire)
    except BadInput:
        return  # blanks and semicolons alone
    (again,) = plan_lesson(taken, [], lambda memory: 1.0).plan.entries
    assert lesson_of(new_memory(again)).wire == wire


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("rule_confidence;0.8;", "rule_confidence;much;"), "is no number"),
        (("severity;high;\n  timestamp", "severity;fatal;\n  timestamp"), "unknown severity"),
        (("handoff: SubconsciousReflector;\n", ""), "Missing required section: handoff:"),
        (("output:", "output"), "line 12"),
    ],
)
def test_what_is_wrong_with_a_wire_block_is_told(change, message, repository):
    lesson, _ = learn(repository)
    with pytest.raises(BadInput, match=message):
        repository.lessons.take_over(lesson.wire.replace(*change))


def test_heritage(repository):
    stored = repository.add(Entry(title="Why apsw", body="x")).entry
    repository.lessons.inherit(stored.id, ("ship",), ("h",), ("r",))
    repository.lessons.inherit(stored.id, ("ship", "search"), (), ("speed",))
    memory = repository.get(stored.id)
    assert memory.extra["intentChain"] == ["ship", "search"] and memory.extra["hypotheses"] == []
    assert memory.body == "x"
    with pytest.raises(BadInput, match="more than 5"):
        repository.lessons.inherit(stored.id, tuple("abcdef"))
    with pytest.raises(BadInput, match="chain is empty"):
        repository.lessons.inherit(stored.id, ())
    repository.delete(stored.id)
    with pytest.raises(Refused):
        repository.lessons.inherit(stored.id, ("a",))


def trace(title: str, at: int, body: str = "", **extra: str) -> str:
    keys = {"kind": "trace", "id": f"trace-{at}-abcdef", "status": "failure", **extra}
    return memory_file(title, body, discoveredAt=iso(at), **keys)


@pytest.fixture
def traces(project):
    folder = project / ".rawko" / "traces"
    folder.mkdir()

    def write(name: str, hours: float, *args, **extra):
        at = now() - int(hours * DAY / 24)
        (folder / f"{name}.md").write_text(trace(name, at, *args, **extra))
        return f"trace-{at}-abcdef"

    return write


def drafted(repository) -> list[Draft]:
    return [draft for draft, what in repository.lessons.distill().found if what == DRAFTED]


def test_a_failure_of_today_becomes_a_draft_once(repository, traces):
    id = traces("deploy", 2, "## Learnings\n\n- run migrations before the deploy\n- Second\n\n## Notes\n\nx",
                goal="deploy the api", error='"Timeout after 30 s: no answer"', error_pattern="deploy_timeout")  # fmt: skip
    assert repository.lessons.distill(dry_run=True).found[0][1] == DRAFTED and not repository.drafts.all()
    ((made, what),) = repository.lessons.distill().found
    (draft,) = repository.drafts.all()
    assert what == DRAFTED and draft == made and dict(made.fields)["derivedFrom"] == id
    assert draft.title == "Run migrations before the deploy" and draft.kind == "rule" and draft.session == "distill"
    today = iso(draft.at)[:10]
    assert draft.text == f"## Situation\n\n- {today} {id}: Timeout after 30 s: no answer"
    assert [what for _, what in repository.lessons.distill().found] == [WAITING]
    assert len(repository.list()) == 1 and not repository.inject(Task("deploy timeout")).items[1:]


def test_a_draft_that_is_kept_is_a_lesson(repository, traces):
    traces("deploy", 2, goal="deploy the api", error="it timed out", error_pattern="deploy_timeout", severity="critical",
           fix="Start the proxy before the api", rule="Never deploy without the proxy", applicable_scope="deploys")  # fmt: skip
    (draft,) = drafted(repository)
    kept = repository.add(lesson_of_draft(repository.drafts.get(draft.id), "alice")).entry
    lesson = lesson_of(repository.get(kept.id))
    assert (
        lesson.context.preventative_rule == "Never deploy without the proxy" and lesson.context.severity == "critical"
    )
    assert lesson.context.fix == "Start the proxy before the api." and lesson.pattern_id == pattern_id(
        "deploy_timeout", "deploys"
    )
    assert lesson.context.situation.endswith(": it timed out") and LESSON_TAG in repository.get(kept.id).tags
    found = repository.inject(Task("work on deploys and the proxy"), limit=5)
    assert kept.id in [item.memory.id for item in (*found.items, *found.pointers)]
    assert derived_from(repository.get(kept.id)) == tuple(row.id for row in repository.list(kind="trace"))
    assert [what for _, what in repository.lessons.distill().found] == [LESSON_KNOWN]
    repository.delete(kept.id)  # what a person rejected does not come back
    assert [what for _, what in repository.lessons.distill().found] == [LESSON_KNOWN]


def test_a_confidence_that_is_no_number_from_0_to_1_is_left_out(repository, traces):
    for name, hours, confidence in (("one", 5, "0.9"), ("two", 4, "1.5"), ("three", 3, "very")):
        traces(name, hours, error="protoc not found", fix="install the compiler", rule_confidence=confidence)
    (draft,) = drafted(repository)
    assert dict(draft.fields)["ruleConfidence"] == "0.9"


def test_failures_without_a_rule_or_a_fix_make_no_draft(repository, traces):
    for name, hours in (("one", 5), ("two", 4)):
        traces(name, hours, error="protoc not found")
    assert drafted(repository) == []
    traces("three", 3, error="protoc not found", fix="install the protobuf compiler")
    (draft,) = drafted(repository)
    assert draft.title == "Install the protobuf compiler" and draft.text.count("protoc not found") == 3
    repository.drafts.store.decide(draft, "dropped")
    assert [what for _, what in repository.lessons.distill().found] == [DECIDED] and not repository.drafts.all()


ODD = st.one_of(
    st.just(""), st.text(SEEN, max_size=40), st.sampled_from(["Third time: it says no", "## Fix", "a\n## Fix\nb"])
)


@given(
    st.lists(
        st.fixed_dictionaries({"title": ODD, "error": ODD, "goal": ODD, "fix": ODD, "rule": ODD}),
        min_size=1,
        max_size=4,
    )
)
def test_drafts_are_whole_sentences_and_lists_of_what_is_there(failures):
    entries = [
        Entry(
            kind="trace",
            id=f"t{n}",
            at=DAY,
            title=told["title"],
            extra={"error_pattern": "p", "status": "failure", **told},
        )
        for n, told in enumerate(failures)
    ]
    for draft in lesson_drafts([new_memory(entry) for entry in entries], DAY + 1):
        assert "Before you" not in draft.title + draft.text
        parts = [part for part in draft.text.split("\n\n") if part not in LESSON_HEADINGS]
        assert parts and all(part.endswith((".", "!", "?", "…", "。", ":")) or part.startswith("- ") for part in parts)
        own = [_letters(told[key]) for told in failures for key in ("rule", "fix")]
        assert _letters(draft.title) in own


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def test_secrets_in_failures_do_not_reach_drafts(repository, project, traces):
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    told = dict.fromkeys(
        ("error", "goal", "fix", "rule", "situation", "error_pattern", "applicable_scope"), f"Never log {key}"
    )
    traces("deploy", 2, **told)
    assert len(drafted(repository)) == 1
    text = str(read(repository.layout, "SELECT * FROM drafts"))
    assert key not in text and "[REDACTED_" in text


def test_two_at_once_draft_it_once(project, repository, traces):
    traces("deploy", 2, error="it broke", fix="Mend it at once")
    code = "import sys; from rawkomem import Repository; Repository.open(sys.argv[1]).lessons.distill()"
    runs = [subprocess.Popen([sys.executable, "-c", code, str(project)], env=ENVIRONMENT) for _ in range(2)]
    assert [run.wait() for run in runs] == [0] * 2
    assert len(repository.drafts.all()) == 1


ADD = ("lesson", "add", "--situation", "It broke; twice", "--error-pattern", "p", "--oversight", "o", "--fix", "f",
       "--rule", "Do not", "--severity", "critical", "--scope", "the build")  # fmt: skip


def test_commands(rawkomem, tmp_path):
    told = rawkomem.json(*ADD, "--inverse", "i", "--confidence", "0.9")
    assert (
        told["what"] == LESSON_STORED
        and told["patternId"] == pattern_id("p", "the build")
        and told["ruleConfidence"] == 0.9
    )
    assert rawkomem(*ADD).stdout.startswith("known")
    assert "critical" in rawkomem("lessons").stdout and "critical" in rawkomem("lessons", "the", "build").stdout
    (listed,) = json.loads(rawkomem("lessons", "--json", "--pattern", "p").stdout)
    assert listed["situation"] == "It broke; twice" and listed["wireFormat"] == told["wireFormat"]
    wire = rawkomem("lessons", "--wire").stdout
    assert wire == told["wireFormat"]
    assert rawkomem("lesson", "import", "-", input=wire).stdout.startswith("known")
    assert "no lessons" in rawkomem("lessons", "--min-confidence", "0.95").stderr
    rawkomem("heritage", told["lessonId"], "--intent", "ship", "--intent", "test", "--rationale", "speed")
    assert rawkomem.json("show", told["lessonId"])["extra"]["intentChain"] == ["ship", "test"]
    assert "ship → test" in rawkomem("heritage", told["lessonId"]).stdout
    assert "not a lesson block" in rawkomem("lesson", "import", "-", input="nonsense", check=2).stderr
    assert "Missing option" in rawkomem("lesson", "add", "--fix", "x", check=2).stderr


def test_a_link_does_not_bring_what_is_held_back(repository):
    unsure, _ = learn(repository, confidence=0.2, applicable_scope="quite another subject", error_pattern="x")
    sure, _ = learn(repository)
    repository.graph.link(sure.id, unsure.id)
    assert [item.memory.id for item in repository.inject(TASK).items] == [sure.id]
