"""Implement `rawkomem skill synthesize` and `rawkomem reflect`."""

from __future__ import annotations

from typing import Any

import click

from ....git.user import user_name
from ....learn.skills.reflect import LOOKBACK_MEMORIES
from ....model.record import as_dict
from ....repository import Repository
from ....text.clean import clean, one_line
from ..commands import pass_repository
from ..options import DRY_RUN, JSON
from ..terminal import note, paint, say, say_json

TOPIC = click.option("--topic", default="", help="The topic. Default: any.")
LLM = click.option("--llm", is_flag=True, help="Use the language model that your config.yaml names.")
NO_WRITE = DRY_RUN.but(help="Write nothing.")


@click.command("synthesize")
@TOPIC
@LLM
@NO_WRITE
@JSON
@pass_repository
def synthesize_command(repository: Repository, topic: str, llm: bool, dry_run: bool, as_json: bool) -> None:
    """Propose skills from learnings and lessons.

    A proposal quotes the learnings; with --llm, a language model writes it. A proposed skill is not used until you
    run 'rawkomem review ID --activate'. A second run repeats earlier proposals and adds nothing.
    """
    found = repository.skills.synthesize(topic, llm, dry_run, user_name())
    if as_json:
        first, *others = [as_dict(item) for item in found]
        say_json({**first, "others": others})
        return
    for item in found:
        if not item.skill_id:
            note(item.analysis)
            continue
        done = "would propose" if dry_run else "proposed"
        told = paint(done, "green") if item.status == "success" else item.status
        say(f"{told}  {one_line(item.skill_name, 80)}  {item.skill_id}\n  {one_line(item.analysis)}")
    if any(item.status == "success" for item in found) and not dry_run:
        note("'rawkomem skill show ID' shows a skill, 'rawkomem review ID --activate' activates it")


@click.command("reflect")
@TOPIC
@click.option("--lookback", default=LOOKBACK_MEMORIES, show_default=True, type=int, help="How many memories to read.")
@LLM
@NO_WRITE
@JSON
@pass_repository
def reflect_command(repository: Repository, topic: str, lookback: int, llm: bool, dry_run: bool, as_json: bool) -> None:
    """Summarize what several memories have in common.

    Without --llm, or if the model fails, the command prints a prompt for a model of your choice. With --llm, it
    stores the answer as a reflection; a reflection is trusted no more than its least trusted source.
    """
    made = repository.skills.reflect(topic, lookback, llm, dry_run, user_name())
    if as_json:
        say_json(made)
        return
    _say(made, dry_run)


def _say(made: dict[str, Any], dry_run: bool) -> None:
    if "prompt" in made:
        if made["count"]:
            say(made["prompt"])
        else:
            note("no memories to reflect on")
        return
    say(clean(made["reflection"]))
    kept = "not stored" if dry_run else made["id"]
    note(
        f"{one_line(made['topic'])}: confidence {made['confidence']:.2f}, {made['sourceMemoryCount']} memories, {kept}"
    )
