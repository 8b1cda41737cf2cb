--- Shows the plugin's own buffers in windows, and formats numbers.

local M = {}

---Shows a buffer in its window on this tab page, or else in a new window.
---@param name string Name of the buffer, such as `strata://context`.
---@param mods? table Modifiers of the command (|nvim_create_user_command()|, `smods`).
---@return integer buffer
---@return boolean fresh Whether the buffer was created.
function M.open(name, mods)
  local buffer = vim.fn.bufnr("^" .. vim.fn.escape(name, "\\*?[]{},") .. "$")
  if buffer ~= -1 and not vim.api.nvim_buf_is_loaded(buffer) then
    -- After |:bdelete|, a buffer has neither options nor mappings, so create it again.
    vim.api.nvim_buf_delete(buffer, { force = true })
    buffer = -1
  end
  local fresh = buffer == -1
  if fresh then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, name)
    vim.bo[buffer].bufhidden = "hide"
  end
  local window = vim.fn.bufwinid(buffer)
  if window ~= -1 then
    vim.api.nvim_set_current_win(window)
  else
    vim.cmd.split({ mods = mods })
    vim.api.nvim_win_set_buf(0, buffer)
  end
  return buffer, fresh
end

---Formats a number with thousands separators.
---@param number integer
---@return string
function M.number(number)
  local text = tostring(math.floor(number)):reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (text:gsub("^,", ""))
end

---Formats an amount of money: `$0.0123`, `$4.56`.
---@param amount number In US dollars.
---@return string
function M.dollars(amount)
  return (amount < 1 and "$%.4f" or "$%.2f"):format(amount)
end

return M
