"""The page: `rawkomem browse` shows a repository in a browser on this machine, and takes a person's decisions."""
