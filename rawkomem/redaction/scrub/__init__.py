"""The scrubber, layer 0 of RFC-0011: six stages that a text passes before it is indexed. It never changes files."""
