-- Keeps a session in sync with another plugin's chat, without that plugin. tests/clients has chats of the real plugin.
local conversation = require("strata.codecompanion.conversation")

local function user(text)
  return { role = "user", content = text }
end

local function model(text, ...)
  local calls = vim.tbl_map(function(id)
    return { id = id, type = "function", ["function"] = { name = "weather", arguments = "{}" } }
  end, { ... })
  return { role = "llm", content = text, tools = #calls > 0 and { calls = calls } or nil }
end

local function result(id, text)
  return { role = "tool", content = text, tools = { call_id = id } }
end

---Queues work in a conversation and waits for its result.
local function waited(t, chat, work)
  local ended, problem, value
  chat:queued(work, function(...)
    ended = true
    problem, value = ...
  end)
  t.until_(function()
    return ended
  end, "the end of the work")
  assert(not problem, vim.inspect(problem))
  return value
end

local fresh = 0

---Creates a chat in the repository of the test.
local function begin(t)
  t.edit("src/greet.rs")
  fresh = fresh + 1
  return conversation.of("chat " .. fresh)
end

---Sends the last question of the chat, and records an answer.
local function turn(t, chat, messages, answer, status)
  return waited(t, chat, function()
    local asked = chat:prepare(messages)
    local prompt = chat:run("prompt.assemble", asked.arguments)
    local outcome = status and { status = status, partial = answer } or { response = answer }
    chat:run("prompt.record", vim.tbl_extend("error", { id = prompt.id }, outcome))
    if status then
      asked.turn.answer = false
    end
    chat:recorded(asked.turn)
    return asked.arguments
  end)
end

local function said(t)
  return vim.tbl_map(function(message)
    local block = message.content[1]
    return block.text or block.type
  end, t.command("history.get").messages)
end

it("continues when a chat continues", function(t)
  local chat = begin(t)
  turn(t, chat, { user("One é?") }, "First.")
  turn(t, chat, { user("One é?"), model("First."), user("Two?") }, "Second.")
  t.equal(said(t), { "One é?", "First.", "Two?", "Second." })
end)

it("removes turns that are asked again", function(t)
  local chat = begin(t)
  turn(t, chat, { user("One?") }, "First.")
  turn(t, chat, { user("One?"), model("First."), user("Two?") }, "Second.")
  turn(t, chat, { user("One?"), model("First."), user("Two?") }, "Better.")
  t.equal(said(t), { "One?", "First.", "Two?", "Better." })
  turn(t, chat, { user("Anew?") }, "Fresh.")
  t.equal(said(t), { "Anew?", "Fresh." })
end)

it("edits messages that were edited, and keeps the following ones", function(t)
  local chat = begin(t)
  turn(t, chat, { user("One?") }, "First.")
  turn(t, chat, { user("One?"), model("First."), user("Two?") }, "Second.")
  local messages = { user("One?"), model("First."), user("Two?"), model("Second."), user("Three?") }
  turn(t, chat, messages, "Third.")
  messages[1], messages[4] = user("Edited?"), model("Otherwise.")
  vim.list_extend(messages, { model("Third."), user("Four?") })
  turn(t, chat, messages, "Fourth.")
  t.equal(said(t), { "Edited?", "First.", "Two?", "Otherwise.", "Three?", "Third.", "Four?", "Fourth." })
end)

it("passes on tool results", function(t)
  local chat = begin(t)
  local call = { { type = "tool_call", id = "c1", name = "weather", input = vim.empty_dict() } }
  turn(t, chat, { user("Rain?") }, call)
  local messages = { user("Rain?"), model("", "c1"), result("c1", "It rains.") }
  local asked = turn(t, chat, messages, "Yes.")
  t.equal(asked.toolResults[1].content, { { type = "text", text = "It rains." } })
  -- CodeCompanion shortens old results, and adds results for calls that it regards as cancelled.
  messages[3] = result("c1", "[shortened]")
  vim.list_extend(messages, { model("Yes."), result("c1", "Cancelled by user"), user("Sure?") })
  turn(t, chat, messages, "Quite.")
  t.equal(said(t), { "Rain?", "tool_call", "tool_result", "Yes.", "Sure?", "Quite." })
end)

it("keeps the received part of a stopped answer", function(t)
  local chat = begin(t)
  turn(t, chat, { user("One?") }, "Half of", "aborted")
  turn(t, chat, { user("One?"), user("Go on.") }, "it.")
  turn(t, chat, { user("One?"), user("Go on."), model("it."), user("And?") }, "That is all.")
  t.equal(said(t), { "One?", "Half of", "Go on.", "it.", "And?", "That is all." })
end)

it("sends a restored chat to the server", function(t)
  local chat = begin(t)
  local messages =
    { user("Rain?"), model("I look.", "c1"), result("c1", "It rains."), model("Yes."), user("Sure?") }
  turn(t, chat, messages, "Quite.")
  t.equal(said(t), { "Rain?", "I look.", "tool_result", "Yes.", "Sure?", "Quite." })
end)

it("sends the instructions of a tool once", function(t)
  local chat = begin(t)
  local own =
    { role = "system", content = "You are CodeCompanion.", _meta = { tag = "system_prompt_from_config" } }
  local tool = { role = "system", content = "Use the tool well.", _meta = { tag = "tool" } }
  turn(t, chat, { own, tool, user("One?") }, "First.")
  turn(t, chat, { own, tool, user("One?"), model("First."), user("Two?") }, "Second.")
  t.equal(said(t), { "Use the tool well.\n\nOne?", "First.", "Two?", "Second." })
end)

it("has a session for each chat", function(t)
  local one = begin(t)
  t.command("files.select", { paths = { "src/lib.rs" } })
  turn(t, one, { user("One?") }, "First.")
  local two = begin(t)
  turn(t, two, { user("Another matter?") }, "Yes.")
  t.equal(said(t), { "Another matter?", "Yes." })
  t.equal(t.command("files.has", { path = "src/lib.rs" }).has, true)
  turn(t, one, { user("One?"), model("First."), user("Two?") }, "Second.")
  t.equal(said(t), { "One?", "First.", "Two?", "Second." })
end)
