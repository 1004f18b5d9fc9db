"""Report written entries to sinks: a daily log and a webhook, if the user's own config sets them up."""
