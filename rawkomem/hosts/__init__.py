"""Connect agent hosts, and answer their hooks.

`known_hosts`: what differs between hosts: Host, Call, and a record of each host; the JSON that a host passes, as a Call.
`hooks`: `rawkomem hook HOST EVENT`: read a call, answer it.
`hook_entry`: starts a hook; ends at once if no memory can apply to an act.
`hook_acts`: what a host shall do before or after a tool runs: remind, ask, deny.
`hook_prompt`: the memories for a prompt: the end of the transcript, what the session has already, the injection.
`hook_calls`: what hooks note: calls, duplicates, failures, slow calls, and the line for the person.
`hook_sessions`: the start of a session, and learning from turns and sessions in the background.
`connect`: plan and write the changes that connect a host: our hooks and our MCP server in a settings file; whether the hooks of connected hosts run.
`person`: whether a person or an agent runs a command.
`replay`: past sessions, and what each prompt would get now.
"""
