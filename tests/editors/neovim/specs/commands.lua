-- `:Strata` and its completion.

it("adds the current file with its unsaved text", function(t)
  t.edit("src/greet.rs")
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { "// typed é" })
  vim.cmd("Strata add")
  t.said("src/greet.rs is in the context")
  t.contains(t.prompt(), "// typed é\npub fn greet() {")
end)

it("adds lines of a file", function(t)
  t.edit("src/greet.rs")
  vim.cmd("2,3Strata add")
  t.said("is in the context")
  t.contains(t.prompt(), '"on disk"')
  t.equal(t.command("files.list").files[1].lines, { "L2-3" })
end)

it("takes paths relative to the current directory", function(t)
  t.edit("src/greet.rs")
  vim.cmd.cd("src")
  vim.cmd("Strata add lib.rs greet.rs#L1-2")
  t.said("2 files are in the context")
  vim.cmd("Strata remove lib.rs")
  t.said("src/lib.rs is removed from the context")
  t.equal(#t.command("files.list").files, 1)
end)

it("toggles, excludes and includes files", function(t)
  t.edit("src/greet.rs")
  vim.cmd("Strata toggle")
  t.said("src/greet.rs is in the context")
  vim.cmd("Strata toggle")
  t.said("src/greet.rs is removed from the context")
  vim.cmd("Strata exclude")
  t.said("src/greet.rs is excluded")
  t.lacks(t.prompt(), "src/greet.rs")
  vim.cmd("Strata include")
  t.said("src/greet.rs is included again")
  t.contains(t.prompt(), "src/greet.rs")
end)

it("toggles the file that was current when the command ran", function(t)
  t.edit("src/lib.rs")
  t.edit("src/greet.rs")
  vim.cmd("Strata toggle")
  vim.cmd.buffer("#")
  t.said("src/greet.rs is in the context")
  t.equal(#t.command("files.list").files, 1)
end)

it("takes a `$` in a file name literally", function(t)
  vim.env.STRATA_NAME = "another"
  vim.fn.writefile({ "// the page of a user" }, t.repo .. "/src/$STRATA_NAME.rs")
  t.edit("src/greet.rs")
  vim.cmd("Strata add src/$STRATA_NAME.rs")
  t.said("src/$STRATA_NAME.rs is in the context")
end)

-- A name that Neovim's own expand() and file completion would pass to the shell.
local COMMAND = "$`touch${IFS}pwned`.rs"

local function not_run(t)
  t.equal(vim.uv.fs_stat(t.repo .. "/pwned"), nil)
end

it("adds a file whose name is a shell command, without running it", function(t)
  vim.fn.writefile({ "// the page of a stranger" }, t.repo .. "/" .. COMMAND)
  t.edit("src/greet.rs")
  vim.o.wildcharm = vim.fn.char2nr("\t")
  vim.api.nvim_feedkeys(":Strata add \t\r", "tx", false)
  not_run(t)
  t.said(COMMAND .. " is in the context")
  t.contains(t.prompt(), "// the page of a stranger")
  for _, front in ipairs({ "", "%", "%:h", "~", "~/", "$HOME/", "$NO/$" }) do
    vim.cmd(("Strata add %s`touch${IFS}pwned`"):format(front))
  end
  vim.cmd(("Strata add %s#L1-1"):format(COMMAND))
  not_run(t)
end)

it("completes names that are shell commands, without running them", function(t)
  vim.fn.mkdir(t.repo .. "/`touch pwned`")
  vim.fn.writefile({ "" }, t.repo .. "/`touch pwned`/inner.rs")
  vim.fn.writefile({ "" }, t.repo .. "/" .. COMMAND)
  local complete = vim.iter(require("strata.subcommands")):find(function(subcommand)
    return subcommand.name == "add"
  end).complete
  local inner = complete("`touch pwned`/")
  not_run(t)
  t.equal(inner, { "`touch pwned`/inner.rs" })
  t.equal(complete("`touch pwned`"), { "`touch pwned`/" })
  t.equal(complete("$"), { COMMAND })
  t.equal(complete("$`touch${IFS}pwned`"), { COMMAND })
  not_run(t)
end)

it("expands `~`, variables and `%`", function(t)
  t.edit("src/greet.rs")
  local home, name = vim.env.HOME, vim.fs.basename(t.repo)
  vim.env.HOME = vim.fs.dirname(t.repo)
  local completed = vim.fn.getcompletion(("Strata add ~/%s/src/l"):format(name), "cmdline")
  for _, word in ipairs({ "~/%s/src/lib.rs", "$HOME/%s/notes" }) do
    vim.cmd("Strata add " .. word:format(name))
  end
  vim.env.HOME = home
  t.equal(completed, { ("~/%s/src/lib.rs"):format(name) })
  t.said("src/lib.rs is in the context")
  t.said("notes is in the context")
  vim.cmd("Strata add %")
  t.said("src/greet.rs is in the context")
  vim.cmd("Strata exclude %:p:h")
  t.said("2 files are excluded")
  vim.cmd("Strata include %:h")
  t.said("2 files are included again")
  vim.cmd("Strata add %#L1-2")
  t.until_(function()
    return vim.iter(t.command("files.list").files):any(function(file)
      return vim.deep_equal(file.lines, { "L1-2" })
    end)
  end, "lines of this file")
end)

it("takes a file name that begins with `~` literally", function(t)
  vim.fn.mkdir(t.repo .. "/~")
  vim.fn.writefile({ "" }, t.repo .. "/~/own.rs")
  vim.fn.writefile({ "" }, t.repo .. "/~root.rs")
  t.edit("src/greet.rs")
  vim.cmd("Strata add ~/own.rs")
  t.said("~/own.rs is in the context")
  vim.cmd("Strata add ~root.rs")
  t.said("~root.rs is in the context")
end)

it("explains errors", function(t)
  t.edit("src/greet.rs")
  vim.cmd("Strata add /etc/passwd")
  t.said("it is outside the workspace folders")
  t.silent("paths[0]")
  vim.cmd("Strata nonsense")
  t.said("unknown subcommand: `:Strata nonsense`")
end)

it("adds files whose names suggest secrets only after confirmation", function(t)
  t.edit("src/greet.rs")
  vim.cmd("Strata add .env")
  t.said("needs confirmation")
  t.equal(#t.command("files.list").files, 0)
  vim.cmd("Strata! add .env")
  t.said(".env is in the context")
end)

it("completes subcommands and their arguments", function(t)
  t.edit("src/greet.rs")
  local function complete(line)
    return vim.fn.getcompletion(line, "cmdline")
  end
  t.equal(complete("Strata pre"), { "preview" })
  t.equal(#complete("Strata "), #require("strata.subcommands"))
  t.equal(complete("Strata policy r"), { "ripple" })
  t.equal(complete("Strata add src/g"), { "src/greet.rs" })
  t.equal(complete("Strata remove "), {})
  t.command("files.select", { paths = { "src/lib.rs" } })
  t.equal(complete("Strata remove "), { "src/lib.rs" })
  t.equal(complete("Strata status "), {})
end)

it("renames, forks and deletes sessions", function(t)
  t.edit("src/greet.rs")
  t.command("history.addExchange", { user = "first é", assistant = "answer" })
  vim.cmd("Strata session rename A name")
  t.said("conversation renamed")
  t.equal(t.command("session.list").sessions[1].name, "A name")
  vim.cmd("Strata session fork")
  t.said("switched to a copy")
  t.equal(#t.command("session.list").sessions, 2)
  vim.cmd("Strata session delete")
  t.said("conversation deleted")
  t.equal(#t.command("session.list").sessions, 1)
  vim.cmd("Strata session")
  t.said("expected new, reset, fork, rename or delete")
end)

it("resumes a chosen session", function(t)
  t.edit("src/greet.rs")
  t.command("history.addExchange", { user = "first é", assistant = "answer" })
  t.command("session.new")
  t.equal(#t.command("history.get").messages, 0)
  vim.ui.select = function(items, options, chosen)
    t.contains(options.format_item(items[1]), "first é")
    chosen(items[1])
  end
  vim.cmd("Strata sessions")
  t.said("conversation resumed")
  t.equal(#t.command("history.get").messages, 2)
end)

it("adds the file of a chosen definition", function(t)
  t.edit("src/greet.rs")
  vim.ui.select = function(items, options, chosen)
    t.contains(options.format_item(items[1]), "src/greet.rs")
    chosen(items[1])
  end
  vim.cmd("Strata symbols greet")
  t.said("src/greet.rs is in the context")
end)

it("searches conversations and notes", function(t)
  t.edit("src/greet.rs")
  t.command("history.addExchange", { user = "the walrus é", assistant = "answer" })
  vim.cmd("Strata memory a note about walrus")
  t.said("note saved")
  local items
  vim.ui.select = function(found, _, chosen)
    items = found
    for _, hit in ipairs(found) do
      if hit.source == "fragment" then
        chosen(hit)
      end
    end
  end
  vim.cmd("Strata search walrus")
  t.said("a note about walrus")
  t.equal(#items, 2)
end)

it("copies a prompt", function(t)
  t.edit("src/greet.rs")
  vim.cmd("Strata add")
  vim.cmd("Strata copy openai What é?")
  t.said("copied the prompt")
  local body = vim.json.decode(vim.fn.getreg('"'))
  t.contains(vim.inspect(body.messages[#body.messages].content), "What é?")
  vim.cmd("Strata copy markdown")
  t.until_(function()
    return vim.startswith(vim.fn.getreg('"'), "#")
  end, "markdown")
end)

it("changes the policy and the model", function(t)
  t.edit("src/greet.rs")
  vim.cmd("Strata policy flat")
  t.said("policy flat for")
  vim.cmd("Strata policy default")
  t.said("policy ledger for")
  vim.cmd("Strata auto 2000")
  t.said("automatic context is on: up to 2000 tokens of code per question")
  vim.cmd("Strata auto 0")
  t.said("automatic context is off")
  vim.cmd("Strata model gpt-4o")
  t.said("the model for prompts is now gpt-4o")
  t.until_(function()
    return t.command("server.settings").settings.model == "gpt-4o"
  end, "the model")
end)

it("compacts the conversation with a message, and undoes it", function(t)
  t.edit("src/greet.rs")
  for number = 1, 30 do
    t.command("history.addExchange", { user = "question " .. number, assistant = ("words "):rep(200) })
  end
  local before = t.command("history.count").tokens
  vim.cmd("Strata compact continuation")
  t.said("conversation compacted (continuation)")
  assert(t.command("history.count").tokens < before)
  vim.cmd("Strata undo")
  t.said("compaction undone")
  t.equal(t.command("history.count").tokens, before)
end)

it("explains cache misses, and shows how full the window is", function(t)
  t.edit("src/greet.rs")
  vim.cmd("Strata explain")
  t.said("No prompt has been recorded yet")
  local echoed
  local echo = vim.api.nvim_echo
  vim.api.nvim_echo = function(chunks)
    echoed = chunks
  end
  vim.cmd("Strata status")
  t.until_(function()
    return echoed
  end, "status")
  vim.api.nvim_echo = echo
  t.contains(echoed[1][1], "of 1,000,000 tokens")
end)

it("works before a file is open", function(t)
  vim.cmd("Strata add src/greet.rs")
  t.said("src/greet.rs is in the context")
end)

it("defines mappings, but no keys", function(t)
  t.edit("src/greet.rs")
  vim.cmd.normal(vim.keycode("<Plug>(strata-add)"))
  t.said("src/greet.rs is in the context")
  for _, mode in ipairs({ "n", "x", "i", "o" }) do
    for _, mapping in ipairs(vim.api.nvim_get_keymap(mode)) do
      assert(vim.startswith(mapping.lhs, "<Plug>") or not (mapping.desc or ""):find("Strata"), mapping.lhs)
    end
  end
end)

it("adds a chosen file that is not open", function(t)
  t.edit("src/greet.rs")
  vim.ui.select = function(items, options, chosen)
    for _, item in ipairs(items) do
      if options.format_item(item):find("src/lib.rs", 1, true) then
        return chosen(item)
      end
    end
  end
  vim.cmd("Strata pick")
  t.said("src/lib.rs is in the context")
end)

it("runs a chosen subcommand", function(t)
  t.edit("src/greet.rs")
  vim.ui.select = function(items, options, chosen)
    for _, item in ipairs(items) do
      assert(not options.format_item(item):find("|", 1, true), options.format_item(item))
      if item.name == "add" then
        chosen(item)
      end
    end
  end
  vim.cmd("Strata")
  t.said("src/greet.rs is in the context")
end)

it("uses the workspace of the current file", function(t)
  local other = vim.fs.dirname(t.repo) .. "/other"
  vim.fn.mkdir(other .. "/.git", "p")
  vim.fn.writefile({ "elsewhere" }, other .. "/elsewhere.rs")
  t.edit("src/greet.rs")
  vim.cmd("Strata add")
  t.said("src/greet.rs is in the context")
  vim.cmd.edit(other .. "/elsewhere.rs")
  t.attached()
  t.equal(#vim.lsp.get_clients({ name = "strata" }), 2)
  vim.cmd("Strata add")
  t.said("elsewhere.rs is in the context")
  t.equal(t.command("files.list").files[1].path, "elsewhere.rs")
  t.equal(#t.command("files.list").files, 1)
  vim.cmd("Strata context")
  t.until_(function()
    return vim.list_contains(t.lines(), "elsewhere.rs")
  end, "the context of the other workspace")
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { "not written" })
  vim.cmd.wincmd("p")
  vim.cmd.buffer(t.repo .. "/src/greet.rs")
  vim.cmd("Strata context")
  t.until_(function()
    return vim.list_contains(t.lines(), "src/greet.rs")
  end, "the context of this workspace")
  t.equal(vim.list_contains(t.lines(), "not written"), false)
  require("strata.server").stop(other)
end)

it("cancels a command", function(t)
  t.edit("src/greet.rs")
  vim.cmd("Strata cancel")
  t.said("nothing to cancel")
  -- Pause the server, so that it cannot answer in time.
  local pid = t.server()
  vim.uv.kill(pid, "sigstop")
  local problem
  require("strata").command("symbols.map", nil, function(err)
    problem = err
  end)
  vim.cmd("Strata cancel")
  t.equal(problem and problem.message, "cancelled")
  vim.uv.kill(pid, "sigcont")
  t.command("files.list")
end)
