"""`python -m rawkomem`."""

from rawkomem.cli import main

main()
