--- Owns what other plugins and configurations call: `require("strata")`. Each function is one command of the server and
--- takes its arguments as they are; the modules after this one may change.

local calls = require("strata.calls")

local M = {}

---Runs a command of the server (docs/commands.md). With `answer`, it returns immediately; without, it waits for the reply.
---@param name string Without `strata.`, such as `tiers.report`.
---@param arguments? table
---@param answer? strata.Answer
---@return table? reply When it waits.
---@return strata.Error? err When it waits and the command failed.
function M.command(name, arguments, answer)
  if answer then
    return calls.send(name, arguments, answer)
  end
  return calls.wait(name, arguments)
end

---Makes a prompt. Send its `body` to a provider, and pass its `id` to |strata.record()|.
---@param arguments table `prompt` or `toolResults`, and other arguments of `strata.prompt.assemble`: `format`, `model`, `tools`, `dryRun`, ...
---@param answer? strata.Answer
---@return table? reply
---@return strata.Error? err
function M.assemble(arguments, answer)
  return M.command("prompt.assemble", arguments, answer)
end

---Records the outcome of a prompt, which makes it part of the conversation.
---@param arguments table `id`, `response`, and where known `status` and `usage`.
---@param answer? strata.Answer
---@return table? reply
---@return strata.Error? err
function M.record(arguments, answer)
  return M.command("prompt.record", arguments, answer)
end

---Previews the next prompt.
---@param arguments? table As for |strata.assemble()|; nothing is needed.
---@param answer? strata.Answer
---@return table? reply
---@return strata.Error? err
function M.preview(arguments, answer)
  return M.command("prompt.preview", arguments, answer)
end

---Selects files, so that prompts contain them in full.
---@param paths string[] Files, folders, globs, or lines of a file: `src/lib.rs#L10-40`.
---@param answer? strata.Answer
---@return table? reply
---@return strata.Error? err
function M.select(paths, answer)
  return M.command("files.select", { paths = paths }, answer)
end

---Deselects files, so that prompts contain their outlines only.
---@param paths string[]
---@param answer? strata.Answer
---@return table? reply
---@return strata.Error? err
function M.deselect(paths, answer)
  return M.command("files.deselect", { paths = paths }, answer)
end

---Excludes files from prompts entirely.
---@param paths string[]
---@param answer? strata.Answer
---@return table? reply
---@return strata.Error? err
function M.exclude(paths, answer)
  return M.command("files.exclude", { paths = paths }, answer)
end

---Takes an exclusion back.
---@param paths string[]
---@param answer? strata.Answer
---@return table? reply
---@return strata.Error? err
function M.include(paths, answer)
  return M.command("files.include", { paths = paths }, answer)
end

---Calls `listener` whenever the meter changes. The event `User StrataStatus` does the same.
---@param listener fun(meter: strata.Meter, root: string)
---@return fun() stop Removes the listener.
function M.on_status(listener)
  return require("strata.notices").on_status(listener)
end

---The latest meter of the current workspace.
---@return strata.Meter?
function M.meter()
  local root = require("strata.server").current()
  return root and require("strata.notices").meter(root)
end

---Text for the statusline: how full the window is, how much of the next prompt is cached and for how long, and how close a
---compaction is. Empty without a server.
---@return string
function M.statusline()
  return require("strata.statusline").text()
end

---Has the summaries of compactions written by `writer`. To be called before a server starts. Without it, the model of `:Strata ask` writes
---them where |strata-curl| has a key.
---@param writer? fun(request: strata.Summarize, reply: strata.SummaryReply) `reply` takes the text, or why there is none, and the model's name.
function M.summarize_with(writer)
  require("strata.requests").summarize_with(writer)
end

return M
