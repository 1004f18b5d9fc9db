"""Write-through sinks: what was written is told to a daily log and to a webhook, when the user's own config says so."""
