--- Shows text from outside: names of files, titles, messages of the server, words of a model. Whoever wrote it may want it to be read as
--- something else, such as another line, another message, or an item of a statusline. No other module calls |vim.notify()| or sets 'winbar'.

local M = {}

-- Ranges of invisible characters that are not ASCII, as in the server: controls, `Default_Ignorable_Code_Point`, line and paragraph
-- separators.
local INVISIBLE = {
  { 0x80, 0x9f },
  { 0xad, 0xad },
  { 0x34f, 0x34f },
  { 0x61c, 0x61c },
  { 0x115f, 0x1160 },
  { 0x17b4, 0x17b5 },
  { 0x180b, 0x180f },
  { 0x200b, 0x200f },
  { 0x2028, 0x202e },
  { 0x2060, 0x206f },
  { 0x3164, 0x3164 },
  { 0xfe00, 0xfe0f },
  { 0xfeff, 0xfeff },
  { 0xffa0, 0xffa0 },
  { 0xfff0, 0xfffb },
  { 0x1bca0, 0x1bca3 },
  { 0x1d173, 0x1d17a },
  { 0xe0000, 0xe0fff },
}

local function escaped(character)
  local code = vim.fn.char2nr(character)
  for _, range in ipairs(INVISIBLE) do
    if code >= range[1] and code <= range[2] then
      return ("\\u{%x}"):format(code)
    end
  end
  return nil
end

---Returns a text on one line, with invisible characters as escapes.
---@param text string
---@return string
function M.line(text)
  local visible = text:gsub("[%z\1-\31\127]", function(control)
    return ("\\u{%x}"):format(control:byte())
  end)
  return (visible:gsub("[\194-\244][\128-\191]+", escaped))
end

---Returns a text for 'statusline' and 'winbar'.
---@param text string
---@return string
function M.bar(text)
  return (M.line(text):gsub("%%", "%%%%"))
end

---Notifies the user, on one line.
---@param message string
---@param level? integer
function M.notify(message, level)
  vim.notify("Strata: " .. M.line(message), level)
end

---Sets the line above a window: a title, a text, and a hint at the right.
---@param at integer
---@param title string
---@param text string
---@param hint string
function M.winbar(at, title, text, hint)
  vim.wo[at][0].winbar = ("%%#Title#%s%%* %s%%=%s "):format(M.bar(title), M.bar(text), M.bar(hint))
end

return M
