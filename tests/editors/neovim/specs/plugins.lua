-- The API for other plugins.

it("assembles a prompt, records its answer, and continues from there", function(t)
  t.edit("src/greet.rs")
  local strata = require("strata")
  local done
  strata.select({ "src/greet.rs" }, function(err)
    assert(not err)
    strata.assemble({ prompt = "Who é?", format = "openai" }, function(problem, prompt)
      assert(not problem)
      t.contains(vim.inspect(prompt.body), "on disk")
      strata.record({ id = prompt.id, response = "Nobody 🦀." }, function(_, recorded)
        done = recorded
      end)
    end)
  end)
  t.until_(function()
    return done
  end, "recorded")
  t.equal(done.messages, 2)
  t.contains(strata.preview().text, "Nobody 🦀.")
end)

it("returns errors to the caller without showing them to the user", function(t)
  t.edit("src/greet.rs")
  local reply, err = require("strata").select({ "/etc/passwd" })
  t.equal(reply, nil)
  t.equal(err.code, -32602)
  t.equal(err.data.path, "paths[0]")
  vim.wait(100)
  t.silent("outside")
end)

it("passes the meter to listeners", function(t)
  local heard, event
  require("strata").on_status(function(meter)
    heard = meter
  end)
  local id = vim.api.nvim_create_autocmd("User", {
    pattern = "StrataStatus",
    callback = function(about)
      event = about.data
    end,
  })
  t.edit("src/greet.rs")
  t.until_(function()
    return heard and heard.index == "ready"
  end, "the meter")
  t.equal(event.root, t.repo)
  t.equal(event.meter.session, heard.session)
  t.contains(require("strata").statusline(), "% of window")
  vim.api.nvim_del_autocmd(id)
end)

it("calls the other listeners when one fails", function(t)
  local heard
  require("strata").on_status(function()
    error("a fault é")
  end)
  require("strata").on_status(function(meter)
    heard = meter
  end)
  t.edit("src/greet.rs")
  t.until_(function()
    return heard
  end, "the meter")
  t.said("a fault é")
end)

it("does not call a removed listener", function(t)
  local first, second = 0, 0
  local stop = require("strata").on_status(function()
    first = first + 1
  end)
  t.edit("src/greet.rs")
  t.until_(function()
    return first > 0
  end, "the meter")
  stop()
  first = 0
  require("strata").on_status(function()
    second = second + 1
  end)
  vim.cmd("Strata add")
  t.until_(function()
    return second > 0
  end, "the meter again")
  t.equal(first, 0)
end)

it("shows progress through vim.lsp.status", function(t)
  local seen = {}
  local id = vim.api.nvim_create_autocmd("LspProgress", {
    callback = function()
      table.insert(seen, vim.lsp.status())
    end,
  })
  t.edit("src/greet.rs")
  t.until_(function()
    return #seen > 0
  end, "progress")
  t.contains(table.concat(seen, " "), "Indexing")
  vim.api.nvim_del_autocmd(id)
end)

it("lets a plugin write summaries", function(t)
  local asked
  require("strata").summarize_with(function(request, reply)
    asked = request
    vim.defer_fn(function()
      reply("The summary é.", nil, "Writer 1")
    end, 50)
  end)
  t.edit("src/greet.rs")
  for number = 1, 30 do
    t.command("history.addExchange", { user = "question " .. number, assistant = ("words "):rep(200) })
  end
  t.command("compaction.run", { profile = "continuation" })
  t.contains(asked.prompt, "question 1")
  t.contains(t.prompt(), "The summary é.")
  t.equal(t.command("compaction.status").last.summarisedBy, { kind = "client", model = "Writer 1" })
  t.said("Writer 1 wrote the summary; :Strata undo reverts it")
  require("strata").summarize_with(nil)
end)

