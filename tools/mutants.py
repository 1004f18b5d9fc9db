"""Print how many mutants the tests killed, per file, and the mutants that survived. `make mutants` runs this after mutmut.

A mutant is a copy of a function with one small change. `tools/equivalent_mutants.toml` lists changes that cannot alter
what the code does, each with the reason; they count as survivors in the first share and are left out of the second.

Exit 1 if a file is below MIN_KILLED.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import walk_mutatable_files

MIN_KILLED = 0.85
KILLED = ("killed", "timeout")  # an endless loop ends by a timeout
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")


def change_in(mutant: str, path: Path) -> tuple[str, str]:
    """Return the lines that a mutant removes and those that it adds, each as one line of text."""
    lines = get_diff_for_mutant(mutant, path=path).splitlines()[2:]
    removed, added = (
        " ".join(line[1:].strip() for line in lines if line.startswith(sign))
        for sign in "-+"
    )
    return removed, added


def main() -> int:
    """Print the table and the survivors; return the exit code."""
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]
    known = {(row["file"], change) for row in rows for change in row["changes"]}
    unused, is_low = set(known), False
    for path in walk_mutatable_files():
        data = SourceFileMutationData(path=path)
        data.load()
        states = {
            mutant: status_by_exit_code[code]
            for mutant, code in data.exit_code_by_key.items()
        }
        alive = {
            mutant: change_in(mutant, path)
            for mutant, state in states.items()
            if state not in KILLED
        }
        listed = {
            mutant
            for mutant, (_, added) in alive.items()
            if (str(path), added) in known
        }
        unused -= {(str(path), alive[mutant][1]) for mutant in listed}
        killed = len(states) - len(alive)
        share = killed / len(states)
        is_low |= share < MIN_KILLED
        print(
            f"{path}: {killed} of {len(states)} mutants killed ({share:.1%}); "
            f"without {len(listed)} equivalent ones {killed / (len(states) - len(listed)):.1%}"
        )
        for mutant in alive.keys() - listed:
            removed, added = alive[mutant]
            print(f"  {mutant}: {states[mutant]}\n    - {removed}\n    + {added}")
    for file, change in sorted(unused):
        print(f"{EQUIVALENT.name}: no survivor of {file} fits: {change}")
    return int(is_low)


if __name__ == "__main__":
    sys.exit(main())
