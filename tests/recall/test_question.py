"""A question is made once, and facts about it travel as records and codes."""

from rawkomem.text.conditions import Fired

AT = 1_800_000_000_000


def test_programs_get_codes(rawkomem, memories):
    (memories / "a.md").write_text("---\ntitle: Login\nwhenToUse: login|auth\n---\n\nAll login code is in src/auth.\n")
    (memories / "b.md").write_text("---\nwhenToUse: cake\n---\n\nText.\n")
    why = rawkomem.json("why", "a", "compile the kernel", check=1)
    assert why["why_not_code"] == "nothing-fired" and why["why_not"] == "no whenToUse condition fired"
    why = rawkomem.json("why", "a", "fix the login")
    assert (why["why_not_code"], why["why_not"], why["fired"]) == ("", "", "alternative 'login'")
    fired = rawkomem.json("try", "match", "login|auth", "fix the login")
    assert (fired["how"], fired["why"]) == ("alternative", Fired("alternative", "login").sentence)
    checked = {item["file"]: item["problems"] for item in rawkomem.json("check", check=1)}
    assert "no-title" in [problem["code"] for problem in checked["memories/b.md"]]
