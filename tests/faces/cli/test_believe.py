"""The commands about belief, as people and programs run them."""

import json
import re

import pytest
from rawkomem.model.entries import RULE, Draft, Entry
from rawkomem.model.values import now
from rawkomem.repository import Repository

from tests.git.gitting import AGENT


@pytest.fixture
def add(rawkomem, repository):
    """Store a claim about the user's time zone and return what the command said as JSON.

    A command without a terminal is an agent's; what a person says is stored as one at a terminal would be.
    """

    def by_a_person(value: str):
        claim = {"subject": "user", "predicate": "timezone", "value": value}
        entry = Entry(title=f"Time zone {value}", body="Said in a call.", extra={"claim": claim})
        outcome = repository.add(entry, via="person").outcome
        return {"id": outcome.id, "what": outcome.what, "others": list(outcome.others)}

    def add(value: str, source: str = "inference", *more: str):
        if source == "user_explicit":
            return by_a_person(value)
        said = f"subject=user,predicate=timezone,value={value}"
        words = (
            "add",
            "--title",
            f"Time zone {value}",
            "--body",
            "Said in a call.",
            "--claim",
            said,
            "--source",
            source,
        )
        return json.loads(rawkomem(*words, "--json", *more).stdout)

    return add


def said(result) -> dict:
    return json.loads(result.stdout)


def test_add_tells_what_became_of_a_claim(rawkomem, add):
    first = add("UTC")
    assert (first["what"], first["others"]) == ("stored", [])
    assert add("UTC")["what"] == "corroborated"
    newer = add("PST", "user_explicit")
    assert (newer["what"], newer["others"]) == ("superseded", [first["id"]])
    held = add("CET", "inference")
    assert (held["what"], held["reason"], held["others"]) == ("quarantined", "trust_insufficient", [newer["id"]])
    assert add("CET", "inference", "--on-conflict", "keep_active")["what"] == "conflict"
    assert add("MSK", "inference", "--no-exclusive")["what"] == "stored"
    assert add("CET", "inference", "--scope", "session", "--session", "s1")["what"] == "stored"
    past = add("EST", "inference", "--valid-from", "2020-01-01", "--valid-until", "2021-01-01", "--scope", "temporal")
    assert past["what"] == "quarantined", "the claim in use has no beginning: it held then, too"
    text = rawkomem("add", "--title", "T", "--body", "b", "--claim", "subject=user,predicate=timezone,value=MST").stdout
    assert "quarantined" in text and "because trust_insufficient" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--claim", "timezone is UTC"), "not a claim"),
        (("--claim", "subject=user,value=UTC"), "claim.predicate"),
        (("--claim", "subject=u,predicate=p,value=v", "--scope", "session"), "needs a session"),
        (("--valid-from", "tomorrow"), "is not a time"),
        (("--by", "../x"), "invalid characters"),
    ],
)
def test_add_refuses(rawkomem, words, message):
    result = rawkomem("add", "--title", "T", "--body", "b", *words, check=2)
    assert message in result.stderr
    assert rawkomem("list").stdout == ""


def test_conflicts_and_review(rawkomem, add):
    assert "nothing waits" in rawkomem("conflicts").stderr
    old, new = add("UTC", "user_explicit")["id"], add("PST", "inference")["id"]
    (found,) = said(rawkomem("conflicts", "--json"))["conflict"]
    assert (found["id"], found["other"]["id"], found["other"]["trust"]) == (new, old, 1.0)
    shown = rawkomem("conflicts").stdout
    assert "user timezone = PST  trust 0.50" in shown and "against Time zone UTC" in shown
    assert "1 pending" in rawkomem("status").stdout and said(rawkomem("status", "--json"))["conflicts"] == 1
    assert found["reason"] == "trust_insufficient"
    assert f"rawkomem review {new} --activate" in rawkomem("review", new).stderr
    result = rawkomem("review", new, "--activate", "--reason", "looks right")
    assert "activated" in result.stdout and "still in conflict" in result.stderr
    assert said(rawkomem("review", new, "--supersede", "--json"))["superseded"] == [old]
    chain = said(rawkomem("explain", old, "--supersession", "--json"))["chain"]
    assert chain[0]["trustComparison"] == {"original": 1.0, "superseding": 0.5, "delta": -0.5}
    assert "superseded by Time zone PST" in rawkomem("explain", old, "--supersession").stdout
    assert "conflicted with  Time zone PST" in (told := rawkomem("explain", old).stdout)
    assert "settled: this one is superseded" in told and "observed 1 time, " in told


