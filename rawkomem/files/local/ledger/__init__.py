"""Keep the ledger: operations on memories as a chain of YAMO blocks in local append-only files.

spool.py      appends operations to a file in microseconds, one line each
seal.py       turns these lines into blocks of the chain
chain.py      reads and writes the files: blocks, and the head that records where they end
latest.py     reads the last operations
trim.py       removes the oldest files of blocks
verify.py     finds the places where the chain is broken
written.py    turns a written entry into an operation
recalled.py   turns a recall into an operation
forget.py     removes a purged memory's text
"""

KEEP_DAYS = 400  # default age at which blocks are removed: more than a year
