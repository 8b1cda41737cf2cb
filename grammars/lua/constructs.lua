--- Opens and closes the gates of a canal.
local M = {}
local log = require("canal.log")
local insert, remove = table.insert, table.remove
local DEFAULT_DEPTH, MAX_GATES = 3, 12

M.version = "2.1"
M.width, M.height = 4, 9

---@class Gate
---@field level number
local Gate = {}
Gate.__index = Gate

--- Makes a gate.
---@param level number
function Gate.new(level)
  local self = setmetatable({}, Gate)
  self.level = level
  self.is_open = false
  return self
end

function Gate:open()
  local function wait(seconds)
    return seconds * 2
  end
  self.is_open = true
  return wait(1)
end

local Lock = setmetatable({}, { __index = Gate })

function Lock.open(lock)
  return lock
end

function Lock:close() self.is_open = false end

M.Gate = Gate
M.handlers = {
  rise = function(gate) gate.level = gate.level + 1 end,
  ["fall"] = function(gate) gate.level = gate.level - 1 end,
  limit = 4,
}

M.each = function(gates, visit)
  for _, gate in ipairs(gates) do
    local depth = gate.level
    visit(gate, depth)
  end
end

function M.deep.nested.path(x)
  return x
end

local counter = 0
local function count()
  counter = counter + 1
  return counter
end

register("tick", function(event)
  local seen = event
  count(seen)
end)

return M