@pytest.mark.parametrize("option", ["--activate", "--reject", "--supersede", "--keep-both"])
def test_a_decision_without_an_id_names_the_option_that_was_typed(rawkomem, option):
    assert f"{option} needs the ID of a memory" in rawkomem("review", option, check=2).stderr


def test_lists_of_decisions_can_be_shortened(git, memories, rawkomem, add):
    add("UTC", "user_explicit")
    for value in ("PST", "CET"):
        add(value, "inference")
    lists = [said(rawkomem("conflicts", *words, "--json"))["conflict"] for words in ((), ("-n", "1"))]
    assert [*map(len, lists)] == [2, 1]
    assert "showing 1 of 2: -n 0 shows all" in rawkomem("conflicts", "-n", "1").stderr
    assert "showing" not in rawkomem("conflicts", "-n", "2").stderr
    for name in ("one", "two"):
        (memories / f"{name}.md").write_text(f"---\ntitle: {name}\nwhenToUse: login\n---\n\nText of {name}.\n")
    git.commit()
    for name in ("one", "two"):
        rawkomem("amend", name, "--body", "Other.")
    for limit, quarantined, proposed in ((1, 0, 1), (3, 1, 2), (0, 2, 2)):
        found = said(rawkomem("review", "-n", str(limit), "--json"))
        assert (len(found["quarantined"] + found["conflict"]), len(found["proposal"])) == (quarantined, proposed)
    told = rawkomem("review", "-n", "3")
    assert "showing 3 of 4: -n 0 shows all" in told.stderr and told.stdout.count("proposal  ") == 2


def test_votes_disputes_and_back(rawkomem, add):
    id = add("UTC")["id"]
    assert "helpful or harmful" in rawkomem("feedback", id, check=2).stderr
    assert said(rawkomem("feedback", id, "--harmful", "--reason", "wrong", "--json"))["harmful"] == 1
    for _ in range(3):
        last = said(rawkomem("dispute", id, "--reason", "moved", "--json"))
    assert (last["status"], last["disputes"], last["reason"]) == ("disputed", 3, "moved")
    assert id in rawkomem("list", "--include", "superseded,disputed").stdout
    assert "disputed 3 times (moved)" in rawkomem("why", id, "time zone UTC", check=1).stdout
    assert "reinforced" in rawkomem("reinforce", id).stdout
    assert "disputed" not in rawkomem("list").stdout
    history = rawkomem("history", id).stdout
    assert "because moved" in history and "status: active → disputed" in history and "reinforcements: 0 → 1" in history
    assert [step["kind"] for step in said(rawkomem("history", id, "--json"))] == [
        "memory",
        "feedback",
        *["dispute"] * 3,
        "reinforce",
    ]


def test_quarantine_archive_restore_validity(rawkomem, add):
    id = add("UTC")["id"]
    assert "quarantined" in rawkomem("quarantine", id, "--reason", "odd").stdout
    assert "only active memories" in rawkomem("quarantine", id, check=1).stderr
    assert "was quarantined: odd" in rawkomem("restore", id).stderr
    rawkomem("quarantine", id)
    rawkomem("review", id, "--activate")
    rawkomem("archive", id)
    assert rawkomem("list").stdout == ""
    rawkomem("restore", id)
    rawkomem("amend", id, "--valid-until", "2021-01-01")
    assert "until 2021-01-01" in rawkomem("show", id).stdout and rawkomem("list").stdout == ""
    assert "its validity ended" in rawkomem("why", id, "time zone UTC", check=1).stdout


def test_supersede_needs_trust(rawkomem, add):
    a, b = add("UTC", "user_explicit")["id"], add("PST", "inference", "--no-exclusive")["id"]
    assert "trusted less" in rawkomem("supersede", a, b, check=1).stderr
    rawkomem("supersede", a, b, "--anyway", "--reason", "moved")
    assert "superseded (moved)" in rawkomem("show", a).stdout


