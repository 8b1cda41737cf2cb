-- Errors of curl and the provider in `:Strata ask`. test_plugin.py tests the normal case.

---Replaces `curl` with a script that prints these replies in turn, and asks a question. Returns the error, and the arguments of all
---sent commands by name.
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
  end, "the result")
  calls.send, vim.env.PATH = send, path
  return problem, sent
end

local function discarded(t, sent)
  t.equal(sent["prompt.record"], nil)
  local id = assert(sent["prompt.discard"]).id
  local _, err = require("strata").record({ id = id, response = "Late." })
  assert(err, "the prompt is still pending")
  t.equal(#t.command("history.get").messages, 0)
end

it("discards the prompt if the reply is unreadable", function(t)
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

it("discards the prompt if the reply is not JSON", function(t)
  t.edit("src/greet.rs")
  local problem, sent = ask(t, "<html>Bad gateway</html>")
  t.contains(problem.message, "Bad gateway")
  discarded(t, sent)
end)

it("discards the prompt if curl is missing", function(t)
  t.edit("src/greet.rs")
  local problem, sent = ask(t, nil)
  t.contains(problem.message, "cannot run curl")
  discarded(t, sent)
end)

it("records an answer without usage", function(t)
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

it("compacts the conversation and sends again if the prompt is too long", function(t)
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

it("names the largest parts if the prompt is too long twice", function(t)
  t.edit("src/greet.rs")
  talk(t)
  local problem = ask(t, '{"type": "error", "error": {"message": "prompt is too long: 210000 tokens"}}')
  t.contains(problem.message, "too long again")
  t.contains(problem.message, "largest")
end)

it("reports files that were left out of a prompt", function(t)
  t.edit("src/greet.rs")
  vim.fn.writefile({ ("words and more "):rep(40000) }, t.repo .. "/large.txt")
  t.command("server.reindex")
  t.command("files.select", { paths = { "large.txt" } })
  t.command("budget.set", { maxInputTokens = 12000 })
  ask(t, '{"content": [{"type": "text", "text": "It is é."}]}')
  t.said("large.txt")
end)
