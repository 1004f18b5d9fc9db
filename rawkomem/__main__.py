"""Start the command line: `rawkomem`, `rawko`, `python -m rawkomem`."""

from __future__ import annotations

from .faces.cli import main

if __name__ == "__main__":
    main()