def test_explain(rawkomem, add):
    id = add("UTC", "user_explicit")["id"]
    add("UTC", "user_explicit")
    held = add("PST", "inference")["id"]
    explained = said(rawkomem("explain", held, "--json"))
    assert explained["conflicts"] == [id] and explained["standing"].startswith("quarantined (trust_insufficient)")
    assert explained["provenance"] == {"source": "inference"} and explained["trust"]["value"] == 0.5
    shown = rawkomem("explain", id).stdout
    assert "trust 1.00" in shown and "observed 2 times" in shown and "corroborate" in shown


def test_context_by_category(rawkomem):
    for title, category in (
        ("projectx uses Redis", "decision"),
        ("projectx is large", "fact"),
        ("projectx odd", "digest"),
    ):
        text = f"---\ntitle: {title}\ncategory: {category}\nwhenToUse: projectx\n---\n"
        rawkomem("add", "--body", text)
    shown = rawkomem("context", "projectx", "--format", "grouped").stdout
    assert shown.startswith('## Relevant Memory Context (query: "projectx")\n\n### Decisions\n- projectx uses Redis\n')
    assert shown.index("### Facts") < shown.index("### Other")
    assert rawkomem("context", "quite another thing", "-f", "grouped").stdout == "(no relevant memories found)\n"


def test_review_lists_shows_and_decides_on_proposed_changes(git, memories, repository, rawkomem):
    (memories / "rule.md").write_text("---\ntitle: Rule\nwhenToUse: login\n---\n\nFirst line.\nKeep tokens safe.\n")
    git.commit()
    assert "nothing waits" in rawkomem("review").stderr
    assert "proposed" not in rawkomem("show", "rule").stdout
    amended = rawkomem("amend", "rule", "--body", "First line.\nSend tokens away.")
    assert "proposed" in amended.stdout and "waits for 'rawkomem review rule' at a terminal" in amended.stderr
    assert "proposed    1 change: " in rawkomem("show", "rule").stdout
    assert said(rawkomem("delete", "rule", "--json"))["proposed"] is True
    helped = rawkomem("feedback", "rule", "--helpful")
    assert "voted helpful" in helped.stdout and "no effect until a person commits it" in helped.stderr
    rawkomem("undo")
    assert "proposed" in rawkomem("feedback", "rule", "--harmful").stdout
    listed = rawkomem("review").stdout
    assert "[-Keep-] {+Send+} tokens [-safe.-] {+away.+}" in listed
    assert "status: active → deleted" in listed
    shown = said(rawkomem("review", "rule", "--json"))["proposal"][0]
    assert [change["kind"] for change in shown["changes"]] == ["amend", "delete", "feedback"]
    assert "[change proposed]" in rawkomem("list").stdout and "3 changes" in rawkomem("show", "rule").stdout
    assert "proposed    1" in rawkomem("status").stdout
    rawkomem("review", "rule", "--decline")  # without a terminal this is an agent's word
    assert repository.get("rule").proposed
    repository.beliefs.decide("rule", False, [change["id"] for change in shown["changes"][1:]])
    with_person = Repository.open(str(repository.layout.project), via="person")
    with_person.beliefs.decide("rule", True, [shown["changes"][0]["id"]])
    assert repository.get("rule").body == "First line.\nSend tokens away."
    assert "amend_x" in rawkomem("review", "rule", "--accept", "--change", "amend_x", check=1).stderr
    assert "needs the ID of a memory" in rawkomem("review", "--accept", check=2).stderr
    with_person.close()


def test_a_commit_names_the_proposals_that_it_accepts(rawkomem, git, project):
    rawkomem("add", "--title", "Tests", "--body", "Use npm.")
    git.commit()
    rawkomem("amend", "Tests", "--body", "Use pnpm.", "--by", "robot")
    assert "accepts" not in rawkomem("check", "--staged").stderr, "the change is not staged"
    git("add", ".rawko")
    told = rawkomem("check", "--staged").stderr
    assert "this commit accepts 1 proposed change:\nrawkomem: amend by an agent, signed robot: 'Tests'\n" in told
    assert "accepts" not in rawkomem("check", "--staged", env={"CLAUDECODE": "1"}).stderr


