--- Starts, restarts and stops the servers, one for each workspace. A restarted server continues its session.

local display = require("strata.display")
local options = require("strata.options")

local M = {}

-- A server is not restarted automatically after more than `DEATHS` crashes within `WITHIN` milliseconds.
local DEATHS, WITHIN = 5, 180000

-- Time after which a server that does not exit is killed, in milliseconds.
local HANGS = 5000

-- The plugin's commands replace the server's code actions.
local SETTINGS = { lsp = { features = {} } }

-- Names of files and folders that mark the top of a workspace.
local MARKERS = { ".strata.toml", ".strata.yaml", ".git", ".hg", ".jj" }

---State of a workspace's server.
---@class strata.Life
---@field session? string Id of the session to continue.
---@field deaths integer[] Times of recent crashes, in milliseconds.
---@field stopping? boolean Whether the server was told to stop.
---@field again? boolean Whether to restart the server once it has stopped.
---@field gone? boolean Whether the server has exited, but its exit has not been handled yet.
---@field reviving? boolean Whether the server is about to be restarted.
---@field waiting fun(client?: vim.lsp.Client)[] Callbacks to run when the server is ready.

---@type table<string, strata.Life>
local lives = {}

local function life(root)
  lives[root] = lives[root] or { deaths = {}, waiting = {} }
  return lives[root]
end

local function say(message, level)
  display.notify(message, level or vim.log.levels.INFO)
end

---Calls a method of a client. In Neovim 0.10, methods are functions without `self`.
---@param client vim.lsp.Client
---@param method string
function M.call(client, method, ...)
  if vim.fn.has("nvim-0.11") == 1 then
    return client[method](client, ...)
  end
  return client[method](...)
end

---Returns the path of the server program, or nil if there is none.
---@return string?
function M.program()
  local path = options.get().path
  if path then
    return vim.fn.exepath(vim.fs.normalize(path)) ~= "" and vim.fs.normalize(path) or nil
  end
  local plugin = vim.fn.fnamemodify(vim.fn.resolve(debug.getinfo(1, "S").source:sub(2)), ":p:h:h:h")
  local clone = vim.fn.fnamemodify(plugin, ":h:h")
  -- The one that `scripts/install.lua` downloaded fits this version of the plugin.
  local places = { plugin .. "/bin/strata", "strata", clone .. "/target/release/strata" }
  return vim.iter(places):find(function(place)
    return vim.fn.executable(place) == 1
  end)
end

---Returns whether a server can be started: the program exists, or the user set another command in `vim.lsp.config`.
---@return boolean
local function startable()
  if M.program() then
    return true
  end
  local cmd = vim.lsp.config and vim.lsp.config.strata.cmd
  return type(cmd) == "function" or type(cmd) == "table" and vim.fn.executable(cmd[1]) == 1
end

---Returns the workspace of a file: the closest folder with a marker, or else the current directory.
---@param path string
---@return string?
function M.root(path)
  -- A `$` in a file name is not a variable.
  path = vim.fs.normalize(vim.fn.fnamemodify(path, ":p"), { expand_env = false })
  local marked = vim.fs.root(path, MARKERS)
  if marked then
    return marked
  end
  local here = vim.fs.normalize(vim.fn.getcwd(), { expand_env = false })
  -- Do not index the whole disk or the whole home directory.
  local whole = here == "/" or here == vim.fs.normalize("~")
  return not whole and vim.startswith(path, here .. "/") and here or nil
end

local told_missing = false

