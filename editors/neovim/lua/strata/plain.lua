--- Owns one difference between versions of Neovim: from 0.12 on a `null` of the server arrives as |vim.NIL|, before as nothing.

---The value with nothing where the server said `null`; changed in place. A request body stays as it is.
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
