--- Owns how the plugin's own buffers come onto the screen. Knows nothing about what stands in them.

local M = {}

---Shows a buffer: in the window of this tab page that has it, else in a new one.
---@param name string Such as `strata://context`.
---@param mods? table The modifiers of the command (|nvim_create_user_command()|, `smods`).
---@return integer buffer
---@return boolean fresh Whether the buffer was just made.
function M.open(name, mods)
  local buffer = vim.fn.bufnr("^" .. vim.fn.escape(name, "\\*?[]{},") .. "$")
  if buffer ~= -1 and not vim.api.nvim_buf_is_loaded(buffer) then
    -- What |:bdelete| leaves has neither options nor mappings.
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

---A number as people write it.
---@param number integer
---@return string
function M.number(number)
  local text = tostring(math.floor(number)):reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (text:gsub("^,", ""))
end

return M
