--- Reads and validates `vim.g.strata`. Caches nothing, so that changes take effect.

local M = {}

---Options in `vim.g.strata`. They are read when the plugin is loaded and when a server starts.
---@class strata.Options
---@field path? string Path of the server program. Defaults to the one that `scripts/install.lua` downloaded, `strata` in the PATH, or the one built in this plugin's checkout.
---@field autostart? boolean Whether to attach files automatically. If `false`, use `:Strata start` or your own `vim.lsp.enable("strata")`.
---@field trusted? boolean|string[] Workspaces to trust, whose rules, skills and memory join the system prompt: `true` for all, or directories.
---@field settings? table Server settings, as nested tables. The same as `vim.lsp.config("strata", { settings = { strata = ... } })`.
---@field curl? table Options of |strata-curl|: `url`, `key_env` (environment variable with the key), `max_tokens` (default: 4096).
---@field icons? boolean Whether the statusline may use non-ASCII separators. Defaults to `true`.

local KNOWN = {
  path = "string",
  autostart = "boolean",
  trusted = { boolean = true, table = true },
  settings = "table",
  curl = "table",
  icons = "boolean",
}

---@return strata.Options
function M.get()
  local options = vim.g.strata
  return type(options) == "table" and options or {}
end

---Returns a message for each problem with `vim.g.strata`.
---@return string[]
function M.problems()
  local options, found = vim.g.strata, {}
  if options == nil then
    return found
  end
  if type(options) ~= "table" then
    return { "vim.g.strata is not a table" }
  end
  for name, value in pairs(options) do
    local expected = KNOWN[name]
    if not expected then
      found[#found + 1] = ("unknown option `%s` in vim.g.strata"):format(name)
    elseif not (expected == type(value) or type(expected) == "table" and expected[type(value)]) then
      found[#found + 1] = ("`%s` in vim.g.strata cannot be a %s"):format(name, type(value))
    end
  end
  table.sort(found)
  return found
end

---Returns whether the user trusts a workspace.
---@param root string
---@return boolean
function M.trusts(root)
  local trusted = M.get().trusted
  if type(trusted) ~= "table" then
    return trusted == true
  end
  return vim.iter(trusted):any(function(folder)
    folder = vim.fs.normalize(folder)
    return root == folder or vim.startswith(root, folder .. "/")
  end)
end

return M
