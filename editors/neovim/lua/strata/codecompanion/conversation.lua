--- Keeps a session of the server in sync with a CodeCompanion chat: messages that are retried, edited or removed in the chat also
--- change in the session.

local calls = require("strata.calls")
local messages_of = require("strata.codecompanion.messages")
local server = require("strata.server")

---A turn in the session.
---@class strata.chat.Turn
---@field inputs string[] Texts that identify its messages.
---@field instructions string[] Instructions that this turn added.
---@field answer? false|{ text: string, calls: string } Answer in the chat, or `false` if the chat has none.
---@field question? integer Number of the turn's first message.
---@field reply? integer Number of the message with the answer.

---@class strata.chat.Conversation
---@field root? string Workspace.
---@field session? string
---@field turns strata.chat.Turn[]
---@field last integer Number of the last known message in the session.
---@field tools? table[] Tools as last declared.
---@field private queue fun()[] Work that waits for the session. The first entry is running.
---@field private go_on? fun() Resumes the running work.
local Conversation = {}
Conversation.__index = Conversation

-- Sessions that belong to a chat in this Neovim.
---@type table<string, true>
local taken = {}

---Runs a command in the session and waits for the reply. Call it only from `queued` work.
---@return table? reply
---@return strata.Error? err
function Conversation:try(name, arguments)
  local answered, waiting, err, reply
  local go_on = self.go_on
  arguments = vim.tbl_extend("error", arguments or {}, { session = self.session })
  calls.send(name, next(arguments) and arguments or nil, function(...)
    answered = true
    err, reply = ...
    if waiting then
      go_on()
    end
  end, self.root)
  if not answered then
    waiting = true
    coroutine.yield()
  end
  return reply, err
end

---Like `try`, but raises an error if the command fails.
function Conversation:run(name, arguments)
  local reply, err = self:try(name, arguments)
  if not reply then
    error(err, 0)
  end
  return reply
end

---Runs `work` after all earlier work on the session is done, and then calls `done`.
---@param work fun(): any May wait for commands.
---@param done fun(err?: strata.Error, result: any)
function Conversation:queued(work, done)
  local thread = coroutine.create(work)
  local function go_on()
    local ok, result = coroutine.resume(thread)
    if coroutine.status(thread) ~= "dead" then
      return
    end
    table.remove(self.queue, 1)
    -- If the queue is empty, work that `done` adds starts immediately, so do not start it twice.
    local is_awaited = #self.queue > 0
    if ok then
      done(nil, result)
    else
      done(type(result) == "table" and result or { message = tostring(result) })
    end
    if is_awaited then
      self:begin()
    end
  end
  table.insert(self.queue, go_on)
  if #self.queue == 1 then
    self:begin()
  end
end

---@private
function Conversation:begin()
  self.go_on = self.queue[1]
  self.go_on()
end

---Puts new instructions before a question.
local function worded(instructions, text)
  return table.concat(vim.list_extend(vim.list_slice(instructions), { text }), "\n\n")
end

---Makes the session of this chat current. A new chat uses the current session if it is empty, or else a new one with the same files.
function Conversation:show()
  self.root = self.root or server.current()
  if self.session then
    local session = self.session
    self.session = nil
    if self:run("server.status").session ~= session then
      self:run("session.load", { id = session })
    end
    self.session = session
    return
  end
  local shown = vim.iter(self:run("session.list").sessions):find(function(session)
    return session.current
  end)
  if not shown or taken[shown.id] or shown.messages > 0 or shown.readOnly then
    shown = self:run("session.reset")
  end
  self.session, self.turns, self.last = shown.id, {}, -1
  taken[self.session] = true
end

