-- `:Strata ask` when curl or the provider does not do as expected. What is expected is in test_plugin.py.

---Puts a `curl` in front that prints this reply, asks, and gives what came of it: the error, and the commands that were sent.
local function ask(t, reply)
  local path, calls = vim.env.PATH, require("strata.calls")
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder)
  if reply then
    vim.fn.writefile({ reply }, folder .. "/reply")
    vim.fn.writefile({ "#!/bin/sh", ("exec /bin/cat '%s/reply'"):format(folder) }, folder .. "/curl")
    vim.fn.setfperm(folder .. "/curl", "rwx------")
  end
  vim.env.PATH = folder
  local sent, send = {}, calls.send
  calls.send = function(name, arguments, ...)
    sent[name] = arguments
    return send(name, arguments, ...)
  end
  local ended, problem
  require("strata.adapters.curl").ask("What é?", t.repo, function(err)
    ended, problem = true, err
  end)
  t.until_(function()
    return ended
  end, "an end")
  calls.send, vim.env.PATH = send, path
  return problem, sent
end

local function discarded(t, sent)
  t.equal(sent["prompt.record"], nil)
  local id = assert(sent["prompt.discard"]).id
  local _, err = require("strata").record({ id = id, response = "Late." })
  assert(err, "the prompt is not pending any more")
  t.equal(#t.command("history.get").messages, 0)
end

it("gives the prompt up when nobody can read the reply", function(t)
  t.edit("src/greet.rs")
  local replies = {
    '{"detail": "é proxy"}',
    '"text"',
    '{"content": null}',
    '{"content": [{"type": "tool_use", "name": "run"}], "usage": {"input_tokens": 1, "output_tokens": 1}}',
  }
  for _, reply in ipairs(replies) do
    local problem, sent = ask(t, reply)
    t.contains(problem.message, "has no text that can be read: ")
    discarded(t, sent)
  end
  t.said("é proxy")
end)

it("gives the prompt up when the reply is no JSON", function(t)
  t.edit("src/greet.rs")
  local problem, sent = ask(t, "<html>Bad gateway</html>")
  t.contains(problem.message, "Bad gateway")
  discarded(t, sent)
end)

it("gives the prompt up when there is no curl", function(t)
  t.edit("src/greet.rs")
  local problem, sent = ask(t, nil)
  t.contains(problem.message, "curl does not run")
  discarded(t, sent)
end)

it("records an answer without a bill", function(t)
  t.edit("src/greet.rs")
  local problem = ask(t, '{"content": [{"type": "text", "text": "It is é."}]}')
  t.equal(problem, nil)
  t.equal(#t.command("history.get").messages, 2)
  t.contains(table.concat(t.lines(), "\n"), "It is é.")
end)
