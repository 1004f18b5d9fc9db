"""A question is made once, and facts about it travel as records and codes."""

import json

from rawkomem.text.conditions import Fired

AT = 1_800_000_000_000


def test_programs_get_codes(rawkomem, memories):
    (memories / "a.md").write_text("---\ntitle: Login\nwhenToUse: login|auth\n---\n\nAll login code is in src/auth.\n")
    (memories / "b.md").write_text("---\nwhenToUse: cake\n---\n\nText.\n")
    why = json.loads(rawkomem("why", "a", "compile the kernel", "--json", check=1).stdout)
    assert why["why_not_code"] == "nothing-fired" and why["why_not"] == "no whenToUse condition fired"
    why = json.loads(rawkomem("why", "a", "fix the login", "--json").stdout)
    assert (why["why_not_code"], why["why_not"], why["fired"]) == ("", "", "alternative 'login'")
    fired = json.loads(rawkomem("try", "match", "login|auth", "fix the login", "--json").stdout)
    assert (fired["how"], fired["why"]) == ("alternative", Fired("alternative", "login").sentence)
    checked = {item["file"]: item["problems"] for item in json.loads(rawkomem("check", "--json", check=1).stdout)}
    assert "no-title" in [problem["code"] for problem in checked["memories/b.md"]]