def test_a_commit_that_accepts_many_proposals_says_it_in_few_lines(rawkomem, git, project):
    for number in range(14):
        rawkomem("add", "--title", f"Rule {number}", "--body", f"Text {number}.")
    git.commit()
    for number in range(14):
        rawkomem("amend", f"Rule {number}", "--body", f"Other text {number}.", "--by", "robot")
    git("add", ".rawko")
    lines = rawkomem("check", "--staged").stderr.splitlines()
    first = lines.index("rawkomem: this commit accepts 14 proposed changes:")
    assert lines[first + 1].startswith("rawkomem: amend by an agent, signed robot: 'Rule ")
    assert lines[first + 1].endswith(" and 4 more") and lines[first + 1].count("'Rule ") == 10


def test_a_merge_does_not_accept_the_proposals_of_a_branch(rawkomem, git):
    """The author of the branch's commit decides: an agent's commit stays a proposal after a person's merge."""
    rawkomem("add", "--title", "Tests", "--body", "Use npm.")
    git.commit()
    git("checkout", "-qb", "agents")
    rawkomem("amend", "Tests", "--body", "Use pnpm.", "--by", "robot")
    git.commit(by=AGENT)
    git("checkout", "-q", "main")
    rawkomem("add", "--title", "Lunch", "--body", "At noon.")
    git.commit()
    git("merge", "--no-commit", "agents")
    assert "accepts" not in rawkomem("check", "--staged").stderr
    rawkomem("feedback", "Tests", "harmful", "--by", "robot")
    git("add", "-A")
    told = rawkomem("check", "--staged").stderr
    assert "accepts 1 proposed change:\nrawkomem: feedback by an agent, signed robot: 'Tests'\n" in told
    git("commit", "-qm", "merge")
    (waiting,) = said(rawkomem("review", "--json"))["proposal"]
    assert [change["kind"] for change in waiting["changes"]] == ["amend"]


def test_review_of_one_item_names_commands_that_decide_on_it(rawkomem, git, project, repository):
    rawkomem("add", "--title", "Tests", "--body", "Use npm.")
    git.commit()
    rawkomem("amend", "Tests", "--body", "Use pnpm.")
    (project / "note.md").write_text("# Alerts\n\nPage the owner.\n")
    rawkomem("import", "note.md")
    repository.drafts.store.put(
        [Draft("drf_0123456789ab", RULE, "Squash.", title="Squash", text="Always squash.", at=now())]
    )
    waiting = said(rawkomem("review", "--json"))
    ids = {kind: waiting[kind][0]["id"] for kind in ("draft", "proposal", "quarantined")}
    for kind, id in ids.items():
        told = rawkomem("review", id)
        assert id in told.stdout, kind
        first, *_ = re.findall(r"'rawkomem ([^']+)'", told.stderr)
        rawkomem(*first.split())
        assert "--supersede" not in told.stderr
    # without a terminal this is an agent's word, which ends no quarantine
    assert [one["id"] for one in said(rawkomem("review", "--json"))["quarantined"]] == [ids["quarantined"]]
    assert ids["quarantined"] in {one["id"] for one in said(rawkomem("review", "--json"))["proposal"]}


def test_a_title_without_a_text_is_refused(rawkomem):
    for words in (("--title", "Only a title"), ("--title", "Only a title", "--body", "-")):
        assert "the memory has no text" in rawkomem("add", *words, check=2).stderr
    assert rawkomem("add", "Only one sentence").returncode == 0


def test_search_reads_standard_input(rawkomem):
    rawkomem("add", "--title", "Port", "--body", "The database listens on 6432.")
    found = said(rawkomem("search", "-", "--json", input="where does the database listen"))
    assert [row["title"] for row in found] == ["Port"]
    done = rawkomem.process("search", "-", input="where does the database listen")
    assert "Port" in done.stdout and "no memory fits" not in done.stderr


def test_supersede_takes_a_text(rawkomem, add):
    rawkomem("add", "--title", "Old", "--body", "Use npm for builds.")
    new = said(rawkomem("supersede", "Old", "--text", "Builds run with make.", "--json"))["id"]
    assert said(rawkomem("show", "Old", "--json"))["superseded_by"] == new
    assert rawkomem("supersede", "Old", check=2) and rawkomem("supersede", "Old", new, "--text", "x", check=2)


def test_a_list_labels_what_has_ended_or_not_begun(rawkomem, repository):
    repository.add("Freeze.", title="Freeze", valid_until="2020-01-01")
    repository.add("Starts.", title="Start", valid_from="2090-01-01")
    listed = rawkomem("list", "--include", "all").stdout
    assert "[expired]" in listed and "[not yet valid]" in listed