---Returns the workspace of a buffer, or nil if the buffer must not be attached.
---@param buffer integer
---@return string?
local function root_of(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  local is_file = vim.bo[buffer].buftype == "" and name ~= "" and not name:match("^%a[%w+.-]*://")
  local root = is_file and M.root(name)
  if not root then
    return nil
  end
  if not startable() then
    if not told_missing then
      told_missing = true
      say("program `strata` not found; see :checkhealth strata", vim.log.levels.WARN)
    end
    return nil
  end
  return root
end

---@param config vim.lsp.ClientConfig
local function before_init(params, config)
  local root = config.root_dir
  -- Neovim uses the whole path as the name of a folder, which would appear in prompts.
  for _, folder in ipairs(params.workspaceFolders) do
    folder.name = vim.fs.basename(root)
  end
  -- The server later requests this table (`workspace/configuration`).
  config.settings.strata =
    vim.tbl_deep_extend("keep", config.settings.strata or {}, options.get().settings or {}, SETTINGS)
  params.initializationOptions = vim.tbl_extend("force", config.init_options or {}, {
    resume = life(root).session,
    settings = config.settings.strata,
    trusted = options.trusts(root) or nil,
    requests = require("strata.requests").answered(),
  })
end

---Runs the callbacks that wait for a server.
---@param client? vim.lsp.Client
local function tell(root, client)
  local waiting = life(root).waiting
  life(root).waiting = {}
  for _, callback in ipairs(waiting) do
    callback(client)
  end
end

---Returns the configuration of the server, including the user's changes.
local function configured(root)
  local config
  if vim.lsp.config then
    config = vim.deepcopy(vim.lsp.config.strata)
  else
    config = M.config()
  end
  config.root_dir = root
  return config
end

---Restarts a server and attaches its buffers.
---@param config vim.lsp.ClientConfig
local function revive(config)
  local root = config.root_dir
  M.start(root, config)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and root_of(buffer) == root then
      M.attach(buffer, config)
    end
  end
end

---@param config vim.lsp.ClientConfig
local function ended(config, code, signal)
  local root = config.root_dir
  local known = life(root)
  require("strata.calls").abandon(root)
  local again, wanted = known.again, known.stopping or code == 0 and signal == 0
  known.stopping, known.again, known.gone = nil, nil, nil
  if vim.v.exiting ~= vim.NIL or wanted and not again then
    return tell(root, nil)
  end
  if not again then
    local now = vim.uv.now()
    known.deaths = vim.tbl_filter(function(at)
      return now - at < WITHIN
    end, known.deaths)
    table.insert(known.deaths, now)
    if #known.deaths > DEATHS then
      tell(root, nil)
      return say("the server keeps crashing; run :Strata restart to try again", vim.log.levels.ERROR)
    end
    say("the server crashed and is restarting; the conversation continues", vim.log.levels.WARN)
  end
  known.reviving = true
  -- Wait until Neovim has removed the old client.
  vim.defer_fn(function()
    if known.reviving then
      known.reviving = nil
      revive(again and configured(root) or config)
    end
  end, 50)
end

---Returns the default configuration of the server.
---@return vim.lsp.ClientConfig
function M.config()
  local handlers = {
    ["strata/delta"] = function(_, delta)
      require("strata.ask").delta(delta)
    end,
  }
  for method, answer in pairs(require("strata.notices").handlers) do
    handlers[method] = answer
  end
  for method, answer in pairs(require("strata.requests").handlers) do
    handlers[method] = answer
  end
  return {
    name = "strata",
    cmd = { M.program() or "strata", "serve" },
    root_dir = function(buffer, found)
      local root = root_of(buffer)
      if root then
        found(root)
      end
    end,
    settings = { strata = vim.empty_dict() },
    handlers = handlers,
    before_init = before_init,
    on_init = function(client)
      local root = client.config.root_dir
      -- Remember the session now, in case the server crashes before it sends the first meter.
      local params = { command = "strata.server.status", arguments = { vim.empty_dict() } }
      M.call(client, "request", "workspace/executeCommand", params, function(_, reply)
        if reply then
          M.remember(root, reply.session)
        end
      end)
      tell(root, client)
    end,
    on_exit = function(code, signal, id)
      local client = vim.lsp.get_client_by_id(id)
      if client then
        life(client.config.root_dir).gone = true
        vim.schedule(function()
          ended(client.config, code, signal)
        end)
      end
    end,
  }
end

local function same(client, config)
  return client.name == config.name
    and client.config.root_dir == config.root_dir
    and not M.call(client, "is_stopped")
end

---Attaches a buffer to its workspace's server. Starts the server if it is not running.
---@param buffer integer
---@param config? vim.lsp.ClientConfig
function M.attach(buffer, config)
  if not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  local root = root_of(buffer)
  -- A restarted server attaches all buffers itself.
  if root and not life(root).gone and not life(root).reviving then
    vim.lsp.start(config or configured(root), { bufnr = buffer, reuse_client = same })
  end
end

---Starts the server of a workspace without attaching a buffer.
---@param root string
---@param config? vim.lsp.ClientConfig
function M.start(root, config)
  config = config or configured(root)
  local id
  if vim.fn.has("nvim-0.11") == 1 then
    id = vim.lsp.start(config, { attach = false, reuse_client = same })
  else
    id = M.running(root, true) or vim.lsp.start_client(config)
  end
  -- Neovim has already reported the error to the user.
  if not id then
    tell(root, nil)
  end
end

---Returns the running server of a workspace.
---@param root string
---@param starting? boolean Whether to include a server that is not ready yet.
---@return vim.lsp.Client?
function M.running(root, starting)
  local clients = vim.lsp.get_clients({ name = "strata", _uninitialized = starting })
  return vim.iter(clients):find(function(client)
    return client.config.root_dir == root and not M.call(client, "is_stopped")
  end)
end

---Returns the workspace of the current buffer, or else of the only server. Does not access the disk.
---@return string?
function M.near()
  local buffer = vim.api.nvim_get_current_buf()
  local client = vim.lsp.get_clients({ name = "strata", bufnr = buffer })[1]
  if vim.b[buffer].strata_root or client then
    return vim.b[buffer].strata_root or client.config.root_dir
  end
  local clients = vim.lsp.get_clients({ name = "strata" })
  return #clients == 1 and clients[1].config.root_dir or nil
end

---Returns the current workspace: that of the current buffer, or else the one that contains the current directory.
---@return string?
function M.current()
  local buffer = vim.api.nvim_get_current_buf()
  local own = vim.b[buffer].strata_root or root_of(buffer)
  return own or M.root(vim.fn.getcwd() .. "/.") or M.near()
end

---Calls `callback` with the server of a workspace as soon as it is ready, or with nil if it cannot be started.
---@param root string
---@param callback fun(client?: vim.lsp.Client)
function M.with(root, callback)
  local client = M.running(root)
  if client then
    return callback(client)
  end
  local known = life(root)
  if not startable() or known.stopping and not known.again then
    return callback(nil)
  end
  table.insert(known.waiting, callback)
  if not known.gone and not known.reviving and not M.running(root, true) then
    M.start(root)
  end
end

---Stops the server of a workspace.
---@param root string
---@param again? "again" Whether to restart the server, which then continues its session.
function M.stop(root, again)
  local known = life(root)
  known.deaths, known.reviving = {}, nil
  local client = M.running(root, true)
  if client then
    known.stopping, known.again = true, again ~= nil
    M.call(client, "stop")
    -- Kill the server if it hangs. This has no effect once it has exited.
    vim.defer_fn(client.rpc.terminate, HANGS)
  elseif again then
    M.start(root)
  end
end

---Remembers the session of a server, so that a restarted server can continue it.
---@param root string
---@param session string
function M.remember(root, session)
  life(root).session = session
end

return M
