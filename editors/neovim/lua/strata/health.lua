--- Implements `:checkhealth strata`.

local options = require("strata.options")
local server = require("strata.server")

local M = {}

local function check_neovim()
  vim.health.start("Neovim")
  if vim.fn.has("nvim-0.10") == 1 then
    vim.health.ok("version " .. tostring(vim.version()))
  else
    vim.health.error("requires Neovim 0.10 or later")
  end
  for _, problem in ipairs(options.problems()) do
    vim.health.warn(problem, "see :help strata-options")
  end
end

---Runs a program. If it cannot be started, returns the same as if it had failed.
local function run(command, patience)
  local ok, said = pcall(function()
    return vim.system(command, { text = true }):wait(patience)
  end)
  return ok and said or { code = -1, stderr = tostring(said) }
end

---@return string?
local function check_program()
  vim.health.start("the server")
  local program = server.program()
  if not program then
    vim.health.error("program not found", {
      "download it: nvim -l scripts/install.lua (in the plugin's directory)",
      "or install it: pip install strata-context, or npm install --global strata-context",
      "or build it: cargo build --release",
      'or set its location: vim.g.strata = { path = "..." }',
    })
    return nil
  end
  local said = run({ program, "--version" }, 10000)
  if said.code == 0 then
    vim.health.ok(("%s (%s)"):format(vim.trim(said.stdout), vim.fn.exepath(program)))
  else
    vim.health.error(program .. " cannot be run: " .. vim.trim(said.stderr or ""))
  end
  return program
end

---Shows the output of `strata doctor`.
local function check_doctor(program)
  vim.health.start("strata doctor")
  local said = run({ program, "doctor" }, 30000)
  for line in vim.gsplit(vim.trim(said.stdout or ""), "\n") do
    vim.health.info(line)
  end
  if said.code ~= 0 then
    vim.health.warn("unexpected error: " .. vim.trim(said.stderr or ""))
  end
end

local function check_clients()
  vim.health.start("workspaces")
  local clients = vim.lsp.get_clients({ name = "strata" })
  if #clients == 0 then
    vim.health.info("no server is running; open a file in a workspace, or run :Strata start")
  end
  for _, client in ipairs(clients) do
    local root = client.config.root_dir
    local reply, err = require("strata.calls").wait("server.status", nil, root, 10000)
    if not reply then
      vim.health.error(("%s: %s"):format(root, err.message))
    else
      local buffers = #vim.tbl_keys(client.attached_buffers)
      vim.health.ok(
        ("%s: %d files, index %s, %d buffers attached"):format(root, reply.files, reply.index, buffers)
      )
      if buffers ~= reply.openDocuments then
        vim.health.warn(
          ("%s: the server tracks %d of the %d open buffers"):format(root, reply.openDocuments, buffers)
        )
      end
      for _, note in ipairs(reply.notes) do
        vim.health.info(note)
      end
    end
  end
end

local function check_curl()
  vim.health.start(":Strata ask (optional)")
  if vim.fn.executable("curl") == 1 then
    vim.health.ok("curl is installed")
  else
    vim.health.info("curl is not installed; :Strata ask needs it if no provider is configured (docs/ask.md)")
  end
end

---Called by `:checkhealth strata`.
function M.check()
  check_neovim()
  local program = check_program()
  if program then
    check_doctor(program)
  end
  check_clients()
  check_curl()
end

return M
