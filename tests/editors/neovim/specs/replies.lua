-- Parsing complete and streamed replies of providers.
local replies = require("strata.replies")

local function streamed(form, ...)
  local reader = replies.reader(form)
  for _, event in ipairs({ ... }) do
    reader:line("data: " .. (type(event) == "table" and vim.json.encode(event) or event))
  end
  return reader
end

local function whole(form, reply)
  local reader = replies.reader(form)
  reader:whole(vim.json.encode(reply))
  return reader
end

local CALL = { type = "tool_call", id = "c", name = "weather", input = { city = "Oslo" } }

it("reads streams of Anthropic", function(t)
  local usage =
    { input_tokens = 5, cache_read_input_tokens = 70, cache_creation_input_tokens = 9, output_tokens = 1 }
  local reader = streamed(
    "anthropic",
    { type = "message_start", message = { usage = usage } },
    {
      type = "content_block_start",
      index = 0,
      content_block = { type = "thinking", thinking = "", signature = "" },
    },
    { type = "content_block_delta", index = 0, delta = { type = "thinking_delta", thinking = "Hm." } },
    { type = "content_block_delta", index = 0, delta = { type = "signature_delta", signature = "seal" } },
    { type = "content_block_start", index = 1, content_block = { type = "text", text = "" } },
    { type = "content_block_delta", index = 1, delta = { type = "text_delta", text = "It " } },
    { type = "content_block_delta", index = 1, delta = { type = "text_delta", text = "rains é." } },
    {
      type = "content_block_start",
      index = 2,
      content_block = { type = "tool_use", id = "c", name = "weather", input = vim.empty_dict() },
    },
    {
      type = "content_block_delta",
      index = 2,
      delta = { type = "input_json_delta", partial_json = '{"city":' },
    },
    {
      type = "content_block_delta",
      index = 2,
      delta = { type = "input_json_delta", partial_json = '"Oslo"}' },
    }
  )
  t.equal(reader.complete, false)
  t.equal(reader:blocks(), { { type = "text", text = "It rains é." } })
  reader:line(
    'data: {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 12}}'
  )
  reader:line("event: message_stop")
  reader:line('data: {"type": "message_stop"}')
  t.equal(reader.complete, true)
  local thinking = { type = "thinking", text = "Hm.", signature = "seal" }
  t.equal(reader:blocks(), { thinking, { type = "text", text = "It rains é." }, CALL })
  t.equal(reader:usage(), { input = 5, output = 12, cacheRead = 70, cacheWrite = 9 })
end)

it("reads streams of OpenAI", function(t)
  local function delta(what, ended)
    return { choices = { { delta = what, finish_reason = ended or vim.NIL } }, usage = vim.NIL }
  end
  local details = { cached_tokens = 70, cache_write_tokens = 10 }
  local reader = streamed(
    "openai",
    delta({ role = "assistant", content = "It " }),
    delta({ content = "rains." }),
    delta({ tool_calls = { { index = 0, id = "c", ["function"] = { name = "weather", arguments = "" } } } }),
    delta({ tool_calls = { { index = 0, ["function"] = { arguments = '{"city": "Oslo"}' } } } }),
    delta(vim.empty_dict(), "tool_calls"),
    { choices = {}, usage = { prompt_tokens = 100, completion_tokens = 8, prompt_tokens_details = details } },
    "[DONE]"
  )
  t.equal(reader.complete, true)
  t.equal(reader:blocks(), { { type = "text", text = "It rains." }, CALL })
  t.equal(reader:usage(), { input = 20, output = 8, cacheRead = 70, cacheWrite = 10 })
end)

it("reads streams of the Responses API", function(t)
  local reasoning = { type = "reasoning", id = "r", encrypted_content = "sealed" }
  local output = {
    reasoning,
    { type = "message", content = { { type = "output_text", text = "It rains." } } },
    { type = "function_call", id = "f", call_id = "c", name = "weather", arguments = '{"city":"Oslo"}' },
  }
  local usage = { input_tokens = 100, output_tokens = 8, input_tokens_details = { cached_tokens = 70 } }
  local reader = streamed("responses", { type = "response.output_text.delta", item_id = "m", delta = "It " })
  t.equal(reader:text(), "It ")
  reader:line(
    "data: "
      .. vim.json.encode({ type = "response.completed", response = { output = output, usage = usage } })
  )
  local sealed = { type = "foreign", provider = "openai_responses", value = reasoning }
  t.equal(reader:blocks(), { sealed, { type = "text", text = "It rains." }, CALL })
  t.equal(reader:usage(), { input = 30, output = 8, cacheRead = 70, cacheWrite = 0 })
end)

it("reads complete replies", function(t)
  local reader = whole("anthropic", { type = "message", content = { { type = "text", text = "So." } } })
  t.equal({ reader:text(), reader:usage(), reader.complete }, { "So.", nil, true })
  local choice = { message = { content = "So." }, finish_reason = "stop" }
  reader = whole("openai", { choices = { choice }, usage = { prompt_tokens = 3, completion_tokens = 1 } })
  t.equal(reader:text(), "So.")
  t.equal(reader:usage(), { input = 3, output = 1, cacheRead = 0, cacheWrite = 0 })
end)

it("reports errors in the middle of a stream", function(t)
  local event = { type = "error", error = { type = "overloaded_error", message = "Overloaded" } }
  t.equal(streamed("anthropic", event).problem, "Overloaded")
  t.equal(streamed("openai", { error = { message = "Overloaded" } }).problem, "Overloaded")
  t.equal(streamed("responses", { type = "error", message = "Overloaded" }).problem, "Overloaded")
end)

it("finds nothing in invalid replies", function(t)
  for _, form in ipairs({ "anthropic", "openai", "responses" }) do
    for _, reply in ipairs({
      "<html>",
      "{}",
      '"text"',
      '{"content": 3}',
      '{"choices": [3]}',
      '{"output": {}}',
    }) do
      local reader = replies.reader(form)
      reader:whole(reply)
      reader:line(reply)
      t.equal({ reader:text(), reader:usage() }, { "", nil })
    end
  end
end)
