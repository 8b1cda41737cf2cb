---@brief
---`:Strata compaction` opens `strata://compaction`, which shows when the next compaction is due, its profile, and what the last one freed.
---It follows the conversation. These keys are mapped in this buffer only:
---
--- Owns that buffer, and how compactions are described. Reads everything from the server each time.

local calls = require("strata.calls")
local display = require("strata.display")
local window = require("strata.window")

local M = {}

local NAME = "strata://compaction"

---Keys of the buffer: the key, the name of its <Plug> mapping, and a description.
---@type string[][]
M.KEYS = {
  { "c", "compact", "compact the conversation now" },
  { "u", "undo", "undo the last compaction" },
  { "R", "refresh", "reload" },
  { "q", "close", "close the window" },
  { "g?", "keys", "show these keys" },
}

-- Descriptions of what a trigger counts.
local MEASURED = {
  history_tokens = "tokens of the conversation",
  context_tokens = "tokens of the whole request",
  messages = "messages",
  exchanges = "exchanges",
}

---Describes who wrote a summary, or how a conversation was shortened without one.
local function author(compaction)
  local by = compaction.summarisedBy
  if by and by.kind == "extractive" then
    return "summarized without a model"
  elseif by then
    return ("%s wrote the summary"):format(by.model or (by.kind == "client" and "your model" or "the provider"))
  end
  return compaction.strategy == "topic_cut" and "the conversation now starts at the last topic change"
    or "the oldest messages were removed"
end

---Describes what a compaction did.
---@param compaction table A `strata/compaction` notification, or `last` of `compaction.status`.
---@return string
function M.words(compaction)
  local before, after = compaction.before, compaction.after
  local sizes = before
      and after
      and ("%d messages became %d, %s tokens became %s; "):format(
        before.messages,
        after.messages,
        window.number(before.tokens),
        window.number(after.tokens)
      )
    or ""
  return sizes .. author(compaction)
end

---Formats a time in the past.
local function ago(time_ms)
  local minutes = math.floor((os.time() - time_ms / 1000) / 60)
  if minutes < 1 then
    return "just now"
  end
  return minutes < 60 and ("%d min ago"):format(minutes) or os.date("%Y-%m-%d %H:%M", math.floor(time_ms / 1000))
end

---Describes when the next compaction is due.
local function next_one(status)
  local what = status.measured and MEASURED[status.measured]
  if not status.enabled then
    return "never: compaction.enabled is off"
  elseif status.running then
    return "running"
  elseif status.due then
    return "due"
  elseif not what then
    return "only on request"
  elseif status.distance == 0 then
    return "when it costs less than it saves"
  end
  return ("in %s %s"):format(window.number(status.distance), what)
end

---Returns the lines of the buffer for a reply of `compaction.status`.
---@param status table
---@return string[]
local function lines_of(status)
  local lines = {}
  local function add(name, value)
    lines[#lines + 1] = display.line(("%-20s%s"):format(name, value))
  end
  add("Next compaction", next_one(status))
  if status.why then
    add("", status.why)
  end
  add("Profile", status.profile)
  if status.measured then
    local what = MEASURED[status.measured]
    add("Threshold", ("%s %s, %g%% reached"):format(window.number(status.threshold), what, status.percent))
  end
  if status.limit then
    add("Request limit", window.number(status.limit) .. " tokens")
  end
  local last = status.last
  if last then
    local freed = window.number(last.before.tokens - last.after.tokens)
    add("Last compaction", ("%s by profile %s, freed %s tokens"):format(ago(last.timeMs), last.profile, freed))
    add("", M.words(last))
  else
    add("Last compaction", "none")
  end
  return lines
end

---Reloads the status.
---@param buffer integer
function M.refresh(buffer)
  calls.send("compaction.status", nil, function(err, status)
    if err then
      return calls.complain(err)
    end
    if not vim.api.nvim_buf_is_loaded(buffer) then
      return
    end
    vim.bo[buffer].modifiable = true
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines_of(status))
    vim.bo[buffer].modifiable = false
    vim.bo[buffer].modified = false
  end, vim.b[buffer].strata_root)
end

local actions = {}

function actions.compact()
  vim.cmd("Strata compact")
end

function actions.undo()
  vim.cmd("Strata undo")
end

function actions.refresh(buffer)
  M.refresh(buffer)
end

function actions.close()
  -- The last window cannot be closed.
  pcall(vim.cmd.close)
end

function actions.keys()
  local texts = { { "Keys of the compaction buffer\n", "Title" } }
  for _, key in ipairs(M.KEYS) do
    texts[#texts + 1] = { ("%-6s%s\n"):format(key[1], key[3]) }
  end
  vim.api.nvim_echo(texts, false, {})
end

local function prepare(buffer, root)
  vim.b[buffer].strata_root = root
  vim.bo[buffer].buftype = "nofile"
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].filetype = "strata-compaction"
  for _, key in ipairs(M.KEYS) do
    local plug = ("<Plug>(strata-compaction-%s)"):format(key[2])
    local about = { buffer = buffer, desc = "Strata: " .. key[3] }
    vim.keymap.set("n", plug, function()
      actions[key[2]](buffer)
    end, about)
    vim.keymap.set("n", key[1], plug, about)
  end
  local group = vim.api.nvim_create_augroup("strata.compaction." .. buffer, {})
  vim.api.nvim_create_autocmd("User", {
    group = group,
    pattern = { "StrataStatus", "StrataCompaction" },
    callback = function(event)
      if event.data.root == root and vim.fn.bufwinid(buffer) ~= -1 then
        M.refresh(buffer)
      end
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    group = group,
    buffer = buffer,
    callback = function()
      vim.api.nvim_del_augroup_by_id(group)
    end,
  })
end

---Opens the compaction buffer.
---@param root string
---@param mods? table
function M.open(root, mods)
  local buffer = window.open(NAME, mods)
  if vim.b[buffer].strata_root ~= root then
    prepare(buffer, root)
  end
  for name, value in pairs({ number = false, relativenumber = false, spell = false, wrap = true }) do
    vim.wo[0][0][name] = value
  end
  M.refresh(buffer)
end

return M
