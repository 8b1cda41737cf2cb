--- Owns how messages of a chat of CodeCompanion are told to the server. Keeps nothing and asks no one.

local M = {}

-- What CodeCompanion says in each chat, and in each with tools. The server has words of its own for both.
local GENERAL = { system_prompt_from_config = true, tool_system_prompt = true }

---What is said between two answers, and the answer.
---@class strata.chat.Group
---@field inputs table[] Messages of CodeCompanion: of the user, and results of tools.
---@field answers table[] Messages of the model; none as long as it has not answered.

local function is_result(message)
  return vim.tbl_get(message, "tools", "call_id") ~= nil
end

---@param messages table[]
---@return strata.chat.Group[] groups
---@return string[] instructions What the chat's system prompt says beyond what is said in each chat, such as how to use a tool.
function M.split(messages)
  local groups, instructions, answered = {}, {}, {}
  local function add(message, is_input)
    local group = groups[#groups]
    if not group or is_input and #group.answers > 0 then
      group = { inputs = {}, answers = {} }
      table.insert(groups, group)
    end
    table.insert(is_input and group.inputs or group.answers, message)
  end
  for _, message in ipairs(messages) do
    if is_result(message) then
      -- CodeCompanion may take a call that was answered for one that was cancelled.
      local call = message.tools.call_id
      if not answered[call] then
        answered[call] = true
        add(message, true)
      end
    elseif message.role ~= "system" then
      add(message, message.role == "user")
    elseif not GENERAL[vim.tbl_get(message, "_meta", "tag")] and (message.content or "") ~= "" then
      table.insert(instructions, message.content)
    end
  end
  return groups, instructions
end

local function text_of(message)
  local content = message.content
  if type(content) == "table" then
    local texts = vim.tbl_map(function(block)
      return type(block) == "table" and block.text or tostring(block)
    end, content.text and { content } or content)
    return table.concat(texts, "\n")
  end
  return content or ""
end

---What tells a message from others. CodeCompanion shortens old results of tools, so what they say is not a part of it.
---@return string
function M.print(message)
  return is_result(message) and "result " .. tostring(message.tools.call_id) or "user " .. text_of(message)
end

---@param answers table[]
---@return string text
---@return table[] calls
local function said(answers)
  local texts, calls = {}, {}
  for _, answer in ipairs(answers) do
    if vim.trim(text_of(answer)) ~= "" then
      table.insert(texts, vim.trim(text_of(answer)))
    end
    vim.list_extend(calls, vim.tbl_get(answer, "tools", "calls") or {})
  end
  return table.concat(texts, "\n\n"), calls
end

-- The Responses API has two ids of a call; results name this one.
local function call_id(call)
  return call.call_id or call.id
end

---What an answer says, and the calls in it.
---@param answers table[]
---@return { text: string, calls: string }
function M.answer(answers)
  local text, calls = said(answers)
  return { text = text, calls = table.concat(vim.tbl_map(call_id, calls), " ") }
end

local function picture(message)
  local mime = vim.tbl_get(message, "context", "mimetype")
  return vim.tbl_get(message, "_meta", "tag") == "image"
    and mime
    and { source = { type = "base64", mediaType = mime, data = message.content } }
end

---@class strata.chat.Request
---@field results table[] As `toolResults` of `strata.prompt.assemble`.
---@field text string
---@field images table[]
---@field left_out integer Documents, which the server has no form for.

---What is asked by the messages after the last answer.
---@param inputs table[]
---@return strata.chat.Request
function M.request(inputs)
  local request, texts = { results = {}, images = {}, left_out = 0 }, {}
  for _, message in ipairs(inputs) do
    local image = picture(message)
    if is_result(message) then
      table.insert(request.results, {
        callId = message.tools.call_id,
        content = { { type = "text", text = text_of(message) } },
        outcome = message.tools.is_error and "error" or "ok",
      })
    elseif image then
      table.insert(request.images, image)
    elseif vim.tbl_get(message, "_meta", "tag") == "document" then
      request.left_out = request.left_out + 1
    elseif vim.trim(text_of(message)) ~= "" then
      table.insert(texts, text_of(message))
    end
  end
  request.text = table.concat(texts, "\n\n")
  return request
end

---A group as messages that `strata.history.add` takes.
---@param group strata.chat.Group
---@return table[]
function M.history(group)
  local messages, request = {}, M.request(group.inputs)
  if #request.results > 0 then
    local results = vim.tbl_map(function(result)
      return vim.tbl_extend("error", { type = "tool_result" }, result)
    end, request.results)
    table.insert(messages, { role = "user", kind = "tool_result", content = results })
  end
  local asked = vim.tbl_map(function(image)
    return vim.tbl_extend("error", { type = "image" }, image)
  end, request.images)
  if request.text ~= "" then
    table.insert(asked, { type = "text", text = request.text })
  end
  if #asked > 0 then
    table.insert(messages, { role = "user", content = asked })
  end
  local text, calls = said(group.answers)
  local answer = text ~= "" and { { type = "text", text = text } } or {}
  for _, call in ipairs(calls) do
    local made = call["function"]
    local ok, input = pcall(vim.json.decode, made.arguments)
    input = ok and input or vim.empty_dict()
    table.insert(answer, { type = "tool_call", id = call_id(call), name = made.name, input = input })
  end
  if #answer > 0 then
    table.insert(messages, { role = "assistant", content = answer })
  end
  return messages
end

---The tools that a chat declares, in an order that stays. Those that run at the provider cannot be declared.
---@param tools table[]
---@return table[]
function M.tools(tools)
  local declared = {}
  for _, schemas in pairs(tools or {}) do
    for _, schema in pairs(schemas) do
      local made = schema["function"]
      if made then
        local input = vim.deepcopy(made.parameters or { type = "object" })
        -- An empty table would be a list.
        input.properties = input.properties and next(input.properties) and input.properties
          or vim.empty_dict()
        table.insert(declared, { name = made.name, description = made.description, input_schema = input })
      end
    end
  end
  table.sort(declared, function(one, other)
    return one.name < other.name
  end)
  return declared
end

return M
