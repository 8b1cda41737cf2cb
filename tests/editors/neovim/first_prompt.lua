-- Waits for the preview of a prompt with the current file and the question, prints its size, and exits.
local function shown()
  local text = table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr("strata://preview"), 0, -1, false), "\n")
  return text:find("fn main()", 1, true) and text:find("Why?", 1, true) and text
end

local ok = vim.wait(120000, function()
  return vim.fn.bufexists("strata://preview") == 1 and shown() ~= nil
end, 20)
io.stdout:write(ok and ("the prompt has %d bytes"):format(#shown()) or "no prompt after two minutes")
vim.cmd(ok and "qall!" or "cquit")
