// Project memories for OpenCode. Written by 'rawkomem connect opencode'; 'rawkomem connect opencode --remove' deletes it.
// Each event calls `rawkomem hook opencode …`, which prints a text for the model, or nothing.

const LIMIT_MS = 5000 // a hook that takes longer is stopped, and the prompt gets no memories
const MAX_MESSAGES = 40 // the latest messages of a session, passed to the hook
const STORES = /rawkomem[\s\S]*(remember|add|amend)/ // matches tool calls (name and command) that store a memory
const ACTS = ["bash", "edit", "write", "multiedit", "patch", "apply_patch"] // tools that run commands and write files
const RETRY_MS = 60000 // if the hook at the start of a session printed nothing, it is called again after this time

async function hook(event, told, folder) {
  try {
    const child = Bun.spawn(["rawkomem", "hook", "opencode", event], {
      cwd: folder,
      stdin: new Blob([JSON.stringify({ cwd: folder, ...told })]),
      stdout: "pipe",
      stderr: "ignore",
    })
    const clock = setTimeout(() => child.kill(), LIMIT_MS)
    const text = await new Response(child.stdout).text()
    clearTimeout(clock)
    return text.trim()
  } catch {
    return "" // rawkomem is not installed: OpenCode works without it
  }
}

export const Rawkomem = async ({ client, directory, worktree }) => {
  const folder = directory || worktree
  const openings = new Map() // session → the text at its start; reused, so that the prompt cache works
  const talking = new Set() // sessions with messages that were not passed to the hook at the end of a turn yet

  const opening = (session) => {
    if (!openings.has(session)) {
      const text = hook("session-start", { session_id: session, source: `startup ${process.pid}` }, folder)
      openings.set(session, text)
      text.then((said) => said || setTimeout(() => openings.delete(session), RETRY_MS).unref())
    }
    return openings.get(session)
  }

  const parents = new Map() // session of a sub-agent → the session that started it; null: a person started it

  const about = async (session) => {
    if (!parents.has(session)) {
      try {
        parents.set(session, (await client.session.get({ path: { id: session } })).data?.parentID ?? null)
      } catch {
        return {} // the session is gone, or OpenCode does not answer
      }
    }
    return { parentID: parents.get(session) }
  }

  const reminders = new Map() // call of a tool → the memory that applies to it

  const act = async (input, args) => {
    if (!ACTS.includes(input.tool)) return undefined
    const told = { session_id: input.sessionID, tool_name: input.tool, tool_input: args }
    const text = await hook("before-tool", told, folder)
    try {
      return text ? JSON.parse(text) : undefined
    } catch {
      return undefined // the hook was stopped while it answered: the call passes
    }
  }

  const tell = async (event, session) => {
    let messages = []
    try {
      messages = (await client.session.messages({ path: { id: session } })).data ?? []
    } catch {
      // the session is gone: its messages were passed at the end of its last turn
    }
    await hook(event, { session_id: session, info: await about(session), messages: messages.slice(-MAX_MESSAGES) }, folder)
  }

  const learn = async (event, session) => {
    talking.delete(session)
    await tell(event, session)
  }

  return {
    "tool.execute.before": async (input, output) => {
      const told = await act(input, output.args)
      if (told?.guard === "deny") throw new Error(told.text)
      if (told) reminders.set(input.callID, told.text)
      if (STORES.test(`${input.tool} ${output.args?.command ?? ""}`)) await tell("talk", input.sessionID)
    },
    "tool.execute.after": async (input, output) => {
      const text = reminders.get(input.callID)
      reminders.delete(input.callID)
      if (text) output.output = `${output.output}\n\n${text}`
    },
    "chat.message": async (input, output) => {
      const said = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = said.map((part) => part.text).join("\n")
      talking.add(input.sessionID)
      const context = await hook("prompt", { session_id: input.sessionID, info: await about(input.sessionID), prompt }, folder)
      if (context && said.length) said[0].text = `${context}\n\n${said[0].text}`
    },
    "experimental.chat.system.transform": async (input, output) => {
      const context = await opening(input.sessionID ?? "")
      if (context) output.system.push(context)
    },
    event: async ({ event }) => {
      if (event.type === "session.idle") await learn("turn-end", event.properties.sessionID)
      if (event.type === "session.compacted") {
        const session = event.properties.sessionID
        const text = await hook("session-start", { session_id: session, source: "compact" }, folder) // memories may be injected again
        if (text) openings.set(session, Promise.resolve(text)) // with the memories that the session had received
      }
      if (event.type === "session.deleted") {
        openings.delete(event.properties.info.id)
        await learn("session-end", event.properties.info.id)
      }
    },
    dispose: async () => {
      for (const session of [...talking]) await learn("session-end", session)
    },
  }
}
