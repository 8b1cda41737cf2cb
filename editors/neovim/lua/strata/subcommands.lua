--- The subcommands of `:Strata`.

local calls = require("strata.calls")
local display = require("strata.display")
local server = require("strata.server")
local window = require("strata.window")

---@type strata.Subcommand[]
local M = {}

---A subcommand.
---@class strata.Subcommand
---@field name string
---@field takes string Arguments, in the notation of the manual.
---@field does string Description for the manual.
---@field run fun(call: strata.Typed)
---@field complete? fun(lead: string): string[]

---A call of a subcommand.
---@class strata.Typed
---@field root string
---@field words string[] Arguments after the subcommand.
---@field text? string The arguments as a single text.
---@field lines? integer[] First and last line of the range.
---@field bang boolean
---@field mods table

local function define(name, takes, does, run, complete)
  M[#M + 1] = { name = name, takes = takes, does = does, run = run, complete = complete }
end

local function say(message)
  display.notify(message)
end

local function send(call, command, arguments, answer)
  calls.send(command, arguments, function(err, reply)
    if err then
      return calls.complain(err)
    end
    answer(reply)
  end, call.root)
end

local function there(path)
  return vim.uv.fs_stat(path) ~= nil or vim.fn.bufexists(path) == 1
end

---Returns the path that a word stands for: the word itself if there is such a file, or else with `%`, `~` and variables expanded.
---Does not use `expand()`, which would run backticks in a shell, because a completed word can contain any file name.
local function meant(word)
  local modifiers, current = word:match("^%%(.*)$"), vim.api.nvim_buf_get_name(0)
  if there(word) then
    return word
  elseif modifiers and modifiers:gsub(":[.ehprt]", "") == "" and current ~= "" then
    return vim.fn.fnamemodify(current, modifiers)
  elseif word == "~" or word:match("^~/") or word:match("^%$") then
    -- Expand only the first variable if that gives an existing path, because file names can contain `$`.
    local path = vim.fs.normalize(word:gsub("^%$([%w_]+)", vim.uv.os_getenv), { expand_env = false })
    return there(path) and path or vim.fs.normalize(word)
  end
  return word
end

---Converts a path that is relative to the current directory to an absolute path for the server.
local function path_of(word)
  local path, lines = word:match("^(.-)(#L%d+%-?%d*)$")
  path, lines = meant(path or word), lines or ""
  if not there(path) then
    return path .. lines
  end
  -- A remaining `~` is part of a file name.
  local full = vim.fn.fnamemodify(path:gsub("^~", "./~"), ":p")
  full = vim.fs.normalize(full, { expand_env = false })
  return full:gsub("(.)/$", "%1") .. lines
end

---Returns the paths that a subcommand applies to: its arguments, or else the current file or the lines of the range.
local function paths_of(call)
  if #call.words > 0 then
    return vim.tbl_map(path_of, call.words)
  end
  local name = vim.api.nvim_buf_get_name(0)
  if vim.bo.buftype ~= "" or name == "" then
    calls.complain({ message = "the current buffer is not a file; specify a path" })
    return nil
  end
  return { call.lines and ("%s#L%d-%d"):format(name, call.lines[1], call.lines[2]) or name }
end

local function count(paths)
  return #paths == 1 and paths[1] or ("%d files"):format(#paths)
end

---Returns a subcommand that changes the selection. `words` describe the files that were changed and those that were not.
local function choose(verb, words)
  return function(call)
    local paths = paths_of(call)
    if not paths then
      return
    end
    local arguments = { paths = paths }
    if call.bang and verb == "select" then
      arguments.confirmSecrets = vim.tbl_map(function(path)
        return vim.startswith(path, call.root .. "/") and path:sub(#call.root + 2) or path
      end, paths)
    end
    send(call, "files." .. verb, arguments, function(reply)
      if #reply.changed == 0 then
        return say("none of these was " .. words[2])
      end
      local left = #(reply.withheld or {}) > 0 and ("; %d left out"):format(#reply.withheld) or ""
      local is = #reply.changed == 1 and "is" or "are"
      say(("%s %s %s%s"):format(count(reply.changed), is, words[1], left))
    end)
  end
end

local add = choose("select", { "in the context", "found" })
local remove = choose("deselect", { "removed from the context", "selected" })

local function toggle(call)
  local paths = paths_of(call)
  if paths then
    -- Fix the path now, because the current file may have changed when the answer arrives.
    local meant = vim.tbl_extend("force", call, { words = paths })
    send(call, "files.has", { path = paths[1] }, function(reply)
      (reply.has and remove or add)(meant)
    end)
  end
end

---Returns the files whose names begin with `lead`. Does not use `getcompletion()`, which expands patterns and may run a shell.
local function files(lead)
  local folder, start = lead:match("^(.-)([^/]*)$")
  local where = folder == "" and "." or meant(folder)
  local listing, found = vim.uv.fs_scandir(where), {}
  local name = listing and vim.uv.fs_scandir_next(listing)
  while name do
    local hidden = vim.startswith(name, ".") and not vim.startswith(start, ".")
    if vim.startswith(name, start) and not hidden then
      local slash = vim.fn.isdirectory(where .. "/" .. name) == 1 and "/" or ""
      found[#found + 1] = folder .. name .. slash
    end
    name = vim.uv.fs_scandir_next(listing)
  end
  table.sort(found)
  return found
end

---Completes files in a state. Asks only a running server, with a short timeout.
local function chosen(state)
  return function()
    local root = server.current()
    if not root or not server.running(root) then
      return {}
    end
    local reply = calls.wait("files.list", nil, root, 1000)
    local found = {}
    for _, file in ipairs(reply and reply.files or {}) do
      if file.state == state then
        found[#found + 1] = file.path
      end
    end
    return found
  end
end

local function words(...)
  local known = { ... }
  return function()
    return known
  end
end

local function status(call)
  send(call, "budget.report", nil, function(budget)
    local lines = {
      {
        ("%s: %s of %s tokens (%g%%)\n"):format(
          budget.model,
          window.number(budget.used),
          window.number(budget.maxInputTokens),
          budget.percent
        ),
        "Title",
      },
    }
    local names = vim.tbl_keys(budget.parts)
    table.sort(names, function(one, other)
      return budget.parts[one] > budget.parts[other]
    end)
    for _, name in ipairs(names) do
      lines[#lines + 1] = { ("%12s  %s\n"):format(window.number(budget.parts[name]), (name:gsub("_", " "))) }
    end
    local totals = budget.totals
    local billed = totals.input + totals.cacheRead + totals.cacheWrite
    if billed > 0 then
      local read = window.number(totals.cacheRead)
      local cost = totals.dollars and window.dollars(totals.dollars) or "unknown price"
      lines[#lines + 1] =
        { ("%s for %s tokens in so far, %s of them cached\n"):format(cost, window.number(billed), read) }
    end
    vim.api.nvim_echo(lines, false, {})
  end)
end

local function copy(call)
  local format = call.words[1]
  local request = call.text and vim.trim(call.text:sub(#format + 1)) or ""
  local arguments = { prompt = request ~= "" and request or nil, format = format, dryRun = true }
  local command = format == "markdown" and "prompt.preview" or "prompt.assemble"
  if format == "markdown" then
    arguments.format, arguments.dryRun = nil, nil
  elseif request == "" then
    return calls.complain({
      message = "missing question; try :Strata copy " .. (format or "anthropic") .. " Why ...?",
    })
  end
  send(call, command, arguments, function(reply)
    vim.fn.setreg('"', reply.text or vim.json.encode(reply.body))
    if vim.fn.has("clipboard") == 1 then
      vim.fn.setreg("+", vim.fn.getreg('"'))
    end
    say(
      ("copied the prompt, %s tokens"):format(
        window.number(type(reply.tokens) == "table" and reply.tokens.total or reply.tokens)
      )
    )
  end)
end

local SESSION = {
  new = "started a new conversation",
  reset = "started a new conversation with the same files",
  fork = "switched to a copy; the original conversation is unchanged",
  rename = "conversation renamed",
  delete = "conversation deleted",
}

local function session(call)
  local verb = call.words[1] or ""
  if not SESSION[verb] then
    return calls.complain({ message = "expected new, reset, fork, rename or delete" })
  end
  local rest = vim.trim(call.text:sub(#verb + 1))
  local name = rest ~= "" and rest or nil
  if verb == "rename" and not name then
    return calls.complain({ message = "missing name" })
  end
  local arguments = (verb == "fork" or verb == "rename") and name and { name = name } or nil
  send(call, "session." .. verb, arguments, function()
    say(SESSION[verb])
  end)
end

local function memory(call)
  if not call.text then
    return require("strata.pick").memory(call.root)
  end
  send(call, "memory.add", { text = call.text }, function()
    say("note saved")
  end)
end

local function policy(call)
  local name = call.words[1]
  local arguments = name and { policy = name ~= "default" and name or vim.NIL }
  send(call, "tiers.policy", arguments, function(reply)
    say(("policy %s for %s (decided by: %s)"):format(reply.policy, reply.model, reply.decidedBy))
  end)
end

local function set_model(call, name)
  server.with(call.root, function(client)
    if client then
      -- Change the table in place, so that a restarted server gets the same settings.
      client.settings.strata.model = name
      server.call(client, "notify", "workspace/didChangeConfiguration", { settings = client.settings })
      say("the model for prompts is now " .. name)
    else
      calls.complain({ message = calls.NO_SERVER })
    end
  end)
end

local function model(call)
  if call.words[1] then
    return set_model(call, call.words[1])
  end
  require("strata.pick").models(call.root, function(name)
    set_model(call, name)
  end)
end

local function ask(call)
  if not call.text then
    return calls.complain({ message = "missing question" })
  end
  require("strata.ask").ask(call.text, call.root, { tools = call.bang })
end

local function with_query(kind)
  return function(call)
    if not call.text then
      return calls.complain({ message = "missing search words" })
    end
    require("strata.pick")[kind](call.root, call.text)
  end
end

---Returns a subcommand without arguments, which shows the message `done` when it has finished.
local function plain(command, done)
  return function(call)
    send(call, command, nil, function(reply)
      if done then
        say(type(done) == "function" and done(reply) or done)
      end
    end)
  end
end

define(
  "add",
  "[path]...",
  "Add files to the context in full: paths, folders, globs, lines (`src/lib.rs#L10-40`), the current "
    .. "file, or the lines of a range. With `!`, includes files whose names suggest secrets.",
  add,
  files
)
define("remove", "[path]...", "Deselect files: prompts show only their outlines.", remove, chosen("selected"))
define("toggle", "[path]", "Add or remove a file.", toggle, files)
local exclude = choose("exclude", { "excluded", "found" })
define("exclude", "[path]...", "Exclude files: prompts do not mention them.", exclude, files)
local include = choose("include", { "included again", "excluded" })
define("include", "[path]...", "Include excluded files again.", include, chosen("excluded"))
define(
  "clear",
  "",
  "Deselect all files. Exclusions stay.",
  plain("files.clear", "all files deselected")
)
define("pick", "[letters]", "Choose a workspace file to add.", function(call)
  require("strata.pick").files(call.root, call.text)
end)
define("symbols", "{letters}", "Choose a definition and add its file.", with_query("symbols"))
define("context", "", "Open the context buffer (|strata-context|).", function(call)
  require("strata.context").open(call.root, call.mods)
end)
define("preview", "[text]", "Open the next prompt (|strata-preview|).", function(call)
  require("strata.preview").open(call.root, call.text, call.mods)
end)
local copied = "Copy the next prompt: `anthropic` and `openai` as a request body, `markdown` to read."
define("copy", "{format} [text]", copied, copy, words("anthropic", "openai", "markdown"))
define(
  "ask",
  "{text}",
  "Ask the model and stream the answer (|strata-ask|). With `!`, the model may use read-only tools.",
  ask
)
define("status", "", "Show the content of the model's context window and how full it is.", status)
define("sessions", "", "Choose a conversation to continue.", function(call)
  require("strata.pick").sessions(call.root)
end)
local verbs = words("new", "reset", "fork", "rename", "delete")
define(
  "session",
  "{verb} [name]",
  "Manage the conversation: start a `new` one, `reset` it (the selected files stay), or `fork`, `rename` or `delete` it.",
  session,
  verbs
)
define(
  "search",
  "{words}",
  "Search the conversations and notes of this workspace.",
  with_query("search")
)
define(
  "memory",
  "[text]",
  "Save a note for all conversations; without text, choose a note to delete.",
  memory
)
define("compact", "[profile]", "Compact the conversation.", function(call)
  -- The server sends a notification with the outcome.
  send(call, "compaction.run", call.words[1] and { profile = call.words[1] }, function() end)
end, words("topic", "continuation", "checkpoint", "rolling", "handoff"))
define(
  "compaction",
  "",
  "Show how close a compaction is and what the last one did (|strata-compaction|).",
  function(call)
    require("strata.compaction").open(call.root, call.mods)
  end
)
define("cancel", "", "Cancel running work, such as a compaction.", function(call)
  if calls.cancel(call.root) == 0 then
    say("nothing to cancel")
  end
end)
define(
  "undo",
  "",
  "Undo the last compaction.",
  plain("compaction.undo", function(reply)
    return ("compaction undone; the model sees %d messages"):format(reply.messages)
  end)
)
define(
  "policy",
  "[name]",
  "Set the cache policy of this conversation; `default` uses the one from the settings. Without a name, show the policy.",
  policy,
  words("ledger", "ripple", "flat", "default")
)
define(
  "auto",
  "[tokens]",
  "Set how many tokens of relevant code may be added to each question (0 turns this off). Without a number, turn it on or off.",
  function(call)
    local budget = call.words[1] and tonumber(call.words[1]) or nil
    if call.words[1] and not budget then
      return say(("`%s` is not a number of tokens"):format(call.words[1]))
    end
    send(call, "context.auto", budget and { budget = budget } or vim.empty_dict(), function(reply)
      say(
        reply.budget == 0 and "automatic context is off"
          or ("automatic context is on: up to %d tokens of code per question"):format(reply.budget)
      )
    end)
  end
)
define(
  "rebuild",
  "",
  "Rebuild the layout of the next prompt.",
  plain("tiers.rebuild", "the next prompt will be rebuilt")
)
define(
  "explain",
  "",
  "Explain the last cache miss.",
  plain("tiers.explainBreak", function(reply)
    return reply.sentence
  end)
)
define("model", "[name]", "Set the model for prompts; without a name, choose one.", model)
define("reindex", "", "Scan and outline the workspace again.", plain("server.reindex"))
define("start", "", "Start the server and attach this file.", function(call)
  server.start(call.root)
  server.attach(vim.api.nvim_get_current_buf())
end)
define("stop", "", "Stop the server.", function(call)
  server.stop(call.root)
end)
define("restart", "", "Restart the server; the conversation continues.", function(call)
  server.stop(call.root, "again")
end)

return M
