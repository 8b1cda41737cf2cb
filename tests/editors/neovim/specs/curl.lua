-- `:Strata ask` when curl or the provider does not do as expected. What is expected is in test_plugin.py.

---Puts a `curl` in front that prints these replies in turn, asks, and gives what came of it: the error, and the commands that were sent.
local function ask(t, reply, more)
  local path, calls = vim.env.PATH, require("strata.calls")
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder)
  if reply then
    for number, text in ipairs({ reply, more or reply }) do
      vim.fn.writefile({ text }, ("%s/reply%d"):format(folder, number))
    end
    local script = [[
#!/bin/sh
cd '%s'
if [ -e asked ]; then exec /bin/cat reply2; fi
echo yes >asked
exec /bin/cat reply1]]
    vim.fn.writefile(vim.split(script:format(folder), "\n"), folder .. "/curl")
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
    t.contains(problem.message, "has no readable text: ")
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
  t.contains(problem.message, "cannot run curl")
  discarded(t, sent)
end)

it("records an answer without a bill", function(t)
  t.edit("src/greet.rs")
  local problem = ask(t, '{"content": [{"type": "text", "text": "It is é."}]}')
  t.equal(problem, nil)
  t.equal(#t.command("history.get").messages, 2)
  t.contains(table.concat(t.lines(), "\n"), "It is é.")
end)

local function talk(t)
  for number = 1, 12 do
    local text = ("words and more "):rep(200)
    t.command("history.addExchange", { user = ("question %d %s"):format(number, text), assistant = text })
  end
end

it("compacts and sends once more what the provider finds too long", function(t)
  t.edit("src/greet.rs")
  talk(t)
  local refused = '{"type": "error", "error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}'
  local problem = ask(t, refused, '{"content": [{"type": "text", "text": "It fits é."}]}')
  t.equal(problem, nil)
  t.said("the model rejected the prompt as too long; compacting the conversation and sending it again")
  t.said("conversation compacted (topic): ")
  local messages = t.command("history.get").messages
  t.equal(messages[#messages].content[1].text, "It fits é.")
  t.equal(messages[#messages - 1].content[1].text, "What é?")
end)

it("says what is too large when the provider finds it too long twice", function(t)
  t.edit("src/greet.rs")
  talk(t)
  local problem = ask(t, '{"type": "error", "error": {"message": "prompt is too long: 210000 tokens"}}')
  t.contains(problem.message, "too long again")
  t.contains(problem.message, "largest")
end)

it("says what was left out of a prompt", function(t)
  t.edit("src/greet.rs")
  vim.fn.writefile({ ("words and more "):rep(40000) }, t.repo .. "/large.txt")
  t.command("server.reindex")
  t.command("files.select", { paths = { "large.txt" } })
  t.command("budget.set", { maxInputTokens = 12000 })
  ask(t, '{"content": [{"type": "text", "text": "It is é."}]}')
  t.said("large.txt")
end)
