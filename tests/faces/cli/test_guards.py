"""`appliesTo` and `guard` through the commands: add, amend, show, check."""

from rawkomem.model.entries import Entry


def test_add_show_and_amend(rawkomem, repository):
    rawkomem("add", "Never touch the seeds. Ask first.", "--applies-to", "paths=seeds/**", "--guard", "ask")
    (memory,) = repository.core.all()
    assert memory.extra["appliesTo"] == {"paths": ["seeds/**"]}
    assert memory.extra["guard"] == "ask"
    shown = rawkomem("show", memory.id).stdout
    assert "appliesTo   paths seeds/**\nguard       ask\n" in shown
    changed = ("--applies-to", "commands=bin/seed*", "--applies-to", "paths=seeds/**", "--guard", "deny")
    rawkomem("amend", memory.id, *changed)
    memory = repository.get(memory.id)
    assert memory.extra["appliesTo"] == {"commands": ["bin/seed*"], "paths": ["seeds/**"]}
    assert memory.extra["guard"] == "deny"
    rawkomem("amend", memory.id, "--applies-to", "none")
    assert "appliesTo" not in rawkomem("show", memory.id).stdout


def test_what_cannot_be_used_is_refused_in_one_line(rawkomem, repository):
    wide = rawkomem("add", "A rule of ours", "--applies-to", "paths=**/*", check=2).stderr
    assert wide.startswith("rawkomem: appliesTo.paths '**/*' fits everything (") and wide.count("\n") == 1
    odd = rawkomem("add", "A rule of ours", "--applies-to", "path=src/**", check=2).stderr
    assert odd.startswith("rawkomem: --applies-to 'path=src/**' names none of paths, commands, text (")
    idle = rawkomem("add", "Never touch prod. It is live.", "--guard", "deny", check=2).stderr
    assert idle.startswith(
        "rawkomem: guard deny does nothing without appliesTo: nothing was stored (add --applies-to '"
    )
    assert repository.core.all() == []
    rawkomem("add", "Never touch prod. It is live.")
    assert "does nothing without appliesTo" in rawkomem("amend", "Never touch prod", "--guard", "ask", check=2).stderr


def test_check_names_the_line(rawkomem, project):
    file = project / ".rawko" / "memories" / "wide.md"
    file.write_text("---\ntitle: Wide\nappliesTo:\n  paths: ['**/*']\nguard: never\n---\n\nText of it.\n")
    told = rawkomem("check").stdout
    assert "memories/wide.md:4: warning appliesTo.paths '**/*' fits everything: ignored" in told
    assert "memories/wide.md:5: warning unknown guard 'never': ignored" in told


def test_check_names_a_guard_that_cannot_work(rawkomem, project):
    """A path in whenToUse is enough, and so is an empty list: that guard was switched off."""
    for name, line in (("idle", "tags: [a]"), ("glob", "whenToUse: ['db/**']"), ("off", "appliesTo: {}")):
        file = project / ".rawko" / "memories" / f"{name}.md"
        file.write_text(f"---\ntitle: {name} of ours\n{line}\nguard: deny\n---\n\nText of it.\n")
    told = rawkomem("check").stdout
    assert told.count("guard deny does nothing without appliesTo") == 1
    assert "memories/idle.md:1: warning guard deny does nothing" in told


def test_the_file_reads_back(repository, project):
    extra = {"appliesTo": {"paths": ["tests/**", "!tests/data/**"], "text": ["Mock: *"]}, "guard": "remind"}
    stored = repository.add(Entry(title="No mocks", body="Use the real thing.", extra=extra))
    assert repository.get(stored.id).extra == extra
