---@brief
---`:Strata context` opens what the model sees as an editable list. Each tier is a heading and a fold; sizes are shown as virtual
---text.
---
--->
---    # L0                    901 tokens, cache mark, system prompt
---    src/lib.rs              453 tokens, cached
---    src/parser.rs#L10-40    120 tokens, cached
---    # active                102 tokens
---    src/new.rs              88 tokens, open
---    # excluded              not in prompts
---    Cargo.lock
---    # conversation          2 messages
---    0 user: Why does this fail?
---    1 assistant: Because ...
---<
---
---Delete a line to deselect a file: the model then sees only its outline. Add a path, a folder, a glob or lines of a file under
---any tier to select it; the server decides on the tier. Move a line below `# excluded` (you can type this heading) to exclude the
---file. Delete the line of a message to hide it from the model, or of a web page to remove it. Your edits take effect when you write
---the buffer with |:w|; |:e!| discards them.
---
---These keys take effect immediately, and apply pending edits first. They are mapped in this buffer only:
---
--- Owns the context buffer. Remembers only what it showed last, and reads the context from the server each time.

local calls = require("strata.calls")
local edits = require("strata.context.edits")
local lines = require("strata.context.lines")
local display = require("strata.display")
local window = require("strata.window")

local M = {}

local NAME = "strata://context"

-- How long `:w` waits for the server, in milliseconds.
local PATIENCE = 10000
local space = vim.api.nvim_create_namespace("strata.context")
local wrong = vim.api.nvim_create_namespace("strata.context.wrong")

---Keys of the buffer: the key, the name of its <Plug> mapping, and a description.
---@type string[][]
M.KEYS = {
  {
    "-",
    "drop",
    "deselect a file, or include an excluded one; hide or show a message; remove a web page",
  },
  { "x", "exclude", "exclude a file, or include it again" },
  { "p", "pin", "pin or unpin a message; compactions keep pinned messages verbatim" },
  { "<CR>", "follow", "open the file" },
  { "R", "refresh", "discard edits and reload" },
  { "g?", "keys", "show these keys" },
}

---The content that was shown last in a buffer.
---@class strata.Shown
---@field lines strata.Line[]
---@field version? integer `stateVersion` of the session.

---@type table<integer, strata.Shown>
local shown = {}

local function read(buffer)
  local all = lines.read(vim.api.nvim_buf_get_lines(buffer, 0, -1, false))
  -- A line shows its name or address with escapes, so take what it stands for from the line that was shown.
  local known = {}
  for _, line in ipairs(shown[buffer] and shown[buffer].lines or {}) do
    known[line.text] = line
  end
  for _, line in ipairs(all) do
    local same = known[line.text]
    if same and same.kind == line.kind then
      line.path, line.url = same.path, same.url
    end
  end
  return all
end

