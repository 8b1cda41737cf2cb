-- The compaction buffer, and a conversation that exceeds the request limit.

local function talk(t, exchanges)
  for number = 1, exchanges do
    local text = ("words and more "):rep(200)
    t.command("history.addExchange", { user = ("question %d %s"):format(number, text), assistant = text })
  end
end

local function shown(t)
  return table.concat(t.lines(), "\n")
end

local function shows(t, part)
  t.until_(function()
    return shown(t):find(part, 1, true)
  end, part .. " in\n" .. shown(t))
end

it("shows how close the next compaction is, compacts and undoes", function(t)
  t.edit("src/greet.rs")
  talk(t, 12)
  local before = #t.command("history.get").messages
  vim.cmd("Strata compaction")
  shows(t, "Last compaction     none")
  t.contains(shown(t), "Profile             topic")
  t.contains(shown(t), "Request limit")
  assert(shown(t):find("Threshold           [%d,]+ tokens of the conversation, [%d.]+%% reached"), shown(t))
  assert(not vim.bo.modifiable)
  vim.cmd.normal("c")
  shows(t, "freed ")
  t.contains(shown(t), ("%d messages became "):format(before))
  t.contains(shown(t), "summarized without a model")
  t.said(("conversation compacted (topic): %d messages became "):format(before))
  vim.cmd.normal("u")
  shows(t, "Last compaction     none")
  t.said("compaction undone")
  vim.cmd.normal("q")
  t.equal(vim.fn.bufwinid("strata://compaction"), -1)
end)

it("compacts a conversation that is too long before a question, with the model of summarize_with", function(t)
  local asked = 0
  require("strata").summarize_with(function(_, reply)
    asked = asked + 1
    reply("## Asked\nThey spoke of words é.", nil, "Chat Model")
  end)
  t.edit("src/greet.rs")
  talk(t, 16)
  local whole = #t.command("history.get").messages
  local prompt = t.command("prompt.assemble", { prompt = "And now?", maxInputTokens = 12000 })
  assert(asked > 0, "the model was not asked")
  for _, warning in ipairs(prompt.warnings) do
    assert(warning.code ~= "history_truncated", "messages were left out")
  end
  t.contains(vim.json.encode(prompt.body), "They spoke of words é.")
  t.said("Chat Model wrote the summary")
  vim.cmd("Strata compaction")
  shows(t, "Chat Model wrote the summary")
  vim.cmd.normal("u")
  shows(t, "Last compaction     none")
  local seen = vim.tbl_filter(function(message)
    return message.agent == "shown"
  end, t.command("history.get").messages)
  t.equal(#seen, whole)
  require("strata").summarize_with(nil)
end)
