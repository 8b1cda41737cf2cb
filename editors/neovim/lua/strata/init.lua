--- Public API: `require("strata")`. Most functions run one command of the server and pass its arguments unchanged. The other modules are
--- internal and may change.

local calls = require("strata.calls")

local M = {}

---Runs a command of the server (docs/commands.md). With `answer`, returns immediately and calls it with the reply. Without, waits for the
---reply.
---@param name string Without `strata.`, such as `tiers.report`.
---@param arguments? table
---@param answer? strata.Answer
---@return table? reply Reply, if the call waited for it.
---@return strata.Error? err Error, if the call waited and the command failed.
function M.command(name, arguments, answer)
  if answer then
    return calls.send(name, arguments, answer)
  end
  return calls.wait(name, arguments)
end

---Assembles a prompt. Send its `body` to a provider, and pass its `id` to |strata.record()|.
---@param arguments table `prompt` or `toolResults`, and other arguments of `strata.prompt.assemble`: `format`, `model`, `tools`, `dryRun`, ...
---@param answer? strata.Answer
---@return table? reply
---@return strata.Error? err
function M.assemble(arguments, answer)
  return M.command("prompt.assemble", arguments, answer)
end

---Records the outcome of a prompt, which makes it part of the conversation.
---@param arguments table `id`, `response`, and optionally `status` and `usage`.
---@param answer? strata.Answer
---@return table? reply
---@return strata.Error? err
function M.record(arguments, answer)
  return M.command("prompt.record", arguments, answer)
end

---Previews the next prompt.
---@param arguments? table Arguments as for |strata.assemble()|, all optional.
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

---Deselects files, so that prompts contain only their outlines.
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

---Makes excluded files visible to models again.
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

---Returns the latest meter of the current workspace.
---@return strata.Meter?
function M.meter()
  local root = require("strata.server").current()
  return root and require("strata.notices").meter(root)
end

---Returns a text for the statusline: how full the window is, the cache hit rate and how long the cache lasts, and how close the next
---compaction is. Empty if no server is running.
---@return string
function M.statusline()
  return require("strata.statusline").text()
end

---Makes `writer` write the summaries of compactions. Call this before a server starts. By default, the model of `:Strata ask` writes
---them if |strata-curl| has a key.
---@param writer? fun(request: strata.Summarize, reply: strata.SummaryReply) Passes the text, or an error, and the model's name to `reply`.
function M.summarize_with(writer)
  require("strata.requests").summarize_with(writer)
end

return M
