"""Measure search and injection on BEAM: long chats with questions, the turns that answer them, updates, and questions
without an answer.

    python tools/proof/beam.py FOLDER [--chats N]

FOLDER holds the set's `chats/100K` (github.com/mohammadtavakoli78/BEAM, commit b2a3ee8). Nothing is fetched, and no
text of the set is kept. Each turn of a chat is one memory with the date of its part of the chat. Questions are asked
with `rawkomem search`; those without an answer with `rawkomem inject`, where nothing is the right result.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from project import BM25, Project, share

CUTS = (5, 10)
UPDATE, UNANSWERED = "knowledge_update", "abstention"
WAYS = ("rawkomem", "BM25")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chats", type=int, default=20)
    given = parser.parse_args()
    figures: dict[tuple[str, ...], list[bool]] = defaultdict(list)
    folders = sorted(
        (one.parent for one in given.folder.glob("*/chat.json")),
        key=lambda one: int(one.name),
    )
    if not folders:
        raise SystemExit(
            f"{given.folder} holds no chat: name the folder chats/100K of the set"
        )
    for folder in folders[: given.chats]:
        print(f"chat {folder.name}", flush=True)
        measure(folder, figures)
    for name, values in figures.items():
        print(f"{' '.join(name):60} {share(values)}")


def measure(folder: Path, figures: dict[tuple[str, ...], list[bool]]) -> None:
    """Ask all questions of one chat, and add what was found to the figures."""
    texts = {}
    project = Project()
    for turn, at in turns_of(
        json.loads((folder / "chat.json").read_text(encoding="utf-8"))
    ):
        id = f"turn-{turn['id']}"
        texts[id] = turn["content"].partition("->->")[0].strip()
        title = texts[id].partition("\n")[0][:80]
        project.write(
            id, title, texts[id], {"discoveredAt": at.strftime("%Y-%m-%dT%H:%M:%SZ")}
        )
    project.commit()
    words = BM25(texts)
    asked = json.loads(
        (folder / "probing_questions" / "probing_questions.json").read_text(
            encoding="utf-8"
        )
    )
    for kind, questions in asked.items():
        for question in questions:
            text = question["question"]
            if kind == UNANSWERED:
                injected = project.asked("inject", "-", given=text)
                figures["without an answer:", "a text is injected"].append(
                    bool(injected["items"])
                )
                continue
            found = [
                one["id"]
                for one in project.asked(
                    "search", "-", "-n", str(max(CUTS)), given=text
                )
            ]
            sources = question["source_chat_ids"]
            parts = sources if isinstance(sources, dict) else {"all": sources}
            wanted = {
                f"turn-{id}" for ids in parts.values() for id in ids
            } & texts.keys()
            for way, ranked in zip(WAYS, (found, words.ranked(text)), strict=True):
                for cut in CUTS:
                    first = {*ranked[:cut]}
                    figures[way, f"any@{cut}"].append(bool(wanted & first))
                    figures[way, f"all@{cut}"].append(wanted <= first)
                if kind == UPDATE:
                    old, new = (
                        {f"turn-{id}" for id in parts[name]}
                        for name in ("original_info", "updated_info")
                    )
                    first = next(
                        (id for id in ranked[: max(CUTS)] if id in old | new), ""
                    )
                    figures[way, "updates: the newer fact first"].append(first in new)


def turns_of(chat: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], datetime]]:
    """Yield the turns of a chat in their order, each with a time: the date of its part, a minute after the last."""
    at = datetime(2024, 1, 1)
    for part in chat:
        for pair in part["turns"]:
            for turn in pair:
                day = turn.get("time_anchor")
                at = max(at, datetime.strptime(day, "%B-%d-%Y")) if day else at
                at += timedelta(minutes=1)
                yield turn, at


if __name__ == "__main__":
    main()
