---@brief
---With {adapter}, one of your own or of CodeCompanion's, an adapter `strata` sends Strata's prompts through it:
---
--->lua
---    require("codecompanion").setup({
---      extensions = { strata = { opts = { adapter = "anthropic" } } },
---      interactions = { chat = { adapter = "strata" } },
---    })
---<
---
---The chat then shows a Strata session. The first chat uses the current session if it is empty; every other chat starts a session
---with the same files. What you ask again, edit, or remove in the chat changes in the session too. A stopped answer is recorded as
---far as it arrived. If the provider rejects a prompt as too long, the conversation is compacted and sent again. Tools, pictures, and
---automatic additions by CodeCompanion are included. Its system prompt is not, since Strata has one (`prompt.system`), nor are
---documents and tools that run at the provider.
---
---Adapters for Anthropic, OpenAI's Chat Completions and Responses, and compatible providers work. Set {format} to `anthropic`,
---`openai`, or `responses` if the address does not tell. Inline assistants and other uses of the adapter are sent unchanged.
---
--- Owns the adapter: what is sent through it, and what is recorded of the answer.

local calls = require("strata.calls")
local conversation = require("strata.codecompanion.conversation")
local messages_of = require("strata.codecompanion.messages")
local notices = require("strata.notices")
local replies = require("strata.replies")

local M = {}

-- Fields of bodies that say what Strata says.
local OWN = {
  "cache_control",
  "context_management",
  "input",
  "instructions",
  "messages",
  "model",
  "prompt_cache_key",
  "prompt_cache_options",
  "system",
  "tools",
}

-- The form of bodies by the end of the address.
local FORMATS =
  { ["/messages"] = "anthropic", ["/responses"] = "responses", ["/chat/completions"] = "openai" }

-- The adapter that was sent through last, which also writes summaries.
local last

---The text of an error of CodeCompanion's, which may be a reply.
local function words(err)
  local said = err.stderr
  if type(said) == "table" then
    said = said.body or table.concat(vim.tbl_map(tostring, vim.islist(said) and said or {}), "\n")
  end
  return vim.trim(("%s %s"):format(err.message or "", said or ""))
end

---A client of CodeCompanion's that sends as the adapter itself would.
local function plain_client(client, options)
  local adapter = vim.deepcopy(client.adapter)
  adapter.opts.request = nil
  options = vim.tbl_extend("force", client.opts or {}, options or {})
  return require("codecompanion.http").new({ adapter = adapter, opts = options, user_args = client.user_args })
end

---The handlers of an adapter that are told how a request ended.
local function lifecycle(adapter)
  return adapter.handlers.lifecycle or adapter.handlers
end

---One turn of a chat.
---@class strata.chat.Sending
---@field client table CodeCompanion's.
---@field payload table
---@field actions table What CodeCompanion wants to be told.
---@field options table
---@field conversation strata.chat.Conversation
---@field stream boolean
---@field format string
---@field prompt? table What the server assembled.
---@field turn? strata.chat.Turn
---@field reader? strata.Reader
---@field job? table The request on its way.
---@field is_over? boolean Nothing more is told CodeCompanion.
local Sending = {}
Sending.__index = Sending

function Sending:fail(err)
  if not self.is_over then
    self.is_over = true
    self.actions.callback({ message = calls.words(err), stderr = calls.words(err) }, nil)
  end
end

local function model_of(adapter)
  local model = adapter.parameters.model or adapter.schema.model.default
  return type(model) == "function" and model(adapter) or model
end

---Assembles the prompt of what the chat asks, and sends it.
function Sending:begin()
  self.conversation:queued(function()
    local asked = self.conversation:prepare(self.payload.messages)
    if asked.left_out > 0 then
      notices.warn({ "documents are not sent; add them as files or text" })
    end
    self.turn = asked.turn
    local adapter = self.client.adapter
    local arguments = {
      format = self.format,
      model = model_of(adapter),
      maxInputTokens = vim.tbl_get(adapter, "model", "meta", "context_window"),
      tools = self.conversation:declared(messages_of.tools(self.payload.tools)),
      bodyAs = "text",
    }
    return self.conversation:run("prompt.assemble", vim.tbl_extend("error", arguments, asked.arguments))
  end, function(err, prompt)
    if err then
      return self:fail(err)
    end
    self.prompt = prompt
    if self.is_over then
      return self:discard()
    end
    notices.warn(prompt.warnings)
    self:post()
  end)