---Compares the chat with the turns of the session.
---@param groups strata.chat.Group[]
---@return { group: integer, used: integer, gone?: integer, edits: table[] } found The session contains the chat up to the first `used`
---messages of `group`. `gone` is the first turn that is no longer in the chat, and `edits` are the edited turns before it.
function Conversation:walk(groups)
  local found = { group = 1, used = 0, edits = {} }
  for number, turn in ipairs(self.turns) do
    local group = groups[found.group]
    local inputs = group and vim.list_slice(group.inputs, found.used + 1, found.used + #turn.inputs) or {}
    local prints = vim.tbl_map(messages_of.print, inputs)
    local is_last = group and found.used + #turn.inputs == #group.inputs
    local edit = { turn = turn }
    if not vim.deep_equal(prints, turn.inputs) then
      -- A different text in the same place is an edit.
      local is_text = #prints == 1
        and #turn.inputs == 1
        and prints[1]:find("^user ")
        and turn.inputs[1]:find("^user ")
      edit.inputs = is_text and prints
      edit.text = messages_of.request(inputs).text
    end
    if #inputs < #turn.inputs or not edit.inputs and not vim.deep_equal(prints, turn.inputs) then
      found.gone = number
      return found
    elseif turn.answer == false and not is_last then
      found.used = found.used + #turn.inputs
    elseif not is_last or #group.answers == 0 then
      found.gone = number
      return found
    else
      local answer = messages_of.answer(group.answers)
      if turn.answer and turn.answer.calls ~= answer.calls then
        found.gone = number
        return found
      elseif turn.answer and turn.answer.text ~= answer.text then
        edit.answer = answer
      end
      turn.answer = turn.answer or answer
      found.group, found.used = found.group + 1, 0
    end
    if edit.inputs or edit.answer then
      table.insert(found.edits, edit)
    end
  end
  return found
end

---Applies edits of the chat to the session.
function Conversation:edit(edits)
  for _, edit in ipairs(edits) do
    local turn = edit.turn
    if edit.inputs then
      self:run("history.edit", { id = turn.question, content = worded(turn.instructions, edit.text) })
      turn.inputs = edit.inputs
    end
    if edit.answer then
      self:run("history.edit", { id = turn.reply, content = edit.answer.text })
      turn.answer = edit.answer
    end
  end
end

---Removes this turn and all later ones, or all turns if their position in the session is unknown.
function Conversation:truncate(from)
  local turn = self.turns[from]
  local reply = turn.question and self:try("history.truncate", { from = turn.question })
  if not reply then
    self:run("history.clear")
    from = 1
  end
  self.turns = vim.list_slice(self.turns, 1, from - 1)
end

---Adds messages that only the chat has to the session, for example after a chat was restored.
function Conversation:add(groups)
  for _, group in ipairs(groups) do
    local turn = {
      inputs = vim.tbl_map(messages_of.print, group.inputs),
      instructions = {},
      answer = #group.answers > 0 and messages_of.answer(group.answers) or false,
    }
    for _, message in ipairs(messages_of.history(group)) do
      local ids = self:run("history.add", message).ids
      turn.question = turn.question or ids[1]
      turn.reply = message.role == "assistant" and ids[1] or nil
      self.last = ids[#ids]
    end
    table.insert(self.turns, turn)
  end
end

---Updates the session to match the chat, except for the current question.
---@param groups strata.chat.Group[]
---@return table[] inputs Messages of the current question.
function Conversation:catch_up(groups)
  local found = self:walk(groups)
  if found.gone then
    self:truncate(found.gone)
    found = self:walk(groups)
  end
  self:edit(found.edits)
  local left = vim.list_slice(groups, found.group)
  if left[1] then
    left[1] = { inputs = vim.list_slice(left[1].inputs, found.used + 1), answers = left[1].answers }
  end
  local asking = left[#left] and #left[#left].answers == 0 and table.remove(left)
  self:add(left)
  return asking and asking.inputs or {}
end

---Prepares the session for the next prompt.
---@param messages table[] All messages of the chat.
---@return { arguments: table, turn: strata.chat.Turn, left_out: integer } asked Arguments for `strata.prompt.assemble`, the turn for
---`recorded`, and the number of documents that cannot be sent.
function Conversation:prepare(messages)
  self:show()
  local groups, instructions = messages_of.split(messages)
  local inputs = self:catch_up(groups)
  local request = messages_of.request(inputs)
  local has_results, has_text = #request.results > 0, request.text ~= "" or #request.images > 0
  if has_results and has_text then
    -- A prompt cannot have both, so add the results to the conversation first.
    local function is_result(message)
      return messages_of.print(message):find("^result ") ~= nil
    end
    self:add({ { inputs = vim.tbl_filter(is_result, inputs), answers = {} } })
    inputs = vim.tbl_filter(function(message)
      return not is_result(message)
    end, inputs)
    has_results = false
  end
  local told = {}
  for _, turn in ipairs(self.turns) do
    vim.list_extend(told, turn.instructions)
  end
  local fresh = vim.tbl_filter(function(instruction)
    return not vim.list_contains(told, instruction)
  end, has_results and {} or instructions)
  local turn = { inputs = vim.tbl_map(messages_of.print, inputs), instructions = fresh }
  local arguments = has_results and { toolResults = request.results }
    or { prompt = worded(fresh, request.text), images = request.images }
  return { arguments = arguments, turn = turn, left_out = request.left_out }
end

---Returns the declarations of tools in this conversation. The same tools are always declared identically.
---@param tools table[]
---@return table[]
function Conversation:declared(tools)
  if not vim.deep_equal(tools, self.tools) then
    self.tools = tools
  end
  return self.tools
end

---Records the message numbers of a turn that was added to the session.
---@param turn strata.chat.Turn
function Conversation:recorded(turn)
  for _, message in ipairs(self:run("history.get").messages) do
    local is_new = message.id > self.last and message.kind ~= "summary"
    if is_new and message.role == "user" then
      turn.question = turn.question or message.id
    elseif is_new and turn.question then
      turn.reply = turn.reply or message.id
    end
  end
  self.last = math.max(self.last, turn.reply or turn.question or self.last)
  table.insert(self.turns, turn)
end

local M = {}

---@type table<string, strata.chat.Conversation>
local conversations = {}

---Returns the conversation of a chat.
---@param chat string CodeCompanion's id of the chat.
---@return strata.chat.Conversation
function M.of(chat)
  conversations[chat] = conversations[chat]
    or setmetatable({ turns = {}, last = -1, queue = {} }, Conversation)
  return conversations[chat]
end

return M
