"""Questions to the index: fresh, filtered, believed."""
