---@brief
---If no provider is configured, `:Strata ask {text}` uses curl: it assembles the prompt, sends it to the model's provider, shows the
---complete answer in `strata://answer`, and records it with its usage. It is also a short example of a plugin that uses Strata. By
---default, the key comes from `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`.
---
---|:messages| lists what was left out of a prompt, with reasons. If the provider rejects a prompt as too long, the conversation is
---compacted and sent again. The model of the last question also writes compaction summaries, unless you use
---|strata.summarize_with()|.
---
--->lua
---    vim.g.strata = { curl = { url = "http://127.0.0.1:8080/v1/messages", key_env = "MY_KEY", max_tokens = 4096 } }
---<
---
--- Owns requests to a provider with curl.

local answer = require("strata.answer")
local calls = require("strata.calls")
local display = require("strata.display")
local notices = require("strata.notices")
local options = require("strata.options")
local replies = require("strata.replies")

local M = {}

---@class strata.Provider
---@field url string
---@field key_env string
---@field headers fun(key: string): string[]
---@field parameters fun(max_tokens: integer): table Additional fields of the body.
---@field question fun(system: string, prompt: string): table Body of a question without a conversation.

---@type table<string, strata.Provider>
local PROVIDERS = {
  anthropic = {
    url = "https://api.anthropic.com/v1/messages",
    key_env = "ANTHROPIC_API_KEY",
    headers = function(key)
      return { "x-api-key: " .. key, "anthropic-version: 2023-06-01" }
    end,
    parameters = function(max_tokens)
      return { max_tokens = max_tokens }
    end,
    question = function(system, prompt)
      return { system = system, messages = { { role = "user", content = prompt } } }
    end,
  },
  openai = {
    url = "https://api.openai.com/v1/chat/completions",
    key_env = "OPENAI_API_KEY",
    headers = function(key)
      return { "authorization: Bearer " .. key }
    end,
    parameters = function(max_tokens)
      return { max_completion_tokens = max_tokens }
    end,
    question = function(system, prompt)
      local said = { { role = "system", content = system }, { role = "user", content = prompt } }
      return { messages = said }
    end,
  },
}

-- Error for a reply without text, such as a tool call or the message of a proxy.
local UNKNOWN = "nothing was recorded, because the provider's reply has no readable text: "

-- Format and model of the last question.
---@type { format: string, model: string }?
local last

local function own()
  return options.get().curl or {}
end

local function quoted(text)
  return '"' .. text:gsub('[\\"]', "\\%0") .. '"'
end

---Posts a body. Passes the key through standard input, so that it does not appear in the list of processes.
local function post(provider, body, done)
  local key = os.getenv(own().key_env or provider.key_env) or ""
  local path = vim.fn.tempname()
  vim.fn.writefile(vim.split(vim.json.encode(body), "\n", { plain = true }), path, "b")
  local config = { "url = " .. quoted(own().url or provider.url), "data-binary = " .. quoted("@" .. path) }
  for _, header in ipairs(vim.list_extend({ "content-type: application/json" }, provider.headers(key))) do
    config[#config + 1] = "header = " .. quoted(header)
  end
  local command = { "curl", "--silent", "--show-error", "--fail-with-body", "--config", "-" }
  local function ended(said)
    vim.fn.delete(path)
    local ok, reply = pcall(vim.json.decode, said.stdout, { luanil = { object = true } })
    if said.code ~= 0 or not ok then
      return done(vim.trim(said.stderr .. " " .. said.stdout))
    end
    done(nil, reply)
  end
  -- `vim.system` raises an error if curl is not installed.
  local started, problem =
    pcall(vim.system, command, { stdin = table.concat(config, "\n"), text = true }, vim.schedule_wrap(ended))
  if not started then
    vim.fn.delete(path)
    done("cannot run curl: " .. problem)
  end
end

---Reads a reply. Returns nil if it is in another format or has no text.
---@return strata.Reader?
local function read(format, reply)
  local reader = replies.reader(format)
  reader:whole(reply)
  return reader:text() ~= "" and reader or nil
end

---Handles a failed prompt: discards it or, if it was too long, compacts the conversation and calls `again` to send it once more.
local function not_answered(prompt, problem, root, again, failed)
  if not replies.is_too_long(problem) then
    calls.send("prompt.discard", { id = prompt.id }, function() end, root)
    return failed({ message = problem })
  end
  local arguments = { id = prompt.id, status = "error", error = "context_limit" }
  calls.send("prompt.record", arguments, function(err, recorded)
    if err or not recorded.retry then
      return failed(err or { message = problem })
    end
    display.notify(
      "the model rejected the prompt as too long; compacting the conversation and sending it again"
    )
    again()
  end, root)
end

---Asks a question and records the answer.
---@param text string
---@param root? string
---@param done? strata.Answer Called when the turn is recorded.
function M.ask(text, root, done)
  done = done or function() end
  local function failed(err)
    calls.complain(err)
    done(err)
  end
  calls.send("prompt.assemble", { prompt = text }, function(err, prompt)
    if err then
      return failed(err)
    end
    local provider = PROVIDERS[prompt.format]
    if not provider then
      return failed({ message = "cannot send requests in the format " .. prompt.format })
    end
    notices.warn(prompt.warnings)
    last = { format = prompt.format, model = prompt.body.model }
    local parameters = provider.parameters(own().max_tokens or 4096)
    post(provider, vim.tbl_extend("keep", prompt.body, parameters), function(problem, reply)
      local said
      if not problem then
        said = read(prompt.format, reply)
        problem = not said and UNKNOWN .. vim.fn.strcharpart(vim.json.encode(reply), 0, 200) or nil
      end
      if problem then
        return not_answered(prompt, problem, root, function()
          M.ask(text, root, done)
        end, failed)
      end
      calls.send(
        "prompt.record",
        { id = prompt.id, response = said:blocks(), usage = said:usage() },
        function(not_recorded, recorded)
          if not_recorded then
            return failed(not_recorded)
          end
          notices.warn(recorded.warnings)
          done(nil, recorded)
        end,
        root
      )
      -- Show the answer last, so that the turn is recorded even if no window can be opened.
      answer.begin(text):append(said:text() .. "\n")
    end)
  end, root)
end

---Asks the model of the last question for a summary.
---@param request strata.Summarize
---@param reply strata.SummaryReply
local function summarize(request, reply)
  if not last then
    return reply(nil, "`:Strata ask` has not sent a question yet, so no model can write the summary")
  end
  local provider, model = PROVIDERS[last.format], request.model or last.model
  local body = provider.question(request.system, request.prompt)
  body.model = model
  -- Reasoning models need more tokens than the answer has.
  local most = math.max(request.maxTokens, own().max_tokens or 4096)
  post(provider, vim.tbl_extend("keep", body, provider.parameters(most)), function(problem, said)
    local summary = not problem and read(last.format, said) or nil
    problem = problem or not summary and "the provider's reply has no readable text" or nil
    reply(summary and summary:text(), problem, model)
  end)
end

---Returns the function that writes summaries with curl, or nil if there is no key.
---@return fun(request: strata.Summarize, reply: strata.SummaryReply)?
function M.summarizer()
  local keys = { PROVIDERS.anthropic.key_env, PROVIDERS.openai.key_env, own().key_env }
  local has_key = vim.iter(keys):any(function(name)
    return (os.getenv(name) or "") ~= ""
  end)
  return has_key and vim.fn.executable("curl") == 1 and summarize or nil
end

return M
