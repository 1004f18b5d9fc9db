"""The wings of a Repository: one class for each subject, loaded when it is first used."""
