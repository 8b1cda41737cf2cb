--- Owns what the server says by itself: the meter, warnings, news of compactions. Keeps the latest meter to show it, and
--- decides nothing by it.

local M = {}

---The context meter, as `strata/status` tells it (docs/commands.md).
---@class strata.Meter
---@field session string
---@field model string
---@field tokens integer What the next request weighs before its prompt.
---@field window integer What the model takes.
---@field percent number
---@field cachedPercent? number
---@field cachedTokens? integer
---@field cacheExpiresMs? integer Milliseconds since 1970.
---@field compactionPercent number
---@field shed integer Selected files that do not fit.
---@field stored boolean Whether what is said is kept on disk.
---@field index "building"|"ready"
---@field files integer
---@field stateVersion integer

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
      vim.notify_once("Strata: a listener for meter changes failed: " .. problem, vim.log.levels.ERROR)
    end
  end
  local data = { meter = meter, root = root }
  vim.api.nvim_exec_autocmds("User", { pattern = "StrataStatus", modeline = false, data = data })
  vim.cmd.redrawstatus()
end

local function warning(_, said)
  vim.notify("Strata: " .. said.message, vim.log.levels.WARN)
end

local function compaction(_, news, context)
  news = require("strata.plain")(news)
  if news.state == "ended" then
    local how = require("strata.compaction").words(news)
    local told = "Strata: conversation compacted (%s): %s; :Strata undo reverts it"
    vim.notify(told:format(news.profile, how))
    for _, note in ipairs(news.notes or {}) do
      vim.notify("Strata: " .. note, vim.log.levels.WARN)
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

---Shows what was left out of a prompt, or else went otherwise than you may think.
---@param warnings? ({ message: string }|string)[]
function M.warn(warnings)
  for _, one in ipairs(warnings or {}) do
    vim.notify("Strata: " .. (one.message or one), vim.log.levels.WARN)
  end
end

---The latest meter of a workspace.
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
    -- The list may just be gone through.
    entry.call = function() end
    listeners = vim.tbl_filter(function(other)
      return other ~= entry
    end, listeners)
  end
end

return M
