"""Implement `rawkomem doctor`: look for problems on this machine."""

from __future__ import annotations

import click

from ....model.errors import NotFound
from ....model.record import as_dict
from ..opening import open_repository
from ..options import JSON
from ..terminal import paint, say, say_json


@click.command("doctor")
@JSON
@click.pass_obj
def doctor_command(folder: str, as_json: bool) -> int:
    """Look for problems on this machine.

    The command checks versions, the file system, permissions, the index, the git setup, and when each connected agent
    last called. The exit code is 1 if it finds a problem.
    """
    from ....hosts.health import examine_hosts
    from ....repository.doctor import examine

    try:
        repository = open_repository(folder, layers=True)
    except NotFound:
        repository = None
    findings = examine(repository)
    if repository:
        findings += examine_hosts(repository.layout)
    if as_json:
        say_json([as_dict(finding) for finding in findings])
    else:
        for finding in findings:
            mark = paint("ok", "green") if finding.ok else paint("!!", "red")
            say(f"{mark}  {finding.name:12} {finding.text}" + (f" ({finding.hint})" if finding.hint else ""))
    return 0 if all(finding.ok for finding in findings) else 1
