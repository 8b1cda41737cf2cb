-- The context buffer.

local function open(t)
  vim.cmd("Strata context")
  t.until_(function()
    return vim.bo.filetype == "strata-context" and #t.lines() > 1
  end, "the context buffer")
  return vim.api.nvim_get_current_buf()
end

local function row_of(t, text)
  for row, line in ipairs(t.lines()) do
    if line == text then
      return row
    end
  end
  error(("%q is not in %s"):format(text, vim.inspect(t.lines())))
end

local function on(t, text)
  vim.api.nvim_win_set_cursor(0, { row_of(t, text), 0 })
end

---Waits until a file has the expected state.
local function state(t, path, expected)
  t.until_(function()
    for _, file in ipairs(t.command("files.list").files) do
      if file.path == path then
        return file.state == expected
      end
    end
    return expected == "deselected"
  end, path .. " is " .. expected)
end

---Returns the virtual text of a line.
local function note(text, t)
  local space = vim.api.nvim_get_namespaces()["strata.context"]
  local row = row_of(t, text) - 1
  local marks = vim.api.nvim_buf_get_extmarks(0, space, { row, 0 }, { row, -1 }, { details = true })
  local notes = vim.tbl_map(function(mark)
    return mark[4].virt_text and mark[4].virt_text[1][1] or ""
  end, marks)
  return table.concat(notes)
end

it("lists files by tier with their tokens", function(t)
  t.edit("src/greet.rs")
  t.command("files.select", { paths = { "src/greet.rs", "src/lib.rs#L1-2" } })
  t.command("files.exclude", { paths = { "notes" } })
  t.command("history.addExchange", { user = "Why\nso?", assistant = "Because é." })
  open(t)
  local lines = table.concat(t.lines(), "\n") .. "\n"
  t.contains(lines, "\nsrc/greet.rs\n")
  t.contains(lines, "\nsrc/lib.rs#L1-2\n")
  t.contains(lines, "\n# excluded\nnotes\n# conversation\n0 user: Why so?\n1 assistant: Because é.\n")
  assert(note("src/greet.rs", t):match("%d+ tokens, open"), note("src/greet.rs", t))
  t.contains(note(t.lines()[1], t), "system prompt")
  assert(not vim.bo.modified)
end)

it("applies edits when the buffer is written", function(t)
  t.edit("src/greet.rs")
  t.command("files.select", { paths = { "src/greet.rs" } })
  open(t)
  on(t, "src/greet.rs")
  vim.cmd.normal("dd")
  vim.api.nvim_buf_set_lines(0, 1, 1, false, { "src/l*.rs" })
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { "# excluded", "notes" })
  t.equal(t.command("files.list").files[1].path, "src/greet.rs")
  vim.cmd.write()
  assert(not vim.bo.modified)
  state(t, "src/greet.rs", "deselected")
  state(t, "src/lib.rs", "selected")
  state(t, "notes", "excluded")
  row_of(t, "src/lib.rs")
end)

it("changes lines of a file, and removes one of two ranges", function(t)
  t.edit("src/greet.rs")
  t.command("files.select", { paths = { "src/greet.rs#L1-1", "src/greet.rs#L3-3" } })
  open(t)
  on(t, "src/greet.rs#L1")
  vim.cmd.normal("dd")
  vim.cmd.write()
  t.equal(t.command("files.list").files[1].lines, { "L3" })
  on(t, "src/greet.rs#L3")
  vim.api.nvim_set_current_line("src/greet.rs#L1-2")
  vim.cmd.write()
  t.equal(t.command("files.list").files[1].lines, { "L1-2" })
end)

it("marks invalid lines and stays modified", function(t)
  t.edit("src/greet.rs")
  open(t)
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { "/etc/passwd" })
  vim.cmd.write()
  t.said("it is outside the workspace folders")
  assert(vim.bo.modified)
  t.equal(vim.diagnostic.get(0)[1].lnum, 0)
  vim.cmd("edit!")
  t.until_(function()
    return not vim.bo.modified and #t.lines() > 1 and not vim.list_contains(t.lines(), "/etc/passwd")
  end, "the edits are discarded")
  t.equal(#vim.diagnostic.get(0), 0)
end)

it("deselects, excludes and includes with keys", function(t)
  t.edit("src/greet.rs")
  t.command("files.select", { paths = { "src/greet.rs", "src/lib.rs" } })
  open(t)
  on(t, "src/greet.rs")
  vim.cmd.normal("-")
  state(t, "src/greet.rs", "deselected")
  on(t, "src/lib.rs")
  vim.cmd.normal("x")
  state(t, "src/lib.rs", "excluded")
  on(t, "src/lib.rs")
  vim.cmd.normal("x")
  state(t, "src/lib.rs", "deselected")
end)

