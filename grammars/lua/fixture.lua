#!/usr/bin/env lua
-- A module that shows every construct.
local json = require("json")
local util = require "shop.util"
local ok, extra = pcall(require, "shop.extra")
local lazy = require("shop.lazy").setup

---@class Order
---@field total number
local Order = {}
Order.__index = Order

local M = {
  version = "1.0",
  nested = { deep = 1 },
  run = function(self, x) return x end,
}

M.defaults = { timeout = 30 }
M.limit = 10
GLOBAL_STATE = {}
local DEFAULT_TIMEOUT <const> = 30
local first, second = 1, 2

local function helper(a, b, ...)
  local inner = function(x) return x end
  local function nested(y) return inner(y) end
  return nested(a) + b
end

function M.setup(opts, callback)
  opts = vim.tbl_extend("force", M.defaults, opts or {})
  callback(opts)
end

function Order:add(item, count)
  self.items[item] = count
  self.total = self.total + util.price(item)
  self.note = nil
end

function Order.new(total)
  return setmetatable({ total = total }, Order)
end

M.render = function(lines, width)
  for i, line in ipairs(lines) do
    print(i, line, width)
  end
end

local format = function(text) return text end

function global_function() end

describe("orders", function()
  it("adds up", function()
    assert.equals(1, Order.new(1).total)
  end)
end)

return M
