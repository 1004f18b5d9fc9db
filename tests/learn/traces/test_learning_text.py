"""What several runs teach: insights, approach, anti-patterns, in the format of LLMos."""

from rawkomem.learn.learnings import (
    anti_patterns,
    earlier_runs,
    key_insights,
    learning_text,
    most_common_items,
    recommended_steps,
)
from rawkomem.model.entries import Memory
from rawkomem.state.runs import Run, run_of

GOOD = Run(
    "t1", "Deploy", "success", ("git", "docker"), steps=("Build - done", "Push - done"), learnings=("Tag images",), at=1
)
LATER = Run("t2", "Deploy", "success_with_recovery", ("git",), steps=("Build - done", "Retry - done", "Push - done"),
            learnings=("Tag the images", "Avoid Fridays"), at=2)  # fmt: skip
BAD = Run("t3", "Deploy", "failure", ("git",), steps=("Build - done", "Push - failed"), learnings=("Log in first",),
          error="Denied\nby the registry", at=3)  # fmt: skip


def test_the_whole_text():
    assert (
        learning_text("Deploy", 3, 1, (GOOD, LATER, BAD))
        == """# Learning: Deploy

## Context
- Observed in 3 executions
- Success rate: 67%
- Common tools: git, docker

## Key Insights
1. Tag images
2. Log in first

## Recommended Approach
1. Build
2. Retry
3. Push

## Anti-Patterns
- Avoid Fridays
- Denied by the registry
- Failed step: Push"""
    )


def test_where_nothing_worked_nothing_is_recommended():
    assert recommended_steps([BAD]).startswith("No execution has succeeded")
    assert recommended_steps([Run("t", "G", "success")]).startswith("The executions do not say")
    assert recommended_steps([Run("t", "G", "success", plan="- Think\n- Act")]) == "1. Think\n2. Act"


def test_results_speak_where_nobody_says_what_was_learned():
    assert key_insights([Run("t", "G", "success", results="It is twice as fast.")]) == ["It is twice as fast."]


def test_what_is_said_often_comes_first_and_once():
    said = ["Check the logs", "Pin versions", "check the log", "Pin all versions", "Check the logs!"]
    assert most_common_items(said, counted=True) == ["Check the logs (3 times)", "Pin versions (2 times)"]
    near = [
        "Pin versions",
        "Check the production logs before every release",
        "Check production logs before each release",
    ]
    assert most_common_items(near, counted=True) == [f"{near[1]} (2 times)", "Pin versions"]
    assert most_common_items(["?!", "?!", ""]) == ["?!"] and most_common_items([]) == []


def test_a_learning_speaks_for_sources_that_are_gone():
    text = learning_text("Deploy", 3, 1, (GOOD, LATER, BAD))
    runs = earlier_runs(Memory("l", kind="learning", title="Learning: Deploy", body=text))
    assert (
        key_insights(runs) == ["Tag images", "Log in first"]
        and recommended_steps(runs) == "1. Build\n2. Retry\n3. Push"
    )
    assert anti_patterns(runs)[0] == "Avoid Fridays"


def test_a_run_is_read_from_its_trace():
    body = "# Execution Trace: G\n\n## Plan\nThink.\n\n## Steps Executed\n1. One - done\n   and more\n2. Two\n\n## Learnings\n* A\n* B"
    run = run_of(Memory("t", kind="trace", title="G", body=body, extra={"status": "Partial", "tools_used": "git"}))
    assert (run.goal, run.outcome, run.succeeded, run.tools, run.plan) == ("G", "partial", False, ("git",), "Think.")
    assert run.steps == ("One - done and more", "Two") and run.learnings == ("A", "B")
