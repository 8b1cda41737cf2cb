--- Handles the server's requests for summaries. Passes them to the writer that the user set, or else to the model of a chat or of
--- `:Strata ask`.

local M = {}

---A question of the server to a model (docs/compaction.md).
---@class strata.Summarize
---@field purpose "summarise"|"merge"|"find_topic" What the answer is used for.
---@field system string System prompt.
---@field prompt string User message.
---@field maxTokens integer Token limit for the answer.
---@field model? string Model from the settings.

---Accepts a summary, or the reason why there is none, and the name of the model that wrote it.
---@alias strata.SummaryReply fun(text?: string, problem?: string, model?: string)

---@type fun(request: strata.Summarize, reply: strata.SummaryReply)?
local chosen

-- The model of a chat in another plugin.
---@type fun(request: strata.Summarize, reply: strata.SummaryReply)?
local offered

local function failed(message)
  return { code = vim.lsp.protocol.ErrorCodes.InternalError, message = message }
end

---Returns the writer of summaries: the one that the user set, or else the model of a chat, or else curl if it has a key.
local function summarizer()
  return chosen or offered or require("strata.adapters.curl").summarizer()
end

local function answer(_, request)
  local summarize = summarizer()
  if not summarize then
    return nil, failed("no model is available for summaries")
  end
  -- Neovim runs each handler in its own coroutine, so waiting blocks nothing else.
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

---Returns the requests that this client answers, for `initialize`.
---@return string[]
function M.answered()
  return summarizer() and { "strata/summarize" } or {}
end

---@param writer? fun(request: strata.Summarize, reply: strata.SummaryReply)
function M.summarize_with(writer)
  chosen = writer
end

---Makes `writer` write summaries unless the user set another writer.
---@param writer fun(request: strata.Summarize, reply: strata.SummaryReply)
function M.offer(writer)
  offered = writer
end

return M