it("applies keys to all selected lines", function(t)
  t.edit("src/greet.rs")
  t.command("files.select", { paths = { "src/greet.rs", "src/lib.rs" } })
  open(t)
  on(t, "src/greet.rs")
  vim.cmd.normal(("V%dG-"):format(row_of(t, "src/lib.rs")))
  state(t, "src/greet.rs", "deselected")
  state(t, "src/lib.rs", "deselected")
  t.equal(vim.fn.mode(), "n")
end)

it("pins and hides messages", function(t)
  t.edit("src/greet.rs")
  t.command("history.addExchange", { user = "Why?", assistant = "Because." })
  open(t)
  local function message(id)
    return t.command("history.get").messages[id + 1]
  end
  on(t, "0 user: Why?")
  vim.cmd.normal("p")
  assert(message(0).pin)
  t.contains(note("0 user: Why?", t), "pinned")
  vim.cmd.normal("p")
  assert(not message(0).pin)
  on(t, "1 assistant: Because.")
  vim.cmd.normal("-")
  t.equal(message(1).agent, "hidden")
  on(t, "1 assistant: Because.")
  vim.cmd.normal("-")
  t.equal(message(1).agent, "shown")
  on(t, "0 user: Why?")
  vim.cmd.normal("dd")
  vim.cmd.write()
  t.equal(message(0).agent, "hidden")
end)

it("follows outside changes, unless it is being edited", function(t)
  t.edit("src/greet.rs")
  local buffer = open(t)
  t.command("files.select", { paths = { "src/lib.rs" } })
  t.until_(function()
    return vim.list_contains(t.lines(buffer), "src/lib.rs")
  end, "the selected file")
  vim.api.nvim_buf_set_lines(buffer, -1, -1, false, { "src/greet.rs" })
  local version = t.command("files.deselect", { paths = { "src/lib.rs" } }).stateVersion
  t.until_(function()
    return require("strata").meter().stateVersion >= version
  end, "the meter")
  vim.wait(300)
  row_of(t, "src/lib.rs")
  row_of(t, "src/greet.rs")
end)

it("folds by tier", function(t)
  t.edit("src/greet.rs")
  t.command("files.exclude", { paths = { "notes" } })
  open(t)
  on(t, "notes")
  vim.cmd.normal({ "zM", bang = true })
  local start = vim.fn.foldclosed(row_of(t, "notes"))
  t.equal(t.lines()[start], "# excluded")
  t.contains(vim.fn.foldtextresult(start), "# excluded  (1 line) not in prompts")
end)

it("opens files in the previous window", function(t)
  t.edit("src/greet.rs")
  t.command("files.select", { paths = { "src/lib.rs#L3-3" } })
  open(t)
  on(t, "src/lib.rs#L3")
  vim.cmd.normal(vim.keycode("<CR>"))
  t.equal(vim.fn.expand("%:t"), "lib.rs")
  t.equal(vim.fn.line("."), 3)
  t.equal(#vim.api.nvim_list_wins(), 2)
  t.attached()
end)

it("opens files with any name", function(t)
  local names = { "$`touch${IFS}pwned`.rs", "`=writefile([],'pwned')`.rs", "%.rs", "~[a]{b} #.rs" }
  for _, name in ipairs(names) do
    vim.fn.writefile({ "" }, t.repo .. "/" .. name)
  end
  t.edit("src/greet.rs")
  t.command("files.select", { paths = { "./" } })
  for _, name in ipairs(names) do
    open(t)
    on(t, name)
    vim.cmd.normal(vim.keycode("<CR>"))
    t.equal(vim.fs.basename(vim.api.nvim_buf_get_name(0)), name)
    t.attached()
  end
  t.equal(vim.uv.fs_stat(t.repo .. "/pwned"), nil)
end)

it("cannot be undone to an empty buffer", function(t)
  t.edit("src/greet.rs")
  open(t)
  local lines = t.lines()
  vim.cmd("silent undo")
  t.equal(t.lines(), lines)
end)

it("lists web pages, and removes them", function(t)
  t.edit("src/greet.rs")
  for _, name in ipairs({ "one", "two" }) do
    t.command("url.add", { url = "https://example.org/" .. name, title = "Title " .. name, content = "text" })
  end
  open(t)
  t.contains(note("https://example.org/one", t), "Title one")
  on(t, "https://example.org/one")
  vim.cmd.normal("dd")
  vim.cmd.write()
  t.equal(#t.command("url.list").urls, 1)
  on(t, "https://example.org/two")
  vim.cmd.normal("-")
  t.equal(#t.command("url.list").urls, 0)
end)