end

---The body, with the parameters of the adapter after what Strata says.
function Sending:body(merged)
  local parameters = {}
  for name, value in pairs(merged) do
    if not vim.list_contains(OWN, name) then
      parameters[name] = value
    end
  end
  local text = vim.json.encode(parameters)
  return next(parameters) and self.prompt.body:gsub("}%s*$", "") .. "," .. text:sub(2) or self.prompt.body
end

function Sending:post()
  self.reader = replies.reader(self.format)
  local client = plain_client(self.client, {
    encode = function(merged)
      return self:body(merged)
    end,
  })
  local handlers = lifecycle(client.adapter)
  local on_exit = handlers.on_exit
  handlers.on_exit = function(adapter, data)
    -- One that is sent once more is not an error yet.
    local recovers = data and not self.is_again and replies.is_too_long(data.body or "")
    if on_exit and not recovers then
      return on_exit(adapter, data)
    end
  end
  local failed
  self.job = client:request(vim.deepcopy(self.payload), {
    callback = function(err, data, adapter)
      if err then
        failed = err
        self:not_answered(words(err), err)
      elseif self.stream then
        self:heard(data, adapter)
      elseif type(data) == "table" and (data.status or 0) < 400 then
        self.reader:whole(data.body or "")
        self.whole = data
      end
    end,
    -- Errors are told after it.
    done = vim.schedule_wrap(function()
      if not failed then
        self:answered()
      end
    end),
  }, self.options)
end

---A line of a stream; nothing at its end.
---@param line? string
function Sending:heard(line, adapter)
  if line and not self.is_over then
    self.reader:line(line)
    self.actions.callback(nil, line, adapter)
  end
end

---Gives a prompt up that was not answered.
function Sending:discard()
  self.conversation:queued(function()
    self.conversation:run("prompt.discard", { id = self.prompt.id })
  end, function() end)
end

---@param problem string What the provider said.
---@param err table The same as CodeCompanion is told.
function Sending:not_answered(problem, err)
  if self.is_over then
    return
  elseif self.reader:text() ~= "" then
    return self:cut(problem)
  elseif not replies.is_too_long(problem) then
    self:discard()
    self.is_over = true
    return self.actions.callback(err, nil)
  end
  self.conversation:queued(function()
    return self.conversation:run(
      "prompt.record",
      { id = self.prompt.id, status = "error", error = "context_limit" }
    )
  end, function(refused, recorded)
    if refused then
      return self:fail(refused)
    elseif not recorded.retry then
      return self:fail({ message = problem })
    end
    vim.notify(
      "Strata: the model rejected the prompt as too long; compacting the conversation and sending it again"
    )
    self.is_again = true
    self:begin()
  end)
end

---Records a turn, and tells CodeCompanion afterwards.
---@param outcome table What is recorded.
---@param told fun()
function Sending:record(outcome, told)
  self.conversation:queued(function()
    local recorded =
      self.conversation:run("prompt.record", vim.tbl_extend("error", { id = self.prompt.id }, outcome))
    self.conversation:recorded(self.turn)
    return recorded
  end, function(err, recorded)
    if err then
      calls.complain(err)
    else
      notices.warn(recorded.warnings)
    end
    told()
    -- CodeCompanion adds the answer to the chat a moment later. What it says from then on is an edit.
    vim.schedule(function()
      local chat = require("codecompanion").buf_get_chat(self.options.bufnr)
      if chat then
        self.conversation:walk((messages_of.split(chat.messages)))
      end
    end)
  end)
end

---An answer that broke off: the outcome of it is in the chat and in the session.
function Sending:cut(problem)
  self.is_over = true
  notices.warn({ "answer interrupted; the partial answer was recorded: " .. problem })
  self:record(
    { status = "aborted", partial = self.reader:blocks(), usage = self.reader:usage() },
    self.actions.done
  )
end

---The request has ended without an error of its own.
function Sending:answered()
  if self.is_over then
    return
  end
  local blocks = self.reader:blocks()
  if not self.reader.complete then
    local problem = self.reader.problem or "the connection was closed"
    return self:not_answered(problem, { message = problem, stderr = problem })
  elseif #blocks == 0 then
    self:discard()
    return self:fail({ message = "the provider's reply has no readable content" })
  end
  self.is_over = true
  self:record({ response = blocks, usage = self.reader:usage() }, function()
    if self.whole then
      self.actions.callback(nil, self.whole, self.client.adapter)
    end
    if self.actions.done then
      self.actions.done()
    end
  end)