---Highlights the lines and shows the notes after them.
local function decorate(buffer, all)
  vim.api.nvim_buf_clear_namespace(buffer, space, 0, -1)
  local width = 0
  for _, line in ipairs(all) do
    width = line.kind == "message" and width or math.max(width, vim.fn.strdisplaywidth(line.text))
  end
  width = math.min(width, 60) + 4
  for row, line in ipairs(all) do
    local dim = line.section == lines.EXCLUDED or line.hidden
    local group = line.kind == "heading" and "Title" or dim and "NonText"
    if group then
      vim.api.nvim_buf_set_extmark(buffer, space, row - 1, 0, { end_col = #line.text, hl_group = group })
    end
    if line.notes and #line.notes > 0 then
      -- Neovim adds a space before the note.
      local pad = (" "):rep(math.max(width - vim.fn.strdisplaywidth(line.text), 2) - 1)
      local note = { pad .. display.line(table.concat(line.notes, ", ")), line.tone }
      vim.api.nvim_buf_set_extmark(buffer, space, row - 1, 0, { virt_text = { note }, virt_text_pos = "eol" })
    end
  end
end

local function title(buffer, report)
  local text = ""
  if report.model then
    local cached = (report.expectedPercent or 0) > 0
    local share = cached and (", %g%% cached"):format(report.expectedPercent) or ""
    text = ("%s, %s tokens%s"):format(report.model, window.number(report.tokens), share)
  end
  for _, at in ipairs(vim.fn.win_findbuf(buffer)) do
    display.winbar(at, "Context", text, "g? shows the keys")
  end
end

local function write_down(buffer, all)
  local texts = vim.tbl_map(function(line)
    return line.text
  end, all)
  local views = {}
  for _, at in ipairs(vim.fn.win_findbuf(buffer)) do
    local row = vim.api.nvim_win_get_cursor(at)[1]
    views[at] = { row = row, text = vim.api.nvim_buf_get_lines(buffer, row - 1, row, false)[1] }
  end
  -- Undo must not restore an earlier report of the server.
  local levels = vim.bo[buffer].undolevels
  vim.bo[buffer].undolevels = -1
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, texts)
  vim.bo[buffer].undolevels = levels
  vim.bo[buffer].modified = false
  decorate(buffer, all)
  vim.diagnostic.reset(wrong, buffer)
  for at, view in pairs(views) do
    local row = math.min(view.row, #texts)
    for other, text in ipairs(texts) do
      row = text == view.text and text ~= "" and other or row
    end
    vim.api.nvim_win_set_cursor(at, { row, 0 })
  end
end

---Requests the whole context. Retries if another command changes it in between.
local function fetch(root, tries, done)
  local names = { "files.list", "tiers.report", "url.list", "history.get" }
  calls.gather(names, root, function(problems, replies)
    -- A context that does not fit has no report, but its files can be listed.
    local too_large = problems["tiers.report"]
    problems["tiers.report"] = nil
    local _, problem = next(problems)
    if problem then
      return done(problem)
    end
    local files, history = replies["files.list"], replies["history.get"]
    if history.stateVersion ~= files.stateVersion and tries > 0 then
      return fetch(root, tries - 1, done)
    end
    if too_large then
      calls.complain(too_large)
    end
    local report = replies["tiers.report"] or {}
    local all = lines.write(files.files, report, replies["url.list"].urls, history.messages)
    done(nil, report, all, files.stateVersion)
  end)
end

local function take(buffer, report, all, version)
  if shown[buffer] and vim.api.nvim_buf_is_loaded(buffer) then
    shown[buffer] = { lines = all, version = version }
    write_down(buffer, all)
    title(buffer, report)
  end
end

---Reloads the buffer and discards edits.
---@param buffer integer
---@param done? fun()
function M.refresh(buffer, done)
  fetch(vim.b[buffer].strata_root, 2, function(err, report, all, version)
    if err then
      calls.complain(err)
    else
      take(buffer, report, all, version)
    end
    if done then
      done()
    end
  end)
end

---Reloads the buffer after a change, unless it has unsaved edits.
local function follow(buffer)
  fetch(vim.b[buffer].strata_root, 2, function(err, ...)
    if not err and shown[buffer] and not vim.bo[buffer].modified then
      take(buffer, ...)
    end
  end)
end

---Marks the line that the server rejected.
local function mark(buffer, step, err)
  local at = tonumber((vim.tbl_get(err, "data", "path") or ""):match("^paths%[(%d+)%]"))
  local row = at and step.rows and step.rows[at + 1] or 0
  if row > 0 then
    vim.diagnostic.set(
      wrong,
      buffer,
      { { lnum = row - 1, col = 0, message = calls.words(err), source = "strata" } }
    )
  end
  calls.complain(err)
end

---Runs commands in sequence, up to the first that fails.
local function run(buffer, steps, done)
  local step = table.remove(steps, 1)
  if not step then
    return M.refresh(buffer, done)
  end
  calls.send(step.command, step.arguments, function(err)
    if err then
      mark(buffer, step, err)
      return done()
    end
    run(buffer, steps, done)
  end, vim.b[buffer].strata_root)
end

---Applies the edits, followed by additional steps.
---@param buffer integer
---@param now? strata.Line[] Edited lines. Defaults to those of the buffer.
---@param more? strata.Step[]
function M.apply(buffer, now, more)
  vim.diagnostic.reset(wrong, buffer)
  local steps = edits.steps(shown[buffer].lines, now or read(buffer))
  local done = false
  run(buffer, vim.list_extend(steps, more or {}), function()
    done = true
  end)
  -- Wait, because `:wq` must know whether the write succeeded.
  vim.wait(PATIENCE, function()
    return done
  end, 5)
end

---Returns the line that was shown for the same message.
local function message(buffer, line)
  return vim.iter(shown[buffer].lines):find(function(other)
    return other.id == line.id
  end) or {}
end

---Changes the current or selected lines and applies the edits. `change` returns the new line, or nil to delete it, and a step.
local function at_once(buffer, change)
  local first, last = vim.fn.line("v"), vim.fn.line(".")
  if vim.fn.mode():match("[vV\22]") then
    vim.cmd.normal({ "\27", bang = true })
  end
  local now, more = {}, {}
  for row, line in ipairs(read(buffer)) do
    local step
    if row >= math.min(first, last) and row <= math.max(first, last) then
      line, step = change(line)
    end
    now[#now + 1] = line
    more[#more + 1] = step
  end
  M.apply(buffer, now, more)
end

local actions = {}

function actions.drop(buffer)
  at_once(buffer, function(line)
    if line.kind == "file" or line.kind == "page" then
      return nil
    end
    if line.kind == "message" then
      local agent = message(buffer, line).hidden and "shown" or "hidden"
      return line, { command = "history.hide", arguments = { id = line.id, agent = agent } }
    end
    return line
  end)
end

function actions.exclude(buffer)
  at_once(buffer, function(line)
    if line.kind ~= "file" then
      return line
    end
    return line.section ~= lines.EXCLUDED and edits.excluded(line) or nil
  end)
end

function actions.pin(buffer)
  at_once(buffer, function(line)
    if line.kind ~= "message" then
      display.notify("only messages can be pinned")
      return line
    end
    local pinned = not message(buffer, line).pinned
    return line, { command = "history.pin", arguments = { id = line.id, pinned = pinned } }
  end)
end

function actions.follow(buffer)
  local line = read(buffer)[vim.fn.line(".")]
  if line.kind ~= "file" then
    return
  end
  local path, first = edits.place(line.path)
  local full = vim.startswith(path, "/") and path or vim.b[buffer].strata_root .. "/" .. path
  -- Open the file in the previous window, or else in a new one.
  if vim.fn.winnr("#") ~= 0 and vim.fn.winnr("#") ~= vim.fn.winnr() then
    vim.cmd.wincmd("p")
  else
    vim.cmd.split()
  end
  -- With magic, Neovim would evaluate a name that begins with "`=" as an expression, even if it is escaped.
  vim.cmd.edit({ args = { full }, magic = { file = false, bar = false } })
  if first then
    vim.api.nvim_win_set_cursor(0, { math.min(first, vim.api.nvim_buf_line_count(0)), 0 })
  end
end

function actions.refresh(buffer)
  M.refresh(buffer)
end

function actions.keys()
  local texts = { { "Keys of the context buffer; :w applies your edits\n", "Title" } }
  for _, key in ipairs(M.KEYS) do
    texts[#texts + 1] = { ("%-6s%s\n"):format(key[1], key[3]) }
  end
  vim.api.nvim_echo(texts, false, {})
end

local function map_keys(buffer)
  for _, key in ipairs(M.KEYS) do
    local plug = ("<Plug>(strata-context-%s)"):format(key[2])
    local about = { buffer = buffer, desc = "Strata: " .. key[3] }
    local modes = vim.list_contains({ "drop", "exclude", "pin" }, key[2]) and { "n", "x" } or { "n" }
    vim.keymap.set(modes, plug, function()
      actions[key[2]](buffer)
    end, about)
    vim.keymap.set(modes, key[1], plug, about)
  end
end

---Value of 'foldexpr': each heading begins a fold.
---@return string
function M.fold()
  return vim.startswith(vim.fn.getline(vim.v.lnum), "# ") and ">1" or "="
end

---Value of 'foldtext': the heading, the number of lines below it, and its notes.
---@return string
function M.fold_text()
  local row = vim.v.foldstart
  local known = shown[vim.api.nvim_get_current_buf()].lines[row] or {}
  local below, notes = vim.v.foldend - row, table.concat(known.notes or {}, ", ")
  return ("%s  (%d %s) %s "):format(vim.fn.getline(row), below, below == 1 and "line" or "lines", notes)
end

local function prepare(buffer, root)
  shown[buffer] = { lines = {} }
  vim.b[buffer].strata_root = root
  vim.bo[buffer].buftype = "acwrite"
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].filetype = "strata-context"
  map_keys(buffer)
  local group = vim.api.nvim_create_augroup("strata.context." .. buffer, {})
  local function on(event, action)
    vim.api.nvim_create_autocmd(event, { group = group, buffer = buffer, callback = action })
  end
  on("BufWriteCmd", function()
    M.apply(buffer)
  end)
  on("BufReadCmd", function()
    M.refresh(buffer)
  end)
  on("BufWipeout", function()
    shown[buffer] = nil
    vim.api.nvim_del_augroup_by_id(group)
  end)
  vim.api.nvim_create_autocmd("User", {
    group = group,
    pattern = "StrataStatus",
    callback = function(event)
      local other = shown[buffer].version ~= event.data.meter.stateVersion
      local visible = vim.fn.bufwinid(buffer) ~= -1
      if event.data.root == root and other and visible then
        follow(buffer)
      end
    end,
  })
end

---Opens the context buffer.
---@param root string
---@param mods? table
function M.open(root, mods)
  local buffer = window.open(NAME, mods)
  local other = vim.b[buffer].strata_root ~= root or not shown[buffer]
  if other then
    prepare(buffer, root)
  end
  local options = {
    foldmethod = "expr",
    foldexpr = "v:lua.require'strata.context'.fold()",
    foldtext = "v:lua.require'strata.context'.fold_text()",
    foldlevel = 99,
    wrap = false,
    number = false,
    relativenumber = false,
    spell = false,
    cursorline = true,
  }
  for name, value in pairs(options) do
    vim.wo[0][0][name] = value
  end
  -- Keep unsaved edits.
  if other or not vim.bo[buffer].modified then
    M.refresh(buffer)
  end
end

return M
