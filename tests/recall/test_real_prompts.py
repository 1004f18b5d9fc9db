"""What the prompt hook injects on real prompts (R12): a sample, and all of them where they are at hand."""

import pytest
from rawkomem.bench.recall import measure_recall

from tests.conftest import SAMPLES, SHARED

WHOLE = SHARED / "data" / "eval" / "real-specstory.json"


def injected(file) -> dict:
    return measure_recall(str(file), "", lambda text: None)["injected"]


def test_a_sample_of_real_prompts():
    found = injected(SAMPLES / "eval" / "real-prompts.json")
    assert found["prompts"] == 24 and found["categories"].keys() == {
        "boilerplate", "paste", "question", "short-reply", "task",
    }  # fmt: skip
    assert found["precision"] >= 0.5
    assert found["hit"] >= 0.65  # 9 of 13: the sample holds the shorter prompts, which say less
    assert found["false_injection"] <= 0.15


@pytest.mark.slow
@pytest.mark.skipif(not WHOLE.exists(), reason="for want of data: ../shared/data/eval/real-specstory.json")
def test_all_real_prompts():
    found = injected(WHOLE)
    assert found["precision"] >= 0.62 and found["precision_acceptable"] >= 0.82
    assert found["hit"] >= 0.48 and found["hit_with_pointers"] >= 0.87
    assert found["false_injection"] <= 0.05
    assert found["categories"]["boilerplate"]["false_injection"] <= 0.07
