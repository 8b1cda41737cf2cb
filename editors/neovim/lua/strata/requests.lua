--- Owns what the server asks of Neovim: summaries by a model of the person's choice. Asks no model itself.

local M = {}

---What the server wants summed up (docs/compaction.md).
---@class strata.Summarize
---@field purpose "summarise"|"merge"|"find_topic"
---@field system string The system prompt.
---@field prompt string The user's message.
---@field maxTokens integer What the answer may weigh.
---@field model? string

---@type fun(request: strata.Summarize, reply: fun(text?: string, problem?: string))?
local summarize

local function failed(message)
  return { code = vim.lsp.protocol.ErrorCodes.InternalError, message = message }
end

local function answer(_, request)
  if not summarize then
    return nil, failed("nobody writes summaries here")
  end
  -- Neovim runs this in a coroutine of its own and answers with what it returns, so waiting stops nothing else.
  local thread = coroutine.running()
  local done, waiting, text, problem
  local ok, raised = pcall(summarize, request, function(...)
    if done then
      return
    end
    done = true
    text, problem = ...
    if waiting then
      coroutine.resume(thread)
    end
  end)
  if not ok then
    return nil, failed(tostring(raised))
  end
  if not done then
    waiting = true
    coroutine.yield()
  end
  if not text then
    return nil, failed(problem or "no answer")
  end
  return { text = text }
end

M.handlers = { ["strata/summarize"] = answer }

---The requests that are answered here, for `initialize`.
---@return string[]
function M.answered()
  return summarize and { "strata/summarize" } or {}
end

---@param writer fun(request: strata.Summarize, reply: fun(text?: string, problem?: string))
function M.summarize_with(writer)
  summarize = writer
end

return M
