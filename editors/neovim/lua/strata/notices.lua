--- Handles the server's notifications: the meter, warnings, and compactions. Stores the latest meter of each workspace.

local display = require("strata.display")

local M = {}

---The context meter, as sent in `strata/status` (docs/commands.md).
---@class strata.Meter
---@field session string Id of the current session.
---@field model string Model that the prompts are for.
---@field tokens integer Tokens of the next request, excluding the user's new message.
---@field window integer Input window of the model, in tokens.
---@field percent number `tokens` as a percentage of `window`.
---@field cachedPercent? number Percentage of the billed input tokens that were read from the cache.
---@field dollars? number What the session cost so far, in US dollars.
---@field cachedTokens? integer Tokens that the next request can read from the cache.
---@field cacheExpiresMs? integer When the cache expires, in milliseconds since 1970.
---@field compactionPercent number Percentage of the threshold for the next compaction that the conversation has reached.
---@field shed integer Number of selected files that do not fit.
---@field stored boolean Whether the conversation is saved to disk.
---@field index "building"|"ready" Whether all files have been outlined.
---@field files integer Number of files in the workspace.
---@field stateVersion integer Number of changes to the session so far.

---@type table<string, strata.Meter>
local meters = {}

---@type { call: fun(meter: strata.Meter, root: string) }[]
local listeners = {}

local function root_of(context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  return client and client.config.root_dir
end

local function status(_, meter, context)
  local root = root_of(context)
  if not root then
    return
  end
  meters[root] = require("strata.plain")(meter)
  require("strata.server").remember(root, meter.session)
  for _, listener in ipairs(listeners) do
    local ok, problem = pcall(listener.call, meter, root)
    if not ok then
      display.notify("a listener for meter changes failed: " .. problem, vim.log.levels.ERROR)
    end
  end
  local data = { meter = meter, root = root }
  vim.api.nvim_exec_autocmds("User", { pattern = "StrataStatus", modeline = false, data = data })
  vim.cmd.redrawstatus()
end

local function warning(_, said)
  display.notify(said.message, vim.log.levels.WARN)
end

local function compaction(_, news, context)
  news = require("strata.plain")(news)
  if news.state == "ended" then
    local how = require("strata.compaction").words(news)
    local told = "conversation compacted (%s): %s; :Strata undo reverts it"
    display.notify(told:format(news.profile, how))
    for _, note in ipairs(news.notes or {}) do
      display.notify(note, vim.log.levels.WARN)
    end
  end
  local data = { news = news, root = root_of(context) }
  vim.api.nvim_exec_autocmds("User", { pattern = "StrataCompaction", modeline = false, data = data })
end

M.handlers = {
  ["strata/status"] = status,
  ["strata/warning"] = warning,
  ["strata/compaction"] = compaction,
}

---Shows warnings about a prompt, such as files that were left out.
---@param warnings? ({ message: string }|string)[]
function M.warn(warnings)
  for _, one in ipairs(warnings or {}) do
    display.notify(one.message or one, vim.log.levels.WARN)
  end
end

---Returns the latest meter of a workspace.
---@param root string
---@return strata.Meter?
function M.meter(root)
  return meters[root]
end

---@param listener fun(meter: strata.Meter, root: string)
---@return fun() stop
function M.on_status(listener)
  local entry = { call = listener }
  table.insert(listeners, entry)
  return function()
    -- The list may be in use, so disable the entry before replacing the list.
    entry.call = function() end
    listeners = vim.tbl_filter(function(other)
      return other ~= entry
    end, listeners)
  end
end

return M
