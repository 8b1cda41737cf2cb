--- Shows the answers of `:Strata ask` in a buffer while they arrive.

local window = require("strata.window")

local NAME = "strata://answer"

---An answer that is being shown.
---@class strata.Shown
---@field private buffer integer
local Answer = {}
Answer.__index = Answer

---Appends text. Windows that show the end of the buffer follow it.
---@param text string
function Answer:append(text)
  if not vim.api.nvim_buf_is_loaded(self.buffer) then
    return
  end
  local count = vim.api.nvim_buf_line_count(self.buffer)
  local at_end = vim.tbl_filter(function(at)
    return vim.api.nvim_win_get_cursor(at)[1] == count
  end, vim.fn.win_findbuf(self.buffer))
  local lines = vim.split(text, "\n", { plain = true })
  vim.api.nvim_buf_set_text(self.buffer, -1, -1, -1, -1, lines)
  for _, at in ipairs(at_end) do
    vim.api.nvim_win_set_cursor(at, { vim.api.nvim_buf_line_count(self.buffer), 0 })
  end
end

local M = {}

---Shows a question. Append its answer to the result.
---@param question string
---@return strata.Shown
function M.begin(question)
  local buffer, fresh = window.open(NAME)
  if fresh then
    vim.bo[buffer].filetype = "markdown"
  end
  vim.wo[0][0].linebreak = true
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(buffer), 0 })
  local answer = setmetatable({ buffer = buffer }, Answer)
  answer:append((fresh and "" or "\n") .. "> " .. question:gsub("\n", "\n> ") .. "\n\n")
  return answer
end

return M
