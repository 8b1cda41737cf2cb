--- Converts edits of the context buffer to commands.

local lines = require("strata.context.lines")

local M = {}

---A command to run.
---@class strata.Step
---@field command string
---@field arguments table
---@field rows? integer[] Line of the buffer that each path comes from.

---Removes the line range from a path.
local function file_of(name)
  return (name:gsub("#L%d+%-?%d*$", ""))
end

---Returns the excluded or the other files by name, with their rows.
local function named(all, excluded)
  local found = {}
  for row, line in ipairs(all) do
    if line.kind == "file" and (line.section == lines.EXCLUDED) == excluded then
      found[line.path] = row
    end
  end
  return found
end

---Returns the commands that change the context from the lines `before` to the lines `now`.
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
  -- A line range cannot be deselected, so deselect the file and select its remaining ranges again.
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

---Returns the line for a file in the section of excluded files.
---@param line strata.Line
---@return strata.Line
function M.excluded(line)
  local path = file_of(line.path)
  return { text = path, section = lines.EXCLUDED, kind = "file", path = path }
end

---Splits a name into the path of the file and the first line of its range.
---@param name string
---@return string path
---@return integer? first
function M.place(name)
  return (file_of(name):gsub("^%./", "")), tonumber(name:match("#L(%d+)%-?%d*$"))
end

return M
