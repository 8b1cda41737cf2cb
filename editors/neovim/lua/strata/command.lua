--- Parses and completes `:Strata`. Loads the subcommands on first use.

local calls = require("strata.calls")
local server = require("strata.server")

local M = {}

---@param name string
---@return strata.Subcommand?
local function named(name)
  return vim.iter(require("strata.subcommands")):find(function(subcommand)
    return subcommand.name == name
  end)
end

---Lets the user choose a subcommand that needs no arguments.
local function choose()
  local short = vim.tbl_filter(function(subcommand)
    return not subcommand.takes:find("{", 1, true)
  end, require("strata.subcommands"))
  vim.ui.select(short, {
    prompt = "Strata:",
    kind = "strata",
    format_item = function(subcommand)
      return ("%-10s %s"):format(subcommand.name, (subcommand.does:gsub("%s*%(|.-|%)", "")))
    end,
  }, function(subcommand)
    if subcommand then
      vim.cmd("Strata " .. subcommand.name)
    end
  end)
end

---Runs `:Strata ...`.
---@param call table Argument of the callback of |nvim_create_user_command()|.
function M.run(call)
  if #call.fargs == 0 then
    return choose()
  end
  local subcommand = named(call.fargs[1])
  if not subcommand then
    return calls.complain({ message = ("unknown subcommand: `:Strata %s`"):format(call.fargs[1]) })
  end
  local root = server.current()
  if not root then
    return calls.complain({ message = "no workspace found; open a file in a workspace" })
  end
  local text = vim.trim(call.args:match("^%S+%s*(.*)$"))
  subcommand.run({
    root = root,
    words = vim.list_slice(call.fargs, 2),
    text = text ~= "" and text or nil,
    lines = call.range > 0 and { call.line1, call.line2 } or nil,
    bang = call.bang,
    mods = call.smods,
  })
end

---Completes `:Strata ...`.
---@param lead string Beginning of the word to complete.
---@param line string The whole command line.
---@return string[]
function M.complete(lead, line)
  local name = line:match("Strata!?%s+(%S+)%s")
  local words
  if name then
    local subcommand = named(name)
    words = subcommand and subcommand.complete and subcommand.complete(lead) or {}
  else
    words = vim.tbl_map(function(subcommand)
      return subcommand.name
    end, require("strata.subcommands"))
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

return M
