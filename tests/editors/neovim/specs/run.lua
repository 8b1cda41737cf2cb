-- Runs a file of specs: nvim --clean -u NONE --headless -l specs/run.lua FILE. Each `it` uses its own repository and server.
local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
local top = vim.fn.fnamemodify(here, ":h:h:h:h")
vim.opt.runtimepath:prepend(top .. "/editors/neovim")
vim.g.strata = { path = assert(vim.env.STRATA_BIN) }
vim.o.swapfile = false
vim.o.hidden = true
vim.cmd("filetype plugin on")
vim.cmd.runtime("plugin/strata.lua")

-- Timeout in milliseconds, reached only if something hangs.
local LIMIT = 60000

---Messages shown to the user.
---@type { message: string, level?: integer }[]
local said = {}
vim.notify = function(message, level)
  table.insert(said, { message = message, level = level })
end

local t = {}

---Waits until a condition returns a true value, and returns the value.
function t.until_(condition, what)
  local found
  assert(
    vim.wait(LIMIT, function()
      found = condition()
      return found
    end, 10),
    "timed out waiting for: " .. what
  )
  return found
end

function t.equal(one, other)
  if not vim.deep_equal(one, other) then
    error(("%s\nis not\n%s"):format(vim.inspect(one), vim.inspect(other)), 2)
  end
end

function t.contains(text, part)
  if not text:find(part, 1, true) then
    error(("%q is not in\n%s"):format(part, text), 2)
  end
end

function t.lacks(text, part)
  if text:find(part, 1, true) then
    error(("%q is in\n%s"):format(part, text), 2)
  end
end

---Waits for a message that contains a text.
function t.said(part)
  return t.until_(function()
    return vim.iter(said):find(function(one)
      return one.message:find(part, 1, true)
    end)
  end, ("a message with %q among %s"):format(part, vim.inspect(said)))
end

function t.silent(part)
  for _, one in ipairs(said) do
    t.lacks(one.message, part)
  end
end

function t.lines(buffer)
  return vim.api.nvim_buf_get_lines(buffer or 0, 0, -1, false)
end

---Waits until the server is attached to the current buffer.
function t.attached()
  t.until_(function()
    return vim.lsp.get_clients({ bufnr = 0, name = "strata" })[1]
  end, "the server to attach")
end

---Opens a file of the repository, and waits until the server is ready.
function t.edit(path)
  vim.cmd.edit(vim.fn.fnameescape(t.repo .. "/" .. path))
  t.attached()
  t.until_(function()
    local reply = require("strata").command("server.status")
    return reply and reply.index == "ready"
  end, "the index")
end

---Returns the process ids of the servers. Skips zombies, for which the path of the program cannot be read.
local function servers()
  local pid = vim.fn.getpid()
  local children = vim.fn.readfile(("/proc/%d/task/%d/children"):format(pid, pid))[1] or ""
  return vim.tbl_filter(function(child)
    return vim.uv.fs_readlink(("/proc/%d/exe"):format(child)) == vim.env.STRATA_BIN
  end, vim.tbl_map(tonumber, vim.split(children, " ", { trimempty = true })))
end

---Returns the process id of the only server.
function t.server()
  t.equal(#servers(), 1)
  return servers()[1]
end

---Runs a command that must succeed.
function t.command(name, arguments)
  local reply, err = require("strata").command(name, arguments)
  assert(reply, err and err.message)
  return reply
end

---Returns the text that the model would read.
function t.prompt()
  return t.command("prompt.preview").text
end

local function write(path, text)
  local full = t.repo .. "/" .. path
  vim.fn.mkdir(vim.fs.dirname(full), "p")
  vim.fn.writefile(vim.split(text, "\n"), full, "b")
end

local failed, passed = {}, 0

function _G.it(name, test)
  local folder = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname()))
  t.repo = ("%s/repo%d"):format(folder, passed + #failed)
  vim.fn.mkdir(t.repo .. "/.git", "p")
  write("src/greet.rs", 'pub fn greet() {\n    "on disk"\n}\n')
  write("src/lib.rs", "mod greet;\n\npub fn add() {}\n")
  write("notes", "no type\n")
  write(".env", "KEY=secret\n")
  vim.cmd.cd(t.repo)
  said = {}
  local ok, problem = xpcall(test, debug.traceback, t)
  if ok then
    passed = passed + 1
  else
    failed[#failed + 1] = ("%s\n%s"):format(name, problem)
  end
  require("strata.server").stop(t.repo)
  vim.wait(LIMIT, function()
    return #servers() == 0 and #vim.lsp.get_clients({ name = "strata" }) == 0
  end, 10)
  vim.cmd("silent! %bwipeout!")
end

dofile(arg[1])
for _, problem in ipairs(failed) do
  io.stderr:write("FAILED ", problem, "\n\n")
end
io.write(("%d passed, %d failed\n"):format(passed, #failed))
os.exit((#failed > 0 or passed == 0) and 1 or 0)
