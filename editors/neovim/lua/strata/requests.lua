--- Owns what the server asks of Neovim: summaries by a model of the user's choice, else by that of a chat or of `:Strata ask`. Asks no
--- model itself.

local M = {}

---What the server wants summarized (docs/compaction.md).
---@class strata.Summarize
---@field purpose "summarize"|"merge"|"find_topic"
---@field system string The system prompt.
---@field prompt string The user's message.
---@field maxTokens integer What the answer may take.
---@field model? string

---Takes a summary, or why there is none, and the name of the model that wrote it.
---@alias strata.SummaryReply fun(text?: string, problem?: string, model?: string)

---@type fun(request: strata.Summarize, reply: strata.SummaryReply)?
local chosen

-- The model of a chat in another plugin.
---@type fun(request: strata.Summarize, reply: strata.SummaryReply)?
local offered

local function failed(message)
  return { code = vim.lsp.protocol.ErrorCodes.InternalError, message = message }
end

---Who writes summaries: whom the user chose, else the model of a chat, else curl where it has a provider.
local function summarizer()
  return chosen or offered or require("strata.adapters.curl").summarizer()
end

local function answer(_, request)
  local summarize = summarizer()
  if not summarize then
    return nil, failed("no model is available for summaries")
  end
  -- Neovim runs this in a coroutine of its own and answers with what it returns, so waiting stops nothing else.
  local thread = coroutine.running()
  local done, waiting, text, problem, model
  local ok, raised = pcall(summarize, request, function(...)
    if done then
      return
    end
    done = true
    text, problem, model = ...
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
  return { text = text, model = model }
end

M.handlers = { ["strata/summarize"] = answer }

---The requests that are answered here, for `initialize`.
---@return string[]
function M.answered()
  return summarizer() and { "strata/summarize" } or {}
end

---@param writer? fun(request: strata.Summarize, reply: strata.SummaryReply)
function M.summarize_with(writer)
  chosen = writer
end

---Has this one write summaries where the user chose no one.
---@param writer fun(request: strata.Summarize, reply: strata.SummaryReply)
function M.offer(writer)
  offered = writer
end

return M
