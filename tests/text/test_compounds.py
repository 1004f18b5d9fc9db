"""Compound names: `invoiceTotal` and "invoice total" are the same words, whoever writes which."""

import pytest
from rawkomem.text.conditions import match_condition
from rawkomem.text.language import language, spelled_out_names


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("orderQueue", "order Queue"), ("TLSHandshake", "TLS Handshake"), ("load_yaml", "load yaml"),
        ("roll-back", "roll back"), ("getUserID", "get User ID"), ("_privateName_", "private Name"),
        ("MAX_RETRIES", "MAX RETRIES"), ("userV2Id", "user V2 Id"),
    ],
)  # fmt: skip
def test_a_compound_name_is_spelled_out(name, words):
    assert spelled_out_names(f"see {name}.") == [words]


def test_terms_hold_the_whole_name_and_its_parts():
    assert language().terms("fix orderQueue") == ["fix", "orderqueue", "order", "queue"]


@pytest.mark.parametrize(
    "condition", ["orderQueue", "order queue", "order_queue", "order-queue", "When draining the orderQueue"]
)
@pytest.mark.parametrize("written", ["orderQueue", "order queue", "OrderQueue", "order_queue", "order-queue"])
def test_a_condition_fires_however_a_name_is_written(condition, written):
    assert match_condition(condition, f"draining the {written} takes too long")


@pytest.mark.parametrize("condition", ["orderQueue", "When draining the orderQueue"])
def test_a_part_of_a_name_is_not_enough(condition):
    assert not match_condition(condition, "put the invoices in order")
