--- Owns which commands lead from the lines that were shown to the lines that stand there now. Sends none of them.

local lines = require("strata.context.lines")

local M = {}

---A command.
---@class strata.Step
---@field command string
---@field arguments table
---@field rows? integer[] The line that each of its paths comes from.

---The file of which some lines are named.
local function file_of(name)
  return (name:gsub("#L%d+%-?%d*$", ""))
end

---The files of one half, by name, with their rows.
local function named(all, excluded)
  local found = {}
  for row, line in ipairs(all) do
    if line.kind == "file" and (line.section == lines.EXCLUDED) == excluded then
      found[line.path] = row
    end
  end
  return found
end

---@param before strata.Line[]
---@param now strata.Line[]
---@return strata.Step[]
function M.steps(before, now)
  local steps = {}
  local function add(command, wanted)
    local paths, rows = {}, {}
    for path, row in vim.spairs(wanted) do
      paths[#paths + 1], rows[#rows + 1] = path, row
    end
    if #paths > 0 then
      steps[#steps + 1] = { command = command, arguments = { paths = paths }, rows = rows }
    end
  end
  local function without(from, other)
    local left = {}
    for path, row in pairs(from) do
      left[path] = not other[path] and row or nil
    end
    return left
  end

  local selected, was_selected = named(now, false), named(before, false)
  local excluded, was_excluded = named(now, true), named(before, true)
  add("files.include", without(was_excluded, excluded))
  -- Lines cannot be taken out singly: the file goes, and what is left of it comes back.
  local gone, back = {}, without(selected, was_selected)
  for path in pairs(without(was_selected, selected)) do
    gone[file_of(path)] = 0
  end
  for path, row in pairs(selected) do
    back[path] = back[path] or gone[file_of(path)] and row
  end
  add("files.deselect", gone)
  add("files.exclude", without(excluded, was_excluded))
  add("files.select", back)

  local kept = {}
  for _, line in ipairs(now) do
    kept[line.id or line.url or -1] = true
  end
  for _, line in ipairs(before) do
    if line.kind == "page" and not kept[line.url] then
      table.insert(steps, { command = "url.remove", arguments = { url = line.url } })
    elseif line.kind == "message" and not line.hidden and not kept[line.id] then
      table.insert(steps, { command = "history.hide", arguments = { id = line.id, agent = "hidden" } })
    end
  end
  return steps
end

---The line of a file among the excluded ones.
---@param line strata.Line
---@return strata.Line
function M.excluded(line)
  local path = file_of(line.path)
  return { text = path, section = lines.EXCLUDED, kind = "file", path = path }
end

---The path of a file, and the first of the lines that are named.
---@param name string
---@return string path
---@return integer? first
function M.place(name)
  return (file_of(name):gsub("^%./", "")), tonumber(name:match("#L(%d+)%-?%d*$"))
end

return M
