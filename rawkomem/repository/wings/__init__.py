"""What is done with a whole repository beyond reading and writing it: a module for each subject, whose functions take a
`Repository` first. Commands, servers and hooks call them; whatever can be decided without files is decided below."""
