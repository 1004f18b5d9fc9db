"""Sums of money in one form."""

import pytest
from rawkomem.text.prose import normalize_currency


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("C$50", "CAD 50"),
        ("A$50", "AUD 50"),
        ("$1.5k", "USD 1500"),
        ("USD750", "USD 750"),
        ("€20", "EUR 20"),
        ("1.250,50 €", "EUR 1250.5"),
        ("1,5 €", "EUR 1.5"),
        ("-$5", "USD -5"),
        ("$5 EUR", "$5 EUR"),
        ("750-800 USD", "750-800 USD"),
        ("1.2.3 USD", "1.2.3 USD"),
        ("a budget of $5", "a budget of $5"),
    ],
)
def test_one_form(text, wanted):
    assert normalize_currency(text) == wanted


@pytest.mark.parametrize("text", ["$1,250.50", "C$1.5k", "₹1,00,000"])
def test_the_form_is_stable(text):
    assert normalize_currency(normalize_currency(text)) == normalize_currency(text)
