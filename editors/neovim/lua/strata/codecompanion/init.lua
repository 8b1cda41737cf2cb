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
---Each chat is then a Strata session. The first chat uses the current session if it is empty; every other chat starts a session with
---the same files. If you retry, edit, or remove a message in the chat, the session changes too. A stopped answer is recorded as far as
---it arrived. If the provider rejects a prompt as too long, the conversation is compacted and sent again. Tools, images, and automatic
---additions by CodeCompanion are included. Its system prompt is replaced by Strata's (`prompt.system`). Documents and tools that run at
---the provider are left out.
---
---Adapters for Anthropic, OpenAI's Chat Completions and Responses, and compatible providers work. Set {format} to `anthropic`,
---`openai`, or `responses` if it cannot be derived from the adapter's URL. Other requests, such as those of inline assistants, are sent
---unchanged.
---
--- Owns the adapter, which sends Strata's prompts and records the answers.

local calls = require("strata.calls")
local conversation = require("strata.codecompanion.conversation")
local messages_of = require("strata.codecompanion.messages")
local display = require("strata.display")
local notices = require("strata.notices")
local replies = require("strata.replies")

local M = {}

-- Fields of request bodies that Strata sets itself.
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

-- Formats of request bodies, by the end of the URL.
local FORMATS =
  { ["/messages"] = "anthropic", ["/responses"] = "responses", ["/chat/completions"] = "openai" }

-- Client of the last question, which also writes summaries.
local last

---Returns the text of an error from CodeCompanion, which may contain a provider's reply.
local function words(err)
  local said = err.stderr
  if type(said) == "table" then
    said = said.body or table.concat(vim.tbl_map(tostring, vim.islist(said) and said or {}), "\n")
  end
  return vim.trim(("%s %s"):format(err.message or "", said or ""))
end

---Returns a CodeCompanion client that sends requests without Strata.
local function plain_client(client, options)
  local adapter = vim.deepcopy(client.adapter)
  adapter.opts.request = nil
  options = vim.tbl_extend("force", client.opts or {}, options or {})
  return require("codecompanion.http").new({ adapter = adapter, opts = options, user_args = client.user_args })
end

---Returns the handlers that an adapter runs at the end of a request.
local function lifecycle(adapter)
  return adapter.handlers.lifecycle or adapter.handlers
end

---One turn of a chat.
---@class strata.chat.Sending
---@field client table CodeCompanion's client.
---@field payload table
---@field actions table CodeCompanion's callbacks.
---@field options table
---@field conversation strata.chat.Conversation
---@field stream boolean
---@field format string
---@field prompt? table Prompt that the server assembled.
---@field turn? strata.chat.Turn
---@field reader? strata.Reader
---@field job? table Running request.
---@field is_over? boolean Whether CodeCompanion has received the final result.
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

---Assembles a prompt for the chat's question, and sends it.
function Sending:begin()
  self.conversation:queued(function()
    local asked = self.conversation:prepare(self.payload.messages)
    if asked.left_out > 0 then
      notices.warn({ "document attachments are not sent; add them as files or text" })
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

---Returns Strata's request body, followed by the parameters of the adapter.
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
    -- A prompt that will be sent once more has not failed yet.
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
    -- CodeCompanion calls `done` before it reports an error.
    done = vim.schedule_wrap(function()
      if not failed then
        self:answered()
      end
    end),
  }, self.options)
end

---Handles a line of a stream.
---@param line? string Nil at the end of the stream.
function Sending:heard(line, adapter)
  if line and not self.is_over then
    self.reader:line(line)
    self.actions.callback(nil, line, adapter)
  end
end

---Discards a prompt that was not answered.
function Sending:discard()
  self.conversation:queued(function()
    self.conversation:run("prompt.discard", { id = self.prompt.id })
  end, function() end)
end

---Handles a request that failed or whose answer was interrupted.
---@param problem string Message of the provider.
---@param err table Error for CodeCompanion.
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
    display.notify(
      "the model rejected the prompt as too long; compacting the conversation and sending it again"
    )
    self.is_again = true
    self:begin()
  end)
end

---Records a turn, and then calls `told`.
---@param outcome table Arguments of `strata.prompt.record`.
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
    -- CodeCompanion adds the answer to the chat a moment later. Any later change to it is an edit.
    vim.schedule(function()
      local chat = require("codecompanion").buf_get_chat(self.options.bufnr)
      if chat then
        self.conversation:walk((messages_of.split(chat.messages)))
      end
    end)
  end)
end

---Records an interrupted answer, whose beginning is already in the chat.
function Sending:cut(problem)
  self.is_over = true
  notices.warn({ "answer interrupted; the partial answer was recorded: " .. problem })
  self:record(
    { status = "aborted", partial = self.reader:blocks(), usage = self.reader:usage() },
    self.actions.done
  )
end

---Handles the end of a request that did not report an error.
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

---Stops the answer at the user's request, and records the partial answer, which CodeCompanion discards.
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

---Sends a request from CodeCompanion. Used as `opts.request` of the adapter.
---@return table job Job with a function `shutdown`.
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

---Asks the model of the last question for a summary.
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

---Returns an adapter that sends Strata's prompts through another adapter.
---@param base string|table|fun(): table Name of the other adapter, or a value as in `adapters.http`.
---@param format? string Format of its request bodies.
---@return table
function M.adapter(base, format)
  local adapter = vim.deepcopy(require("codecompanion.adapters").resolve(base))
  local by_address = vim.iter(FORMATS):find(function(ending)
    return vim.endswith(adapter.url or "", ending)
  end)
  -- Most other providers use OpenAI's format, except Google's own API.
  local google = (adapter.url or ""):find("generativelanguage", 1, true)
  format = format or FORMATS[by_address] or (google and "gemini" or "openai")
  local reason = adapter.type ~= "http" and "it is not an HTTP adapter"
    or not replies.reads(format) and ("its format `%s` is not supported"):format(format)
  if reason then
    error(("Strata: cannot send chats through the adapter `%s`, because %s"):format(adapter.name, reason), 0)
  end
  adapter.name, adapter.formatted_name = "strata", "Strata, " .. (adapter.formatted_name or adapter.name)
  -- Turn off CodeCompanion's compaction, because Strata compacts. Tools that run at the provider cannot be declared.
  adapter.opts = vim.tbl_extend(
    "force",
    adapter.opts or {},
    { compaction = false, request = request, strata_format = format }
  )
  adapter.parameters, adapter.available_tools = adapter.parameters or {}, {}
  return adapter
end

---Registers the adapter in CodeCompanion.
---@param config table CodeCompanion's configuration.
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
