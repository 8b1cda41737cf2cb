--- Hides a difference between versions of Neovim: from 0.12 on, a `null` in a reply is |vim.NIL| instead of nil.

---Replaces |vim.NIL| with nil in a reply, in place. Request bodies are left unchanged.
---@generic T
---@param value T
---@return T
local function plain(value)
  if type(value) == "table" then
    for key, inner in pairs(value) do
      if inner == vim.NIL then
        value[key] = nil
      elseif key ~= "body" then
        plain(inner)
      end
    end
  end
  return value
end

return plain
