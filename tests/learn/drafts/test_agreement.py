"""The agent's statement that a person agreed to."""

from __future__ import annotations

from rawkomem.learn.exchanges import agreed_statement

OFFER = "Want me to do that?"


def test_an_offer_that_was_made_twice_keeps_the_reason_before_the_second():
    said = ["We should cache the rates.", OFFER, "We should read the limits from the config.", OFFER]
    assert agreed_statement("\n\n".join(said)) == f"We should read the limits from the config. {OFFER}"


def test_a_text_without_an_offer_has_no_statement():
    assert agreed_statement("The tests passed.") == ""
