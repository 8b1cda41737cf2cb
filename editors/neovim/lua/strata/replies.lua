--- Parses the replies of providers, complete or streamed, into the blocks and the usage that the server records.

local M = {}

---Reads one reply, line by line or as a whole.
---@class strata.Reader
---@field complete boolean Whether the provider has marked the end of the reply.
---@field problem? string Error that the provider sent in the middle of a stream.
---@field private format string
---@field private parts table[] Parts, in the order of the reply.
---@field private billed table Usage in the provider's own format.
local Reader = {}
Reader.__index = Reader

---Parses a JSON object. Returns nil if the text is not one.
local function decoded(text)
  local ok, value = pcall(vim.json.decode, text)
  return ok and type(value) == "table" and value or nil
end

---Returns a field unless it is `null`.
local function field(value, ...)
  local found = type(value) == "table" and vim.tbl_get(value, ...) or nil
  return found ~= vim.NIL and found or nil
end

---@param index any Identifies the part in the provider's format.
local function part(reader, index, fresh)
  local there = vim.iter(reader.parts):find(function(one)
    return one.index == index
  end)
  if not there then
    there = vim.tbl_extend("force", fresh, { index = index })
    table.insert(reader.parts, there)
  end
  return there
end

local function append(one, key, text)
  one[key] = (one[key] or "") .. (text or "")
end

-- Converts a block of Anthropic's to a part, which later events complete.
local ANTHROPIC = {
  text = function(block)
    return { kind = "text", text = block.text }
  end,
  thinking = function(block)
    return { kind = "thinking", text = block.thinking, signature = block.signature }
  end,
  redacted_thinking = function(block)
    return { kind = "redacted_thinking", data = block.data }
  end,
  tool_use = function(block)
    -- A stream begins with an empty object.
    local input = field(block, "input")
    local given = input and next(input) ~= nil and vim.json.encode(input) or ""
    return { kind = "call", id = block.id, name = block.name, arguments = given }
  end,
}

local function anthropic_block(block)
  local kept = ANTHROPIC[block.type]
  return kept and kept(block) or { kind = "foreign", provider = "anthropic", value = block }
end

-- Handlers for an event of a stream or a complete reply, by format.
local FORMS = {}

function FORMS.anthropic(reader, event)
  if event.type == "message" or not event.type and field(event, "content") then
    for index, block in ipairs(event.content) do
      part(reader, index, anthropic_block(block))
    end
    reader.billed, reader.complete = field(event, "usage") or {}, true
  elseif event.type == "message_start" then
    reader.billed = field(event, "message", "usage") or {}
  elseif event.type == "content_block_start" then
    part(reader, event.index, anthropic_block(event.content_block))
  elseif event.type == "content_block_delta" then
    local one, delta = part(reader, event.index, { kind = "text" }), event.delta
    append(one, "text", delta.text or delta.thinking)
    append(one, "arguments", delta.partial_json)
    one.signature = delta.signature or one.signature
  elseif event.type == "message_delta" then
    reader.billed = vim.tbl_extend("force", reader.billed, field(event, "usage") or {})
  elseif event.type == "message_stop" then
    reader.complete = true
  elseif event.type == "error" then
    reader.problem = field(event, "error", "message") or "the provider ended the answer early"
  end
end

function FORMS.openai(reader, event)
  reader.billed = field(event, "usage") or reader.billed
  if field(event, "error") then
    reader.problem = field(event, "error", "message") or "the provider ended the answer early"
  end
  local choice = field(event, "choices", 1)
  local said = field(choice, "delta") or field(choice, "message")
  if field(said, "content") then
    append(part(reader, "text", { kind = "text" }), "text", said.content)
  end
  for number, call in ipairs(field(said, "tool_calls") or {}) do
    local made = call["function"] or {}
    local one = part(reader, ("call %s"):format(field(call, "index") or number), { kind = "call" })
    one.id, one.name = field(call, "id") or one.id, field(made, "name") or one.name
    append(one, "arguments", field(made, "arguments"))
  end
  reader.complete = reader.complete or field(choice, "finish_reason") ~= nil
end

function FORMS.responses(reader, event)
  local kind = event.type
  if kind == "response.output_text.delta" then
    append(part(reader, event.item_id, { kind = "text" }), "text", event.delta)
    return
  elseif kind == "error" or kind == "response.failed" then
    local problem = field(event, "message") or field(event, "response", "error", "message")
    reader.problem = problem or "the provider ended the answer early"
    return
  end
  local ended = kind == "response.completed" or kind == "response.incomplete"
  local whole = ended and event.response or field(event, "output") and event or nil
  if not whole then
    return
  end
  reader.parts, reader.billed, reader.complete = {}, field(whole, "usage") or {}, true
  for index, item in ipairs(whole.output) do
    if item.type == "message" then
      local texts = vim.iter(item.content):map(function(content)
        return content.text or content.refusal
      end)
      part(reader, index, { kind = "text", text = texts:join("") })
    elseif item.type == "function_call" then
      local call = { kind = "call", id = item.call_id, name = item.name, arguments = item.arguments }
      part(reader, index, call)
    else
      part(reader, index, { kind = "foreign", provider = "openai_responses", value = item })
    end
  end
