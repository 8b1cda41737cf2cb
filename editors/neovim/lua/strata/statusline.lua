--- Formats the meter for a statusline.

local notices = require("strata.notices")
local options = require("strata.options")
local server = require("strata.server")
local window = require("strata.window")

local M = {}

local timer

---Returns the remaining lifetime of the cache, rounded so that it does not change every second.
local function left(until_ms)
  local seconds = math.floor(until_ms / 1000 - os.time())
  if seconds <= 0 then
    return nil
  end
  return seconds >= 60 and ("%dm"):format(math.floor(seconds / 60))
    or ("%ds"):format(math.ceil(seconds / 10) * 10)
end

---Redraws the statusline regularly while a cache lifetime counts down.
local function tick(on)
  if on and not timer then
    timer = vim.uv.new_timer()
    timer:start(10000, 10000, vim.schedule_wrap(vim.cmd.redrawstatus))
  elseif not on and timer then
    timer:close()
    timer = nil
  end
end

---@return string
function M.text()
  local root = server.near()
  local meter = root and notices.meter(root)
  if not meter or not server.running(root) then
    tick(false)
    return ""
  end
  if meter.index == "building" then
    return "strata: indexing"
  end
  local dot = options.get().icons == false and ", " or " · "
  local parts = { ("%g%% of window"):format(meter.percent) }
  local alive = meter.cacheExpiresMs and left(meter.cacheExpiresMs)
  tick(alive ~= nil)
  if alive then
    parts[#parts + 1] = ("cache %s"):format(alive)
  end
  if meter.cachedPercent then
    parts[#parts + 1] = ("%d%% cached"):format(math.floor(meter.cachedPercent))
  end
  if meter.dollars then
    parts[#parts + 1] = window.dollars(meter.dollars)
  end
  if meter.compactionPercent >= 50 then
    parts[#parts + 1] = ("compaction %d%%"):format(math.floor(meter.compactionPercent))
  end
  return "strata: " .. table.concat(parts, dot)
end

return M
