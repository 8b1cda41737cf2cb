--- Owns the way of a command to the server and of the answer back. Knows no command by name.

local plain = require("strata.plain")
local server = require("strata.server")

local M = {}

-- Said where a server is needed and there is none.
M.NO_SERVER = "the server is not running (see :checkhealth strata)"

-- How long a caller that waits may wait, in milliseconds.
local PATIENCE = 60000

---Why a command was not done.
---@class strata.Error
---@field message string What to tell the user.
---@field code? integer As in JSON-RPC; absent when the server was not reached.
---@field data? table More about it: `path` of the field that is wrong, `kind`.

---@alias strata.Answer fun(err?: strata.Error, reply?: table)

---A call that has no answer yet.
---@class strata.Call
---@field answer strata.Answer
---@field id? integer Of the request.

---@type table<string, table<strata.Call, true>> By workspace.
local open = {}

---Has a call answered, once.
local function finish(root, call, err, reply)
  if open[root][call] then
    open[root][call] = nil
    call.answer(plain(err), plain(reply))
  end
end

---Sends a command, and everything that was typed before it.
---@param name string Without `strata.`, such as `files.select`.
---@param arguments? table
---@param answer strata.Answer
---@param root? string The workspace; the current one without it.
function M.send(name, arguments, answer, root)
  root = root or server.current()
  if not root then
    return answer({ message = "no workspace; open a file in one" })
  end
  server.with(root, function(client)
    if not client then
      return answer({ message = M.NO_SERVER })
    end
    local params = { command = "strata." .. name, arguments = { arguments or vim.empty_dict() } }
    local call = { answer = answer }
    open[root] = open[root] or {}
    open[root][call] = true
    -- Without a buffer, Neovim sends what it holds back of all buffers first.
    local sent, id = server.call(client, "request", "workspace/executeCommand", params, function(err, reply)
      finish(root, call, err, reply)
    end)
    call.id = id
    if not sent then
      finish(root, call, { message = "the server stopped; try again" })
    end
  end)
end

---Sends several commands without arguments at once, and calls back when all are answered.
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
---@param patience? integer Milliseconds.
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

---The server of a workspace has ended: no one is going to answer.
---@param root string
function M.abandon(root)
  for _, call in ipairs(vim.tbl_keys(open[root] or {})) do
    finish(root, call, { message = "the server stopped before it answered; try again" })
  end
end

---Gives up what the server is at, such as a compaction. Each call is answered that it was cancelled.
---@param root string
---@return integer count
function M.cancel(root)
  local client, count = server.running(root), 0
  for _, call in ipairs(vim.tbl_keys(open[root] or {})) do
    if client and call.id then
      server.call(client, "cancel_request", call.id)
      -- Neovim keeps it to itself when a request was cancelled.
      finish(root, call, { message = "cancelled" })
      count = count + 1
    end
  end
  return count
end

---What to tell the user: which field of the request it was is of no use to them.
---@param err strata.Error
---@return string
function M.words(err)
  local field = vim.tbl_get(err, "data", "path")
  local prefix = field and ("`%s`: "):format(field)
  return prefix and vim.startswith(err.message, prefix) and err.message:sub(#prefix + 1) or err.message
end

---Tells the user why a command was not done.
---@param err strata.Error
function M.complain(err)
  -- Inside an autocommand Neovim would blame that for it.
  vim.schedule(function()
    vim.notify("Strata: " .. M.words(err), vim.log.levels.ERROR)
  end)
end

return M