end

---Converts the usage to the server's fields, where `input` excludes tokens read from or written to the cache.
local USAGE = {
  anthropic = function(billed)
    return billed.input_tokens,
      billed.output_tokens,
      billed.cache_read_input_tokens,
      billed.cache_creation_input_tokens
  end,
  openai = function(billed)
    local details = field(billed, "prompt_tokens_details") or {}
    local read, written = field(details, "cached_tokens") or 0, field(details, "cache_write_tokens") or 0
    local input = field(billed, "prompt_tokens")
    return input and input - read - written, billed.completion_tokens, read, written
  end,
  responses = function(billed)
    local details = field(billed, "input_tokens_details") or {}
    local read, written = field(details, "cached_tokens") or 0, field(details, "cache_write_tokens") or 0
    local input = field(billed, "input_tokens")
    return input and input - read - written, billed.output_tokens, read, written
  end,
}

---Returns whether replies in this format can be read.
---@param format string
---@return boolean
function M.reads(format)
  return FORMS[format] ~= nil
end

---@param format string `anthropic`, `openai` or `responses`.
---@return strata.Reader
function M.reader(format)
  return setmetatable({ format = format, parts = {}, billed = {}, complete = false }, Reader)
end

---Reads a line of a stream. Ignores lines without an event.
---@param line string
function Reader:line(line)
  local data = line:match("^data:%s*(.-)%s*$")
  local event = data and decoded(data)
  if event then
    FORMS[self.format](self, event)
  elseif data == "[DONE]" then
    self.complete = true
  end
end

---Reads a complete reply, as text or decoded. Ignores replies in another format.
---@param reply string|table
function Reader:whole(reply)
  local event = type(reply) == "table" and reply or decoded(reply)
  if event then
    pcall(FORMS[self.format], self, event)
  end
end

---Returns the answer as blocks for `strata.prompt.record`. Omits the tool calls of an interrupted answer, because they will never run.
---@return table[]
function Reader:blocks()
  local blocks = {}
  for _, one in ipairs(self.parts) do
    if one.kind == "text" and (one.text or "") ~= "" then
      table.insert(blocks, { type = "text", text = one.text })
    elseif not self.complete then
      -- Omit incomplete reasoning, which the provider would reject.
    elseif one.kind == "thinking" then
      table.insert(blocks, { type = "thinking", text = one.text or "", signature = field(one, "signature") })
    elseif one.kind == "redacted_thinking" then
      table.insert(blocks, { type = "redacted_thinking", data = one.data })
    elseif one.kind == "call" then
      local input = (one.arguments or "") == "" and vim.empty_dict()
        or decoded(one.arguments)
        or one.arguments
      table.insert(blocks, { type = "tool_call", id = one.id, name = one.name, input = input })
    elseif one.kind == "foreign" then
      table.insert(blocks, { type = "foreign", provider = one.provider, value = one.value })
    end
  end
  return blocks
end

---Returns the text of the answer.
---@return string
function Reader:text()
  local texts = vim.tbl_map(
    function(block)
      return block.text
    end,
    vim.tbl_filter(function(block)
      return block.type == "text"
    end, self:blocks())
  )
  return table.concat(texts, "\n")
end

---@return table? usage Usage for `strata.prompt.record`, or nil if the provider did not report it.
function Reader:usage()
  local input, output, read, written = USAGE[self.format](self.billed)
  if type(input) ~= "number" or type(output) ~= "number" then
    return nil
  end
  local function number(value)
    return type(value) == "number" and value or 0
  end
  return { input = input, output = output, cacheRead = number(read), cacheWrite = number(written) }
end

-- Messages of providers for a prompt that is too long, in lower case.
local TOO_LONG = {
  "prompt is too long",
  "context_length_exceeded",
  "maximum context length",
  "context window",
  "maximum number of tokens",
  "input is too long",
}

---Returns whether a provider's error says that the prompt is too long.
---@param problem string
---@return boolean
function M.is_too_long(problem)
  problem = problem:lower()
  return vim.iter(TOO_LONG):any(function(words)
    return problem:find(words, 1, true) ~= nil
  end)
end

return M
