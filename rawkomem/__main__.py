"""`python -m rawkomem`."""

from .faces.cli import main

main()
