-- Attaching buffers, and crashes and restarts of the server.

it("attaches files without a type, and buffers that get a name later", function(t)
  t.edit("notes")
  t.equal(vim.bo.filetype, "")
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { "typed é" })
  t.command("files.select", { paths = { "notes" } })
  t.contains(t.prompt(), "typed é\nno type")
  vim.cmd.enew()
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { "never saved é" })
  vim.cmd.file("later")
  t.attached()
  t.command("files.select", { paths = { "later" } })
  t.contains(t.prompt(), "never saved é")
end)

it("ignores buffers that are not files of a workspace", function()
  vim.cmd.enew()
  vim.cmd.edit("zip://somewhere/else.rs")
  vim.cmd("help help")
  vim.wait(200)
  assert(#vim.lsp.get_clients({ name = "strata" }) == 0)
end)

it("names the workspace after its folder", function(t)
  t.edit("src/greet.rs")
  t.lacks(t.prompt(), "-repo")
  t.contains(t.prompt(), "Repository: `" .. vim.fs.basename(t.repo) .. "`")
end)

it("uses one server for all files of a workspace", function(t)
  t.edit("src/greet.rs")
  t.edit("src/lib.rs")
  t.edit("notes")
  t.equal(#vim.lsp.get_clients({ name = "strata" }), 1)
end)

it("reads settings from the plugin's options and from vim.lsp.config", function(t)
  local path = vim.g.strata.path
  vim.g.strata = { path = path, settings = { model = "gpt-4o" }, trusted = { vim.fs.dirname(t.repo) } }
  vim.fn.writefile({ "Say é." }, t.repo .. "/AGENTS.md")
  if vim.lsp.config then
    -- Discard the resolved configuration.
    vim.lsp.config("strata", {})
  end
  t.edit("src/greet.rs")
  t.equal(t.command("server.settings").settings.model, "gpt-4o")
  t.contains(t.prompt(), "Say é.")
  vim.g.strata = { path = path, settings = { model = "gpt-4o" }, trusted = { "/elsewhere" } }
  vim.cmd("Strata restart")
  t.until_(function()
    local reply = require("strata").preview()
    return reply and not reply.text:find("Say é.", 1, true)
  end, "a prompt without the rules")
  vim.g.strata = { path = path }
  if vim.lsp.config then
    vim.lsp.config("strata", {})
  end
end)

it("answers pending calls when the server crashes", function(t)
  t.edit("src/greet.rs")
  local answered, problem
  -- Pause the server, so that it cannot answer. Its threads may continue for a moment.
  local pid = t.server()
  vim.uv.kill(pid, "sigstop")
  repeat
    answered = false
    require("strata").command("files.list", nil, function(err)
      answered, problem = true, err
    end)
  until not vim.wait(200, function()
    return answered
  end, 5)
  vim.uv.kill(pid, "sigkill")
  t.until_(function()
    return problem
  end, "an answer")
  t.contains(problem.message, "the server stopped before it answered")
  t.said("the server crashed and is restarting")
end)

it("resumes the session and all typed text when the server crashes", function(t)
  t.edit("src/greet.rs")
  t.edit("notes")
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { "typed é" })
  t.command("files.select", { paths = { "src/greet.rs", "notes" } })
  t.command("history.addExchange", { user = "Remember 🦀", assistant = "I do" })
  t.until_(function()
    return require("strata").meter()
  end, "the meter")
  for _ = 1, 3 do
    local old = vim.lsp.get_clients({ name = "strata" })[1].id
    local pid = t.server()
    vim.uv.kill(pid, "sigkill")
    -- Type while no server is running.
    vim.api.nvim_buf_set_lines(0, 0, 0, false, { "typed meanwhile 漢字" })
    t.until_(function()
      local client = vim.lsp.get_clients({ name = "strata", bufnr = 0 })[1]
      return client and client.id ~= old
    end, "another server")
    vim.api.nvim_buf_set_lines(0, 0, 0, false, { "typed after" })
    local text = t.prompt()
    t.contains(text, table.concat(t.lines(), "\n"))
    t.contains(text, "Remember 🦀")
    t.contains(text, '"on disk"')
    t.equal(t.command("server.status").openDocuments, 2)
  end
end)

it("does not restart a server that crashes immediately", function(t)
  local path = vim.fn.tempname()
  vim.fn.writefile({ "#!/bin/sh", "exit 3" }, path)
  vim.fn.setfperm(path, "rwx------")
  local client = vim.tbl_extend("force", require("strata.server").config(), { cmd = { path, "serve" } })
  client.root_dir = t.repo
  require("strata.server").start(t.repo, client)
  t.said("the server keeps crashing")
end)

it("stays stopped, and resumes its session when it is started again", function(t)
  t.edit("src/greet.rs")
  t.command("files.select", { paths = { "src/greet.rs" } })
  t.until_(function()
    return require("strata").meter()
  end, "the meter")
  vim.cmd("Strata stop")
  t.until_(function()
    return not require("strata.server").running(t.repo, true)
  end, "stopped")
  vim.wait(300)
  t.silent("died")
  t.equal(require("strata").statusline(), "")
  vim.cmd("Strata start")
  t.until_(function()
    return #vim.lsp.get_clients({ name = "strata", bufnr = 0 }) == 1
  end, "started")
  t.equal(t.command("files.list").files[1].path, "src/greet.rs")
end)

it("reports a missing program once", function(t)
  local path = vim.g.strata.path
  vim.g.strata = { path = "/nowhere/strata" }
  if vim.lsp.config then
    vim.lsp.config("strata", {})
  end
  vim.cmd.edit("src/greet.rs")
  vim.cmd.edit("src/lib.rs")
  vim.cmd("Strata add")
  t.said("program `strata` not found; see :checkhealth strata")
  t.said("the server is not running")
  vim.g.strata = { path = path }
end)

it("starts the program in vim.lsp.config", function(t)
  if not vim.lsp.config then
    return -- Neovim 0.10 has no vim.lsp.config.
  end
  local path = vim.g.strata.path
  vim.g.strata = { path = "/nowhere/strata" }
  vim.lsp.config("strata", { cmd = { path, "serve" }, settings = { strata = { model = "gpt-4o" } } })
  t.edit("src/greet.rs")
  t.equal(t.command("server.settings").settings.model, "gpt-4o")
  vim.g.strata = { path = path }
end)

it("falls back to the current directory as the root, but never to the home directory", function(t)
  local root = require("strata.server").root
  local plain = vim.fs.dirname(t.repo) .. "/plain"
  vim.fn.mkdir(plain .. "/inside", "p")
  vim.cmd.cd(plain)
  t.equal(root(plain .. "/inside/file"), plain)
  t.equal(root(t.repo .. "/src/greet.rs"), t.repo)
  t.equal(root(vim.fs.dirname(plain) .. "/outside"), nil)
  local home = vim.env.HOME
  vim.env.HOME = plain
  t.equal(root(plain .. "/inside/file"), nil)
  vim.env.HOME = home
end)

it("keeps a chosen model when the server crashes", function(t)
  t.edit("src/greet.rs")
  vim.cmd("Strata model gpt-4o")
  t.said("the model for prompts is now gpt-4o")
  local old = t.server()
  vim.uv.kill(old, "sigkill")
  t.until_(function()
    local reply = require("strata").command("server.settings")
    return reply and reply.settings.model == "gpt-4o" and t.server() ~= old
  end, "the same model")
end)

it("answers immediately if the program cannot be started", function(t)
  local path, bad = vim.g.strata.path, vim.fn.tempname()
  local function use(program)
    vim.g.strata = { path = program }
    if vim.lsp.config then
      vim.lsp.config("strata", { cmd = { program, "serve" } })
    end
  end
  -- Like a program for another system, the file exists, but cannot be run.
  vim.fn.writefile({ "#!/nowhere/sh" }, bad)
  vim.fn.setfperm(bad, "rwx------")
  use(bad)
  local problem
  require("strata.calls").send("files.list", nil, function(err)
    problem = err
  end, t.repo)
  t.until_(function()
    return problem
  end, "an answer")
  t.contains(problem.message, "the server is not running")
  use(path)
end)
