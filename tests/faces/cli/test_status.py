"""`rawkomem status` reads what it prints: no file that the index knows, and few modules."""

import json
import os
import subprocess
import sys

from rawkomem.index import status as status_module

TEXT = "---\ntitle: Ports\n---\n\nRedis listens on {0}.\n"


def test_status_reads_only_files_with_another_stamp_and_doctor_reads_all(repository, memories, monkeypatch):
    for number in range(3):
        file = memories / f"{number}.md"
        file.write_text(TEXT.format(number))
        os.utime(file, (1, 1))
    repository.sync()
    read = []
    hash_of_file = status_module.hash_of_file
    monkeypatch.setattr(status_module, "hash_of_file", lambda file: read.append(file) or hash_of_file(file))
    # the stamps of files that changed a moment ago are not known
    repository.core.index.reading()
    known = repository.core.catalogue.stamps()
    recent = sum(stamp == "recent" for stamp in known.values())
    assert repository.store.status().fresh and len(read) <= recent
    read.clear()
    assert repository.store.status(hash_all=True).fresh and len(read) == 3


def test_status_loads_neither_numpy_nor_the_importers(project, memories):
    (memories / "a.md").write_text(TEXT.format(6380))
    code = "import sys; from rawkomem.faces.cli import run; sys.argv = ['rawkomem']; run(['status', '--json']);"
    code += "print([name for name in sys.modules if name == 'numpy' or name.startswith('rawkomem.exchange')])"
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=True
    ).stdout
    answer, loaded = printed.rsplit("\n", 2)[:2]
    assert json.loads(answer)["fresh"] and loaded == "[]"


def test_the_overview_names_what_is_wrong(git, memories, project, rawkomem):
    """Files that cannot be used, a memory that was removed by hand, and a file with rules that changed."""
    (project / "CLAUDE.md").write_text("# Us\n\n## Tests\n\nRun the tests with pnpm, never with npm.\n")
    rawkomem("import", "CLAUDE.md")
    rawkomem("review", "--all-from", "CLAUDE.md", "--activate")
    (memories / "a.md").write_text(TEXT.format(6380))
    (memories / "b.md").write_text(TEXT.format(6381))
    git.commit()
    (memories / "a.md").unlink()
    (memories / "bad.md").write_text("---\ntitle: [a\nx: {\n---\n\nText.\n")
    (project / "CLAUDE.md").write_text("Use vitest.\n")
    told = rawkomem().stdout
    assert "3 memories in .rawko" in told and "2 memory files not committed" in told
    assert "1 file not usable: 'rawkomem check' names them" in told and "next      rawkomem check" in told
    assert "CLAUDE.md changed after the import" in told
    assert "1 not usable: 'rawkomem check' names them" in rawkomem("status").stdout
