--- Sends commands to the server and passes the replies on.

local display = require("strata.display")
local plain = require("strata.plain")
local server = require("strata.server")

local M = {}

-- Error if a command needs a server but none is running.
M.NO_SERVER = "the server is not running (see :checkhealth strata)"

-- Default timeout of `wait`, in milliseconds.
local PATIENCE = 60000

---Why a command failed.
---@class strata.Error
---@field message string Message for the user.
---@field code? integer JSON-RPC error code. Absent if the server was not reached.
---@field data? table Details, such as the `path` of the invalid argument and the `kind` of the error.

---@alias strata.Answer fun(err?: strata.Error, reply?: table)

---A call that has not been answered yet.
---@class strata.Call
---@field answer strata.Answer
---@field id? integer Id of the request.

---@type table<string, table<strata.Call, true>> Open calls by workspace.
local open = {}

---Answers a call, unless it has been answered already.
local function finish(root, call, err, reply)
  if open[root][call] then
    open[root][call] = nil
    call.answer(plain(err), plain(reply))
  end
end

---Sends a command, after all pending edits.
---@param name string Name of the command without `strata.`, such as `files.select`.
---@param arguments? table
---@param answer strata.Answer
---@param root? string Workspace. Defaults to the current one.
function M.send(name, arguments, answer, root)
  root = root or server.current()
  if not root then
    return answer({ message = "no workspace found; open a file in a workspace" })
  end
  server.with(root, function(client)
    if not client then
      return answer({ message = M.NO_SERVER })
    end
    local params = { command = "strata." .. name, arguments = { arguments or vim.empty_dict() } }
    local call = { answer = answer }
    open[root] = open[root] or {}
    open[root][call] = true
    -- A request without a buffer makes Neovim send the pending changes of all buffers first.
    local sent, id = server.call(client, "request", "workspace/executeCommand", params, function(err, reply)
      finish(root, call, err, reply)
    end)
    call.id = id
    if not sent then
      finish(root, call, { message = "the server stopped; try again" })
    end
  end)
end

---Sends several commands without arguments at once, and calls `answer` when all have been answered.
---@param names string[]
---@param root string
---@param answer fun(problems: table<string, strata.Error>, replies: table<string, table>)
function M.gather(names, root, answer)
  local problems, replies, left = {}, {}, #names
  for _, name in ipairs(names) do
    M.send(name, nil, function(err, reply)
      problems[name], replies[name] = err, reply
      left = left - 1
      if left == 0 then
        answer(problems, replies)
      end
    end, root)
  end
end

---Sends a command and waits for the answer.
---@param name string
---@param arguments? table
---@param root? string
---@param patience? integer Timeout in milliseconds.
---@return table? reply
---@return strata.Error? err
function M.wait(name, arguments, root, patience)
  local done, err, reply
  M.send(name, arguments, function(...)
    done = true
    err, reply = ...
  end, root)
  vim.wait(patience or PATIENCE, function()
    return done
  end, 5)
  if not done then
    err = { message = "the server did not answer in time" }
  end
  return reply, err
end

---Fails all open calls of a workspace, because its server has stopped.
---@param root string
function M.abandon(root)
  for _, call in ipairs(vim.tbl_keys(open[root] or {})) do
    finish(root, call, { message = "the server stopped before it answered; try again" })
  end
end

---Cancels all open calls of a workspace, such as a compaction. Each call is answered with an error.
---@param root string
---@return integer count Number of cancelled calls.
function M.cancel(root)
  local client, count = server.running(root), 0
  for _, call in ipairs(vim.tbl_keys(open[root] or {})) do
    if client and call.id then
      server.call(client, "cancel_request", call.id)
      -- Neovim does not report the reply to a cancelled request.
      finish(root, call, { message = "cancelled" })
      count = count + 1
    end
  end
  return count
end

---Returns the message of an error without the name of the argument, which the user did not type.
---@param err strata.Error
---@return string
function M.words(err)
  local field = vim.tbl_get(err, "data", "path")
  local prefix = field and ("`%s`: "):format(field)
  return prefix and vim.startswith(err.message, prefix) and err.message:sub(#prefix + 1) or err.message
end

---Shows an error to the user.
---@param err strata.Error
function M.complain(err)
  -- In an autocommand, Neovim would report the error as one of the autocommand.
  vim.schedule(function()
    display.notify(M.words(err), vim.log.levels.ERROR)
  end)
end

return M