it("opens a preview of the prompt", function(t)
  t.command("context.auto", { budget = 0 })
  t.edit("src/greet.rs")
  vim.cmd("Strata add")
  vim.cmd("Strata preview Why é?")
  t.until_(function()
    return #t.lines() > 5
  end, "the preview")
  local text = table.concat(t.lines(), "\n")
  t.contains(text, '"on disk"')
  t.contains(text, "Why é?")
  assert(not vim.bo.modifiable and not vim.bo.modified)
  local row = vim.fn.search("^## `src/greet.rs`", "cw")
  vim.cmd("normal! zc")
  local first, last = vim.fn.foldclosed(row), vim.fn.foldclosedend(row)
  assert(first > 0 and last > row, "the file has no fold")
  local space = vim.api.nvim_create_namespace("strata.preview")
  local notes = vim.api.nvim_buf_get_extmarks(0, space, { first - 1, 0 }, { first - 1, -1 }, { details = true })
  t.contains(notes[1][4].virt_text[1][1], " tokens, ")
  vim.cmd("normal! zo")
  local preview = vim.api.nvim_get_current_buf()
  t.command("files.deselect", { paths = { "src/greet.rs" } })
  vim.cmd.normal("R")
  t.until_(function()
    return not table.concat(t.lines(preview), "\n"):find("on disk", 1, true)
  end, "the refreshed preview")
  t.command("context.auto", {})
end)

it("adds the context to chats of CodeCompanion and keeps it up to date", function(t)
  -- Mocks the parts of CodeCompanion that an extension uses. tests/editors/recipes/codecompanion runs the real one.
  local config = { interactions = { chat = { slash_commands = {} } } }
  package.loaded["codecompanion.config"] = config
  require("codecompanion._extensions.strata").setup({})
  local chat = { messages = {}, callbacks = {} }
  function chat:add_context(data, source, id)
    table.insert(self.messages, { content = data.content, context = { id = id }, source = source })
  end
  function chat:add_message(data, options)
    table.insert(self.messages, { content = data.content, context = options.context })
  end
  function chat:add_callback(event, callback)
    self.callbacks[event] = callback
  end
  t.edit("src/greet.rs")
  t.command("files.select", { paths = { "src/greet.rs" } })
  config.interactions.chat.slash_commands.strata.callback(chat)
  local first = chat.messages[1].content
  t.contains(first, "on disk")
  t.lacks(chat.messages[1].context.id, "<")
  t.command("files.deselect", { paths = { "src/greet.rs" } })
  chat.callbacks.on_before_submit(chat)
  t.equal(chat.messages[1].content, first)
  t.contains(chat.messages[2].content, '-    "on disk"')
  t.equal(chat.messages[2].context.id, chat.messages[1].context.id)
  config.interactions.chat.slash_commands.strata.callback(chat)
  t.equal(#chat.messages, 2)
end)

it("reports its health", function(t)
  t.edit("src/greet.rs")
  vim.g.strata = vim.tbl_extend("force", vim.g.strata, { colour = "red" })
  vim.cmd("checkhealth strata")
  local text = table.concat(t.lines(), "\n")
  t.contains(text, "strata 0.")
  t.contains(text, "index ready, 1 buffers attached")
  t.contains(text, "unknown option `colour` in vim.g.strata")
  t.lacks(text, "ERROR")
  vim.g.strata = { path = vim.g.strata.path }
end)

it("sends the changes of all buffers before a command", function(t)
  t.edit("src/lib.rs")
  t.edit("src/greet.rs")
  t.command("files.select", { paths = { "src/lib.rs", "src/greet.rs" } })
  for number = 1, 5 do
    local line = "// typed " .. number
    vim.api.nvim_buf_set_lines(0, 0, 0, false, { line })
    vim.cmd.buffer("#")
    t.contains(t.prompt(), line)
  end
end)

it("sets up its buffers again after they are deleted", function(t)
  t.edit("src/greet.rs")
  for _, name in ipairs({ "preview", "context" }) do
    for _ = 1, 2 do
      vim.cmd("Strata " .. name)
      t.until_(function()
        return #t.lines() > 1
      end, name)
      t.equal(vim.bo.buftype, name == "preview" and "nofile" or "acwrite")
      t.equal(vim.bo.filetype, name == "preview" and "markdown" or "strata-context")
      assert(vim.fn.maparg("R", "n") ~= "", "R is not mapped")
      vim.cmd.bdelete()
    end
  end
end)
