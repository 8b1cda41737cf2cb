--- Converts the server's report on files, tiers and messages to lines with notes, and parses the lines of an edited buffer.

local display = require("strata.display")
local window = require("strata.window")

local M = {}

---Headings of sections whose lines are not files to select.
M.EXCLUDED, M.PAGES, M.CONVERSATION = "excluded", "web pages", "conversation"

---A line of the buffer.
---@class strata.Line
---@field text string
---@field section string Heading above the line, without `# `.
---@field kind "heading"|"file"|"page"|"message"|"empty"
---@field path? string
---@field url? string Address of a web page.
---@field id? integer Number of a message.
---@field notes? string[] Notes shown after the line.
---@field tone? string Highlight group of the notes.
---@field hidden? boolean Whether the message is hidden from the model.
---@field pinned? boolean

local TIERS = { "L0", "L1", "L2", "L3", "active" }

-- Items without their own line, by the first word of their key.
local OTHERS = {
  { "system", "system prompt" },
  { "symbol", "outline" },
  { "url", "web page" },
  { "history", "message" },
}

local function tokens(weight)
  return weight and ("%s tokens"):format(window.number(weight))
end

local function heading(text, notes)
  return { text = "# " .. text, section = text, kind = "heading", notes = notes, tone = "Comment" }
end

---Returns the name of a file or of some of its lines, as used in the buffer and in commands.
local function name_of(path, lines)
  local name = lines and ("%s#%s"):format(path, lines) or path
  return vim.startswith(name, "# ") and "./" .. name or name
end

---Returns notes about a file, most important first, and their highlight group.
local function about_file(file, item)
  if file.problem then
    return { file.problem }, "DiagnosticWarn"
  end
  local notes = { tokens(item and item.tokens or file.tokens) }
  if file.source == "buffer" then
    notes[#notes + 1] = vim.tbl_get(file, "sync", "state") == "in_step" and "open" or "out of sync"
  elseif file.source == "given" then
    notes[#notes + 1] = "provided by the client"
  end
  if item and item.kept then
    notes[#notes + 1] = "cached"
  end
  if item and item.n then
    local goal = item.threshold and (" of %d"):format(item.threshold) or ""
    notes[#notes + 1] = ("unchanged %d%s turns"):format(item.n, goal)
  end
  if item and item.lastBreak then
    notes[#notes + 1] = ("%s in turn %d"):format(item.lastBreak.reason, item.lastBreak.turn)
  end
  return notes, "Comment"
end

local function about_tier(tier, items)
  local notes = { tokens(tier.tokens) }
  if tier.marked then
    notes[#notes + 1] = "cache mark"
  end
  for _, other in ipairs(OTHERS) do
    local count = #vim.tbl_filter(function(item)
      return item.tier == tier.tier and item.key:match("^%a+") == other[1]
    end, items)
    if count > 0 then
      local words = count == 1 and "%d %s" or "%d %ss"
      notes[#notes + 1] = other[1] == "system" and other[2] or words:format(count, other[2])
    end
  end
  return notes
end

---Returns an entry for each selected line range of a file, or one for the whole file.
local function entries_of(file, items)
  local entries = {}
  for _, lines in ipairs(file.lines or { false }) do
    local name = name_of(file.path, lines or nil)
    local item = items["file:" .. (lines and ("%s#%s"):format(file.path, lines) or file.path)]
    local notes, tone = about_file(file, item)
    local tier = item and item.tier or file.tier or "active"
    entries[#entries + 1] =
      { text = display.line(name), section = tier, kind = "file", path = name, notes = notes, tone = tone }
  end
  return entries
end

local function one_line(content)
  local texts = {}
  for _, block in ipairs(type(content) == "table" and content or { { text = content } }) do
    texts[#texts + 1] = block.text or ("(%s)"):format((block.type or "?"):gsub("_", " "))
  end
  return vim.fn.strcharpart((table.concat(texts, " "):gsub("%s+", " ")), 0, 100)
end

local function message_line(message)
  local hidden, notes = message.agent == "hidden", {}
  if hidden then
    notes[#notes + 1] = "hidden from the model"
  end
  if message.pin then
    notes[#notes + 1] = "pinned"
  end
  if message.kind ~= "normal" then
    notes[#notes + 1] = (message.kind:gsub("_", " "))
  end
  return {
    text = display.line(("%d %s: %s"):format(message.id, message.role, one_line(message.content))),
    section = M.CONVERSATION,
    kind = "message",
    id = message.id,
    hidden = hidden,
    pinned = message.pin ~= nil,
    notes = notes,
    tone = "Special",
  }
end

local function page_line(page)
  local notes = { tokens(page.tokens), page.title }
  return { text = display.line(page.url), section = M.PAGES, kind = "page", url = page.url, notes = notes, tone = "Comment" }
end

---Returns the lines of the buffer.
---@param files table[] `files` of `strata.files.list`.
---@param report table Reply of `strata.tiers.report`. May be empty.
---@param pages table[] `urls` of `strata.url.list`.
---@param messages table[] `messages` of `strata.history.get`.
---@return strata.Line[]
function M.write(files, report, pages, messages)
  local items, tiers, entries = {}, {}, {}
  for _, item in ipairs(report.items or {}) do
    items[item.key] = item
  end
  for _, tier in ipairs(report.tiers or {}) do
    tiers[tier.tier] = tier
  end
  local excluded = {}
  for _, file in ipairs(files) do
    if file.state == "excluded" then
      local name = name_of(file.path)
      table.insert(excluded, { text = display.line(name), section = M.EXCLUDED, kind = "file", path = name })
    else
      vim.list_extend(entries, entries_of(file, items))
    end
  end
  local lines = {}
  for _, name in ipairs(TIERS) do
    local own = vim.tbl_filter(function(entry)
      return entry.section == name
    end, entries)
    local tier = tiers[name]
    if #own > 0 or tier and (tier.items > 0 or tier.tokens > 0) then
      table.insert(lines, heading(name, tier and about_tier(tier, report.items)))
      vim.list_extend(lines, own)
    end
  end
  if #excluded > 0 then
    table.insert(lines, heading(M.EXCLUDED, { "not in prompts" }))
    vim.list_extend(lines, excluded)
  end
  if #pages > 0 then
    table.insert(lines, heading(M.PAGES))
    vim.list_extend(lines, vim.tbl_map(page_line, pages))
  end
  if #messages > 0 then
    table.insert(
      lines,
      heading(M.CONVERSATION, { #messages == 1 and "1 message" or ("%d messages"):format(#messages) })
    )
    vim.list_extend(lines, vim.tbl_map(message_line, messages))
  end
  if #entries == 0 and #excluded == 0 then
    local hint = { "no files selected; write paths here, then :w" }
    table.insert(lines, 1, { text = "", section = "active", kind = "empty", notes = hint, tone = "Comment" })
  end
  return lines
end

---Parses the lines of the buffer.
---@param texts string[]
---@return strata.Line[]
function M.read(texts)
  local section = "active"
  return vim.tbl_map(function(text)
    local head = text:match("^# (.*)")
    section = head or section
    if head then
      return { text = text, section = section, kind = "heading" }
    elseif vim.trim(text) == "" then
      return { text = text, section = section, kind = "empty" }
    elseif section == M.PAGES and text:match("^%a+://") then
      return { text = text, section = section, kind = "page", url = vim.trim(text) }
    elseif section == M.CONVERSATION and text:match("^%d+ %a+: ") then
      return { text = text, section = section, kind = "message", id = tonumber(text:match("^%d+")) }
    end
    return { text = text, section = section, kind = "file", path = vim.trim(text) }
  end, texts)
end

return M
