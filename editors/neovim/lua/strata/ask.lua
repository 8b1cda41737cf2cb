---@brief
---`:Strata ask {text}` asks the model configured in `provider.*` (docs/ask.md). The server sends the prompt, so the plugin needs no key.
---The answer is streamed into `strata://answer` and recorded with its usage. With `!`, the model may use Strata's read-only
---tools; each call is shown in the answer. `:Strata cancel` stops an answer and records what has arrived.
---
--->lua
---    vim.g.strata = { settings = { provider = { name = "anthropic", key_env = "MY_API_KEY" } } }
---<
---
---If no provider is configured, the prompt is sent with curl (|strata-curl|).
---
--- Owns questions that the server sends to a model, and how the answers are shown.

local answer = require("strata.answer")
local calls = require("strata.calls")
local display = require("strata.display")
local notices = require("strata.notices")
local window = require("strata.window")

local M = {}

---Handlers for the pieces of answers, by the name of the stream.
---@type table<string, fun(delta: table)>
local streams = {}

local asked = 0

---Describes the token usage of an answer.
local function bill(reply)
  local usage = reply.usage
  local input = usage.input + usage.cacheRead + usage.cacheWrite
  local read = input > 0 and math.floor(100 * usage.cacheRead / input + 0.5) or 0
  return ("%s tokens in (%d %% cached), %s out"):format(
    window.number(input),
    read,
    window.number(usage.output)
  )
end

-- Messages for answers that ended early.
local ENDS = {
  output_limit = "the answer reached its token limit (provider.max_output_tokens)",
  tool_rounds = "the model reached the limit of tool rounds (provider.tool_rounds)",
  tool_calls = "the model called tools it was not offered",
  cancelled = "answer stopped; the partial answer was recorded",
  cut = "answer interrupted; the partial answer was recorded",
  failed = "a later request failed; the answer so far was recorded",
}

local function ended(reply)
  notices.warn(reply.warnings)
  local why = ENDS[reply["end"]]
  if why then
    display.notify(("%s%s"):format(why, reply.error and ": " .. reply.error or ""), vim.log.levels.WARN)
  end
  display.notify(bill(reply))
end

---Describes a tool call on one line.
local function call_line(call)
  local name, only = next(call.input)
  local is_alone = type(only) == "string" and next(call.input, name) == nil
  local input = is_alone and only:gsub("%s+", " ") or vim.json.encode(call.input):gsub("\\/", "/")
  return ("`%s`"):format((display.line(("%s %s"):format(call.name, input)):gsub("`", "'")))
end

---Handles a piece of an answer.
---@param delta table
function M.delta(delta)
  local take = streams[delta.stream]
  if take then
    take(require("strata.plain")(delta))
  end
end

---Asks the model.
---@param text string
---@param root? string
---@param options? { tools?: boolean } Whether the model may use read-only tools.
---@param done? strata.Answer Called when the answer is recorded.
function M.ask(text, root, options, done)
  asked = asked + 1
  local stream, shown = ("neovim %d"):format(asked), nil
  -- Whether the next piece begins a paragraph.
  local begins = true
  local function write(words)
    shown = shown or answer.begin(text)
    shown:append(words)
  end
  streams[stream] = function(delta)
    if delta.text then
      write(delta.text)
      begins = false
    elseif delta.toolCall then
      write((begins and "" or "\n\n") .. call_line(delta.toolCall) .. "\n\n")
      begins = true
    elseif delta.notice then
      display.notify(delta.notice)
    end
  end
  local arguments = { prompt = text, stream = stream, tools = options and options.tools and "read" or nil }
  calls.send("prompt.send", arguments, function(err, reply)
    streams[stream] = nil
    if err and vim.tbl_get(err, "data", "kind") == "noProvider" then
      return require("strata.adapters.curl").ask(text, root, done)
    end
    if shown then
      shown:append("\n")
    end
    if err then
      calls.complain(err)
    else
      ended(reply)
    end
    if done then
      done(err, reply)
    end
  end, root)
end

return M