end

---The user stops the answer: the outcome of it is recorded, though CodeCompanion forgets it.
function Sending:stop()
  if self.is_over then
    return
  end
  self.is_over = true
  if not self.job then
    return
  end
  self.job:shutdown()
  local blocks = self.reader:blocks()
  if #blocks == 0 then
    return self:discard()
  end
  self.turn.answer = false
  self:record({ status = "aborted", partial = blocks, usage = self.reader:usage() }, function() end)
end

---Sends a request of CodeCompanion's, as `opts.request` of an adapter.
---@return table job With `shutdown`.
local function request(client, payload, actions, options)
  if not options or options.interaction ~= "chat" or not payload.session_id then
    return plain_client(client):request(payload, actions, options)
  end
  last = client
  local sending = setmetatable({
    client = client,
    payload = payload,
    actions = actions,
    options = options,
    conversation = conversation.of(payload.session_id),
    stream = client.adapter.opts.stream == true,
    format = client.adapter.opts.strata_format,
  }, Sending)
  sending:begin()
  local job = {}
  function job.shutdown()
    sending:stop()
  end
  job.cancel = job.shutdown
  return job
end

---Has the model of the last question write a summary.
---@param asked strata.Summarize
---@param reply strata.SummaryReply
local function summarize(asked, reply)
  if not last then
    return reply(nil, "CodeCompanion has not sent a question yet, so no model can write the summary")
  end
  local client = plain_client(last)
  local adapter = client.adapter
  adapter.opts.stream = false
  adapter.parameters.stream, adapter.parameters.stream_options = nil, nil
  local reader = replies.reader(adapter.opts.strata_format)
  local messages = { { role = "system", content = asked.system }, { role = "user", content = asked.prompt } }
  client:send({ messages = messages, tools = {} }, {
    silent = true,
    stream = false,
    on_done = function(data)
      reader:whole(data and data.body or "")
      local text = reader:text()
      reply(
        text ~= "" and text or nil,
        text == "" and "the provider's reply has no readable text" or nil,
        adapter.parameters.model
      )
    end,
    on_error = function(err)
      reply(nil, words(err))
    end,
  })
end

---An adapter that sends through another one what Strata makes.
---@param base string|table|fun(): table The other one: a name, or as `adapters.http` has it.
---@param format? string The form of its bodies.
---@return table
function M.adapter(base, format)
  local adapter = vim.deepcopy(require("codecompanion.adapters").resolve(base))
  local by_address = vim.iter(FORMATS):find(function(ending)
    return vim.endswith(adapter.url or "", ending)
  end)
  -- Most others speak as OpenAI does, but for Google's own.
  local google = (adapter.url or ""):find("generativelanguage", 1, true)
  format = format or FORMATS[by_address] or (google and "gemini" or "openai")
  local reason = adapter.type ~= "http" and "it is not an HTTP adapter"
    or not replies.reads(format) and ("its format `%s` is not supported"):format(format)
  if reason then
    error(("Strata: cannot send chats through the adapter `%s`, because %s"):format(adapter.name, reason), 0)
  end
  adapter.name, adapter.formatted_name = "strata", "Strata, " .. (adapter.formatted_name or adapter.name)
  -- Strata compacts. What runs at the provider cannot be declared.
  adapter.opts = vim.tbl_extend(
    "force",
    adapter.opts or {},
    { compaction = false, request = request, strata_format = format }
  )
  adapter.parameters, adapter.available_tools = adapter.parameters or {}, {}
  return adapter
end

---Offers the adapter to CodeCompanion.
---@param config table CodeCompanion's.
---@param base string|table|fun(): table
---@param format? string
function M.setup(config, base, format)
  config.adapters.http.strata = function()
    return M.adapter(base, format)
  end
  local chat = (config.interactions or config.strategies).chat
  local management = chat.opts.context_management
  if management then
    local enabled = management.enabled
    management.enabled = function(adapter)
      if vim.tbl_get(adapter, "opts", "strata_format") then
        return false
      elseif type(enabled) == "function" then
        return enabled(adapter)
      end
      return enabled == true and not require("codecompanion.adapters.shared").manages_own_context(adapter)
    end
  end
  require("strata.requests").offer(summarize)
end

return M
