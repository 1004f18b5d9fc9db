"""Notes of Obsidian, basic-memory, Jekyll and pandoc say in our keys what they say in theirs."""

import json
import time

import pytest
import yaml
from rawkomem.exchange.formats import format_of, read_format
from rawkomem.exchange.notes import MAX_NODES, note_arguments, read_front
from rawkomem.exchange.sources import Source
from rawkomem.model.values import iso

OBSIDIAN = """\
---
aliases: [Kiln log, Firings]
tags: "#studio #studio/kiln"
cssclasses: wide
mood: calm
---
# Firing log

We glaze with [[Celadon|the green one]], see #glaze/celadon and (#cone6), not issue #12.

> [!warning] Hot
> Wait a day.

```sh
echo "#nocode"
```
"""
JEKYLL = """\
---
layout: post
title: "Why we fire twice"
date: 2024-05-06 10:00:00 +0200
categories: [pottery, process]
author: mira
permalink: /twice/
---
The bisque firing hardens the clay.
"""
PANDOC = """\
---yaml
title: Shrinkage of stoneware
author:
  - name: Ida Kern
    affiliation: Institute
  - Bo
abstract: |
  Stoneware shrinks by twelve percent.
date: 2022-02-03
bibliography: refs.bib
...

# Method

We measured tiles.
"""
BASIC = """\
---
title: Raku
type: note
permalink: pottery/raku
tags:
- fire
status: draft
---
# Raku

- [technique] Pull pots while red #reduction (outdoors)
- [safety] Wear gloves

- requires [[Sawdust Bin]]
- part_of [[pottery/Firing|Firing]]
"""


def entries(tmp_path, name: str, text: str, kind: str = ""):
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    source = Source(str(file))
    kind = kind or format_of(source)
    return read_format(kind, source), source, kind


@pytest.mark.parametrize("front", ["---\n---\n", "---\n\n---\n\n"])
def test_an_empty_frontmatter_is_no_text(tmp_path, front):
    (entry,), _, _ = entries(tmp_path, "glaze.md", f"{front}# Glaze it twice\n\nThe second coat holds.")
    assert (entry.title, entry.body) == ("Glaze it twice", "# Glaze it twice\n\nThe second coat holds.")


def test_obsidian(tmp_path):
    (entry,), _, _ = entries(tmp_path, "vault/Firing log.md", OBSIDIAN)
    assert entry.title == "Firing log" and entry.tags == ("studio", "studio/kiln", "glaze/celadon", "cone6")
    assert entry.extra["aliases"] == ["Kiln log", "Firings"] and entry.extra["mood"] == "calm"
    assert "[[Celadon|the green one]]" in entry.body and "> [!warning]" in entry.body


def test_jekyll(tmp_path):
    (entry,), _, _ = entries(tmp_path, "_posts/2024-05-01-why-twice.md", JEKYLL)
    assert entry.title == "Why we fire twice" and entry.tags == ("pottery", "process") and entry.by == "mira"
    assert iso(entry.at).startswith("2024-05-06T08:00") and entry.extra["permalink"] == "/twice/"
    (dated,), _, _ = entries(tmp_path, "_posts/2023-07-08-cold-wax.md", "Use cold wax for fine lines.\n")
    assert dated.title == "cold wax" and iso(dated.at).startswith("2023-07-08")


def test_pandoc(tmp_path):
    (entry,), _, _ = entries(tmp_path, "paper.md", PANDOC)
    assert entry.title == "Shrinkage of stoneware" and entry.by == "Ida Kern" and iso(entry.at).startswith("2022-02-03")
    assert entry.body.startswith("Stoneware shrinks by twelve percent.") and entry.extra["bibliography"] == "refs.bib"


def test_basic_memory(tmp_path):
    (entry,), _, _ = entries(tmp_path, "raku.md", BASIC)
    assert entry.title == "Raku" and entry.tags == ("fire", "reduction")
    assert entry.extra["permalink"] == "pottery/raku" and entry.extra["status"] == "draft"
    assert entry.related == ("sawdust-bin", "firing")


