// Project memories for OpenCode. Written by 'rawkomem connect opencode'; 'rawkomem connect opencode --remove' deletes it.
// Every call goes to `rawkomem hook opencode …`, which answers with a text for the model, or with nothing.

const SLOW = 5000 // milliseconds after which a prompt goes without memories
const MESSAGES = 40 // of a session, told at the end of a turn
const STORES = /rawkomem[\s\S]*(remember|add|amend)/ // a tool's name and its command, of an agent that stores something
const AGAIN = 60000 // milliseconds until a session that was told nothing at its start asks again

async function hook(event, told, folder) {
  try {
    const child = Bun.spawn(["rawkomem", "hook", "opencode", event], {
      cwd: folder,
      stdin: new Blob([JSON.stringify({ ...told, cwd: folder })]),
      stdout: "pipe",
      stderr: "ignore",
    })
    const clock = setTimeout(() => child.kill(), SLOW)
    const text = await new Response(child.stdout).text()
    clearTimeout(clock)
    return text.trim()
  } catch {
    return "" // rawkomem is not installed: OpenCode goes on without it
  }
}

export const Rawkomem = async ({ client, directory, worktree }) => {
  const folder = directory || worktree
  const openings = new Map() // session → what it was told at its start: the same each time, for the prompt cache
  const talking = new Set() // sessions in which something was said that no end of a turn has told yet

  const opening = (session) => {
    if (!openings.has(session)) {
      const text = hook("session-start", { session_id: session, source: `startup ${process.pid}` }, folder)
      openings.set(session, text)
      text.then((said) => said || setTimeout(() => openings.delete(session), AGAIN).unref())
    }
    return openings.get(session)
  }

  const parents = new Map() // session → the one whose agent started it as a sub-agent, or null: a person's

  const about = async (session) => {
    if (!parents.has(session)) {
      try {
        parents.set(session, (await client.session.get({ path: { id: session } })).data?.parentID ?? null)
      } catch {
        return {} // it is gone, or OpenCode does not say
      }
    }
    return { parentID: parents.get(session) }
  }

  const tell = async (event, session) => {
    let messages = []
    try {
      messages = (await client.session.messages({ path: { id: session } })).data ?? []
    } catch {
      // the session is gone: what was said was told when its last turn ended
    }
    await hook(event, { session_id: session, info: await about(session), messages: messages.slice(-MESSAGES) }, folder)
  }

  const learn = async (event, session) => {
    talking.delete(session)
    await tell(event, session)
  }

  return {
    "tool.execute.before": async (input, output) => {
      if (STORES.test(`${input.tool} ${output.args?.command ?? ""}`)) await tell("talk", input.sessionID)
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
        await hook("session-start", { session_id: event.properties.sessionID, source: "compact" }, folder) // tell it again
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
