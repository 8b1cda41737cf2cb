---@brief
---An extension for CodeCompanion. `/strata` in a chat with any adapter adds the context to the chat. When the context changes, a diff
---is added to the next message, so that the provider's prompt cache stays valid. CodeCompanion keeps its own conversation, so Strata
---does not record it.
---
--->lua
---    require("codecompanion").setup({ extensions = { strata = {} } })
---<
---
--- Owns the slash command that adds the context to a chat.

local Extension = {}

-- Appears alone on a line of the chat. It is not a tag, because Markdown would treat that as HTML, and CodeCompanion would then consider
-- the context deleted.
local ID = "strata context"

-- Policy under which the text of a preview depends only on the context.
local POLICY = "flat"

local CHANGED = "The context above has changed. This diff brings it up to date:\n\n%s"

---The context that each chat has received so far, including diffs.
---@type table<table, string>
local known = setmetatable({}, { __mode = "k" })

local function asked(reply, err)
  if not reply then
    require("strata.calls").complain(err)
  end
  return reply
end

local function is_there(chat)
  return vim.iter(chat.messages):any(function(message)
    return vim.tbl_get(message, "context", "id") == ID
  end)
end

---Adds a message with the changes since the last one. Earlier messages stay unchanged. Does nothing if the user has removed the context
---from the chat.
local function update(chat)
  if not known[chat] or not is_there(chat) then
    return
  end
  local arguments = { since = known[chat], policy = POLICY }
  local reply = asked(require("strata").command("prompt.changes", arguments))
  if reply and reply.changes ~= "" then
    local message = { role = "user", content = CHANGED:format(reply.changes) }
    chat:add_message(message, { visible = false, context = { id = ID }, _meta = { tag = "strata" } })
    known[chat] = reply.text
  end
end

local function slash(chat)
  if vim.tbl_get(chat, "adapter", "opts", "strata_format") then
    return require("strata.display").notify("a chat with the adapter `strata` already has the context")
  elseif is_there(chat) then
    return update(chat)
  end
  local reply = asked(require("strata").preview({ policy = POLICY }))
  if reply then
    chat:add_context({ role = "user", content = reply.text }, "strata", ID)
    if known[chat] == nil then
      chat:add_callback("on_before_submit", update)
    end
    known[chat] = reply.text
  end
end

---Called by CodeCompanion.
---@param options? { name?: string, adapter?: string|table|fun(): table, format?: string } `name` is the name of the slash command.
function Extension.setup(options)
  local config = require("codecompanion.config")
  -- `interactions` was called `strategies` before version 18.
  local chat = (config.interactions or config.strategies).chat
  chat.slash_commands[options and options.name or "strata"] = {
    description = "The context managed by Strata",
    callback = slash,
    opts = { contains_code = true },
  }
  if options and options.adapter then
    require("strata.codecompanion").setup(config, options.adapter, options.format)
  end
end

return Extension