def test_fields_that_say_nothing_to_a_memory_are_kept():
    front = "title: T\nname: t-1\ndate: spring 2024\nauthors: [Bob, Eve]\ndescription: A tour.\nimportance: P1"
    extra = note_arguments(read_front(f"---\n{front}\n---\nText\n").fields, "Text", "t")["extra"]
    assert extra == {
        "name": "t-1", "date": "spring 2024", "authors": ["Bob", "Eve"],
        "description": "A tour.", "original_importance": "P1",
    }  # fmt: skip


def test_a_field_of_a_reserved_name_is_kept_under_another(tmp_path):
    (entry,), _, _ = entries(
        tmp_path, "x.md", "---\nname: x\nabout: glaze\nid: 77\n---\nText about glazes.\n", "markdown"
    )
    assert entry.extra["original_about"] == "glaze" and entry.extra["original_id"] == "77" and not entry.about


@pytest.mark.parametrize(
    ("front", "source", "kept"), [("source: the book", "the book", None), ("source: [a, b]", "", ["a", "b"])]
)
def test_a_source_that_a_note_states_stays_with_the_memory(front, source, kept, tmp_path, repository):
    (tmp_path / "kiln.md").write_text(f"---\nname: kiln\n{front}\n---\nThe kiln cools for a day.\n")
    done = repository.exchange.import_from(str(tmp_path / "kiln.md"))
    (entry,) = [item.entry for item in done.news]
    assert not done.skipped and entry.source == source and entry.extra.get("original_source") == kept


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {k: 1}\n" + "".join(
    f"{b}: &{b}\n  <<: [*{a}, *{a}, *{a}, *{a}]\n" for a, b in zip("abcdefghijklm", "bcdefghijklmn", strict=True)
)


@pytest.mark.parametrize(
    "front",
    [BOMB, MERGES, "a: " + "[" * 5_000, "a: !!python/object/apply:os.system [echo]\n", "a: &a [*a]\n", "k: v\n" * 40_000,
     "- a\n- b\n", "x: " + "1" * 60_000 + "\n", "\tbad: [\n"],
)  # fmt: skip
def test_hostile_frontmatter_costs_only_itself(front):
    found = read_front(f"---\n{front}\n---\n\nThe text stays.\n")
    assert "The text stays." in found.body
    assert len(json.dumps(found.fields)) < 40 * MAX_NODES + 70_000


def test_what_cannot_be_read_is_said_and_the_text_comes(tmp_path, repository):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "bomb.md").write_text(f"---\n{BOMB}---\n\nThe text of a bomb is harmless here.\n")
    (folder / "blank.md").write_text("---\nname: x\n---\n\n")
    done = repository.exchange.import_from(str(folder))
    assert len(done.news) == 1 and {place.rpartition("/")[2] for place, _ in done.skipped} == {"bomb.md", "blank.md"}


@pytest.mark.time
@pytest.mark.parametrize(
    "text",
    [
        "---\na: " + "[" * 32_000 + "]" * 32_000 + "\n---\n",
    ],
)
def test_a_frontmatter_that_takes_long_to_read_is_refused_at_once(text):
    before = time.process_time()
    assert read_front(text).problem
    assert time.process_time() - before < 2, "one of these took a minute"


@pytest.mark.parametrize("words", [10, 2_500])
def test_fields_too_long_for_a_frontmatter_are_kept_below_the_text(tmp_path, words):
    log = [f"entry {number} of the log: it's `done`" for number in range(900)]
    fields = {"mood": "calm", "log": log, "shelf": "row 3"}
    text = "# Kiln\n\nText.\n\n## More\n\n" + "word " * words
    (tmp_path / "kiln.md").write_text(f"---\n{yaml.safe_dump(fields)}---\n{text}\n")
    entries = read_format("markdown", Source(str(tmp_path), str(tmp_path)))
    assert all((entry.extra["mood"], entry.extra["shelf"]) == ("calm", "row 3") for entry in entries)
    (block,) = [part for entry in entries for part in entry.body.split("```yaml\n")[1:]]
    assert yaml.safe_load(block.partition("\n```")[0]) == {"log": log}
    assert len(entries) == (1 if words == 10 else 3)
