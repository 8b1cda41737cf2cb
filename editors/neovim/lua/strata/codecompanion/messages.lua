--- Converts messages of a CodeCompanion chat for the server.

local M = {}

-- Tags of CodeCompanion's general system prompts, which the server's own system prompt replaces.
local GENERAL = { system_prompt_from_config = true, tool_system_prompt = true }

---The input of one turn, and the model's answer.
---@class strata.chat.Group
---@field inputs table[] Messages of the user, and tool results.
---@field answers table[] Messages of the model. Empty until it has answered.

local function is_result(message)
  return vim.tbl_get(message, "tools", "call_id") ~= nil
end

---@param messages table[]
---@return strata.chat.Group[] groups
---@return string[] instructions System messages specific to the chat, such as how to use a tool.
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
      -- CodeCompanion may add a second result to a call that it considers cancelled. Use only the first.
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

---Returns a text that identifies a message. It does not include the content of tool results, because CodeCompanion shortens old ones.
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

-- A call of the Responses API has two ids, and results refer to this one.
local function call_id(call)
  return call.call_id or call.id
end

---Returns the text of an answer and the ids of its tool calls.
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
---@field results table[] Argument `toolResults` of `strata.prompt.assemble`.
---@field text string
---@field images table[]
---@field left_out integer Number of documents, which the server does not support.

---Converts the messages after the last answer to a request.
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

---Converts a group to messages for `strata.history.add`.
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

---Returns the tools of a chat in a fixed order. Omits tools that run at the provider, which cannot be declared.
---@param tools table[]
---@return table[]
function M.tools(tools)
  local declared = {}
  for _, schemas in pairs(tools or {}) do
    for _, schema in pairs(schemas) do
      local made = schema["function"]
      if made then
        local input = vim.deepcopy(made.parameters or { type = "object" })
        -- Encode an empty table as an object, not as a list.
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
