"""Layout, reading, the only writer, scanning, watching and checking."""
