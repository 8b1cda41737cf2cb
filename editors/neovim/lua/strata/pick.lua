--- Pickers: each requests a list from the server, shows it with `vim.ui.select`, and runs a command for the chosen entry.

local calls = require("strata.calls")
local display = require("strata.display")

local M = {}

---Requests a list and lets the user choose an entry.
---@param root string
---@param command string
---@param arguments? table
---@param field string Field of the reply that contains the list.
---@param prompt string
---@param words fun(entry: table): string
---@param chosen fun(entry: table)
local function choose(root, command, arguments, field, prompt, words, chosen)
  calls.send(command, arguments, function(err, reply)
    if err then
      return calls.complain(err)
    end
    if #reply[field] == 0 then
      return display.notify("nothing to choose from")
    end
    local function line(entry)
      return display.line(words(entry))
    end
    vim.ui.select(reply[field], { prompt = prompt, format_item = line, kind = "strata" }, function(entry)
      if entry then
        chosen(entry)
      end
    end)
  end, root)
end

---Sends a command and reports the outcome to the user.
---@param root string
---@param command string
---@param arguments table
---@param done string
local function send(root, command, arguments, done)
  calls.send(command, arguments, function(err)
    if err then
      return calls.complain(err)
    end
    display.notify(done)
  end, root)
end

---Lets the user choose a workspace file to add to the context.
---@param root string
---@param query? string
function M.files(root, query)
  local marks = { selected = "● ", excluded = "✗ " }
  local function words(file)
    return (marks[file.state] or "  ") .. file.path
  end
  local function chosen(file)
    send(root, "files.select", { paths = { file.path } }, file.path .. " is in the context")
  end
  local arguments = { query = query, limit = 1000 }
  choose(root, "files.find", arguments, "files", "Add to context:", words, chosen)
end

---Lets the user choose a definition whose file to add to the context.
---@param root string
---@param query string
function M.symbols(root, query)
  choose(root, "symbols.find", { query = query }, "symbols", "Add the file that defines:", function(symbol)
    return ("%s  %s"):format(vim.trim(symbol.head ~= "" and symbol.head or symbol.name), symbol.path)
  end, function(symbol)
    send(root, "files.select", { paths = { symbol.path } }, symbol.path .. " is in the context")
  end)
end

local function when(milliseconds)
  return milliseconds and os.date("%Y-%m-%d %H:%M", math.floor(milliseconds / 1000)) or "not saved"
end

---Lets the user choose a conversation to continue.
---@param root string
function M.sessions(root)
  choose(root, "session.list", nil, "sessions", "Continue conversation:", function(session)
    local title = session.name ~= "" and session.name or session.preview
    local mark = session.current and "● " or "  "
    return ("%s%s  %d messages  %s"):format(mark, when(session.updatedMs), session.messages, title)
  end, function(session)
    send(root, "session.load", { id = session.id }, "conversation resumed")
  end)
end

---Searches conversations, notes and memory files, and opens the match that the user chooses.
---@param root string
---@param query string
function M.search(root, query)
  choose(root, "memory.search", { query = query }, "hits", "Search results:", function(hit)
    local where = hit.source == "fragment" and "note" or hit.path or hit.role
    return ("%s  %s"):format(where, (hit.snippet:gsub("%s+", " ")))
  end, function(hit)
    if hit.session then
      return send(root, "session.load", { id = hit.session }, "conversation resumed")
    end
    if hit.path then
      vim.cmd.edit(vim.fn.fnameescape(vim.fs.joinpath(root, hit.path)))
      return vim.api.nvim_win_set_cursor(0, { hit.line, 0 })
    end
    calls.send("memory.list", nil, function(err, reply)
      if err then
        return calls.complain(err)
      end
      for _, fragment in ipairs(reply.fragments) do
        if fragment.id == hit.id then
          return display.notify((fragment.text:gsub("%s+", " ")))
        end
      end
      display.notify("note deleted")
    end, root)
  end)
end

---Lets the user choose a note to delete.
---@param root string
function M.memory(root)
  choose(root, "memory.list", nil, "fragments", "Delete which note?", function(fragment)
    return (fragment.text:gsub("%s+", " "))
  end, function(fragment)
    send(root, "memory.remove", { id = fragment.id }, "note deleted")
  end)
end

---Lets the user choose the model for prompts.
---@param root string
---@param chosen fun(name: string)
function M.models(root, chosen)
  choose(root, "server.models", nil, "models", "Model for prompts:", function(model)
    return model.id
  end, function(model)
    chosen(model.id)
  end)
end

return M
