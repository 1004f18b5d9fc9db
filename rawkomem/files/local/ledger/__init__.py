"""The ledger: what was done with memories, as YAMO blocks in local append-only files, each bound to the one before.

spool.py      operations are noted in microseconds, a line each
seal.py       … and made into blocks of the chain later
chain.py      the files: blocks, and the head that knows where they end
latest.py     … their end, for who asks in passing
verify.py     whether the chain holds, and where it is broken
written.py    what an entry that was written is in the ledger
recalled.py   what a recall is in the ledger
forget.py     the part that `purge` has to play here
"""
