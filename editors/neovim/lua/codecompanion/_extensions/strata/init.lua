---@brief
---An extension for CodeCompanion: `/strata` in a chat adds the context to it, and each further message carries what the
---context is then. CodeCompanion keeps its own conversation, so none of it is recorded here.
---
--->lua
---    require("codecompanion").setup({ extensions = { strata = {} } })
---<
---
--- Owns the way from the context into a chat of CodeCompanion. Knows nothing of what stands in it.

local Extension = {}

local ID = "<strata>"

---The context as CodeCompanion sends it along.
local function context()
  local reply, err = require("strata").preview()
  if not reply then
    require("strata.calls").complain(err)
  end
  return reply and reply.text
end

---Brings what was added before up to date. A chat without it any more is left alone.
local function renew(chat)
  for _, message in ipairs(chat.messages) do
    if vim.tbl_get(message, "context", "id") == ID then
      message.content = context() or message.content
    end
  end
end

local function is_there(chat)
  return vim.iter(chat.messages):any(function(message)
    return vim.tbl_get(message, "context", "id") == ID
  end)
end

local function slash(chat)
  if is_there(chat) then
    return renew(chat)
  end
  local text = context()
  if text then
    chat:add_context({ role = "user", content = text }, "strata", ID)
    chat:add_callback("on_before_submit", renew)
  end
end

---Called by CodeCompanion.
---@param options? { name?: string } The name of the slash command.
function Extension.setup(options)
  local config = require("codecompanion.config")
  -- Called `strategies` before version 18.
  local chat = (config.interactions or config.strategies).chat
  chat.slash_commands[options and options.name or "strata"] = {
    description = "What Strata shows to the model",
    callback = slash,
    opts = { contains_code = true },
  }
end

return Extension
