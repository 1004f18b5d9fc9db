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
    assert repository.core.all() == []


def test_check_names_the_line(rawkomem, project):
    file = project / ".rawko" / "memories" / "wide.md"
    file.write_text("---\ntitle: Wide\nappliesTo:\n  paths: ['**/*']\nguard: never\n---\n\nText of it.\n")
    told = rawkomem("check").stdout
    assert "memories/wide.md:4: warning appliesTo.paths '**/*' fits everything: ignored" in told
    assert "memories/wide.md:5: warning unknown guard 'never': ignored" in told


def test_the_file_reads_back(repository, project):
    extra = {"appliesTo": {"paths": ["tests/**", "!tests/data/**"], "text": ["Mock: *"]}, "guard": "remind"}
    stored = repository.add(Entry(title="No mocks", body="Use the real thing.", extra=extra))
    assert repository.get(stored.id).extra == extra
