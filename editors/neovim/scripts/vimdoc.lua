--- Generates doc/strata.txt from the annotations in lua/: `nvim -l scripts/vimdoc.lua`. With `--check`, writes nothing and fails if the
--- manual is stale.

local WIDTH = 78

-- Defaults that the plugin overrides in lua/strata/server.lua.
local OWN_DEFAULTS = { ["lsp.features"] = {} }

local here = vim.fn.fnamemodify(vim.fn.resolve(debug.getinfo(1, "S").source:sub(2)), ":p:h:h")
local out = {}

local function add(line)
  line = line:gsub("%s+$", "")
  if line ~= "" or out[#out] ~= "" then
    out[#out + 1] = line
  end
end

---Adds a line with a tag at its end.
local function tagged(text, tag)
  tag = ("*%s*"):format(tag)
  if #text + #tag + 1 > WIDTH then
    add((" "):rep(WIDTH - #tag) .. tag)
    return add(text)
  end
  add(text .. (" "):rep(WIDTH - #text - #tag) .. tag)
end

---Breaks a paragraph into lines.
local function wrapped(text, indent)
  local line = ""
  for word in text:gmatch("%S+") do
    if line ~= "" and #indent + #line + 1 + #word > WIDTH then
      add(indent .. line)
      line = ""
    end
    line = line == "" and word or line .. " " .. word
  end
  if line ~= "" then
    add(indent .. line)
  end
end

---Adds paragraphs and examples. Examples are not wrapped.
local function block(lines, indent)
  local paragraph = {}
  local function flush()
    wrapped(table.concat(paragraph, " "), indent)
    paragraph = {}
  end
  local example = false
  for _, line in ipairs(lines) do
    if line:match("^>") then
      flush()
      add(indent .. line)
      example = true
    elseif line:match("^<") then
      add("<")
      example = false
    elseif example then
      add(line == "" and "" or indent .. line)
    elseif line == "" then
      flush()
      add("")
    else
      paragraph[#paragraph + 1] = line
    end
  end
  flush()
end

local function heading(title, tag)
  add(("="):rep(WIDTH))
  tagged(title:upper(), tag)
  add("")
end

local function source(path)
  return vim.fn.readfile(here .. "/lua/" .. path)
end

---Returns the `@brief` of a module.
local function brief(path)
  local found, inside = {}, false
  for _, line in ipairs(source(path)) do
    local text = line:match("^%-%-%-(.*)")
    if line:match("^%-%-%-@brief") then
      inside = true
    elseif inside and text and not vim.startswith(text, " Owns") then
      found[#found + 1] = text
    elseif inside then
      break
    end
  end
  assert(#found > 0, path .. " has no @brief")
  return found
end

---Returns the fields of a class.
local function fields(path, class)
  local found, inside = {}, false
  for _, line in ipairs(source(path)) do
    if line:match("^%-%-%-@class " .. vim.pesc(class) .. "$") then
      inside = true
    elseif inside and not line:match("^%-%-%-@field") then
      break
    elseif inside then
      local name, rest = line:match("^%-%-%-@field (%S+) (.*)")
      -- A type may contain spaces inside parentheses and braces.
      local depth, cut = 0, #rest + 1
      for at = 1, #rest do
        local sign = rest:sub(at, at)
        depth = depth + (sign:match("[({]") and 1 or sign:match("[)}]") and -1 or 0)
        if sign == " " and depth == 0 and not rest:sub(at - 1, at - 1):match("[:,]") then
          cut = at
          break
        end
      end
      found[#found + 1] = { name = name, type = rest:sub(1, cut - 1), text = rest:sub(cut + 1) }
    end
  end
  assert(#found > 0, class .. " has no fields")
  return found
end

local function field_list(path, class)
  for _, field in ipairs(fields(path, class)) do
    add(("    {%s} `%s`"):format(field.name:gsub("%?", ""), field.type))
    wrapped(field.text, "        ")
  end
end

---Returns the public functions of a module with their annotations.
local function functions(path)
  local found, comment = {}, {}
  for _, line in ipairs(source(path)) do
    local text = line:match("^%-%-%-(.*)")
    local name, arguments = line:match("^function M%.([%w_]+)%((.-)%)")
    if text then
      comment[#comment + 1] = text
    elseif name then
      found[#found + 1] = { name = name, arguments = arguments, comment = comment }
      comment = {}
    else
      comment = {}
    end
  end
  return found
end

local function describe(known)
  local given = vim.tbl_map(function(name)
    return ("{%s}"):format(name)
  end, vim.split(known.arguments, ", ", { trimempty = true }))
  tagged(("strata.%s(%s)"):format(known.name, table.concat(given, ", ")), ("strata.%s()"):format(known.name))
  local text = vim.tbl_filter(function(line)
    return not vim.startswith(line, "@")
  end, known.comment)
  block(text, "    ")
  for _, line in ipairs(known.comment) do
    local name, kind, about = line:match("^@param (%S+) (%S+)%s*(.*)")
    if line:match("^@param %S+ fun%(") then
      name, kind = line:match("^@param (%S+) (fun%b())")
      about = ""
    end
    if name then
      add(("    {%s} `%s`"):format(name:gsub("%?", ""), kind))
      wrapped(about, "        ")
    end
  end
  for _, line in ipairs(known.comment) do
    local kind, about = line:match("^@return (%S+)%s*(.*)")
    if kind then
      add(("    Returns `%s` %s"):format(kind, about))
    end
  end
  add("")
end

local SCHEMA = here .. "/../../docs/schema/settings.json"

---Returns the server's settings from their schema, with dotted names.
local function settings()
  local schema = vim.json.decode(table.concat(vim.fn.readfile(SCHEMA), "\n"), { luanil = { object = true } })
  local found = {}
  local function shape_of(property)
    -- The schema of an optional setting is a choice between its type and null.
    local inner = property.anyOf and property.anyOf[1] or property
    return inner["$ref"] and schema["$defs"][inner["$ref"]:match("[^/]+$")] or inner
  end
  local function collect(prefix, node)
    for name, property in vim.spairs(node.properties) do
      local shape = shape_of(property)
      if shape.properties then
        collect(prefix .. name .. ".", shape)
      else
        local list = shape.items and shape_of(shape.items)
        local values = vim.tbl_map(function(value)
          return ("`%s`"):format(value.const)
        end, (list or shape).oneOf or {})
        local sentence = list and " Any of %s." or " One of %s."
        local choice = #values > 0 and sentence:format(table.concat(values, ", ")) or ""
        local text = (property.description or shape.description or "") .. choice
        local default = OWN_DEFAULTS[prefix .. name]
        if default == nil then
          default = property.default
        end
        found[#found + 1] = { name = prefix .. name, default = default, text = text }
      end
    end
  end
  collect("", schema)
  return found
end

---Formats a default, or returns an empty string if it is too long.
local function default_of(setting)
  local text = setting.default ~= nil and vim.json.encode(setting.default):gsub("\\/", "/") or ""
  return #text <= 30 and text or ""
end

local function contents(sections)
  for _, section in ipairs(sections) do
    local tag = ("|%s|"):format(section[2])
    add(("    %s%s%s"):format(section[1], ("."):rep(WIDTH - 8 - #section[1] - #tag), tag))
  end
  add("")
end

vim.opt.runtimepath:prepend(here)

local INTRODUCTION = {
  "Strata manages what a language model sees: which files in full, which as outlines, and in which order, so that",
  "prompts fit and reuse the provider's cache. This plugin is a thin client of the language server `strata serve`. It",
  "requires Neovim 0.10 or later and no other plugin.",
  "",
  "No setup is needed: opening a file of a workspace starts the server. No keys are mapped; see",
  "|strata-mappings|.",
  "",
  ">vim",
  '    :Strata add                     " this file, with unsaved changes',
  '    :Strata context                 " what the model sees, as an editable list',
  '    :Strata preview Why is it slow? " the next prompt',
  "<",
  "",
  'On Neovim 0.11 and later, the server is a regular configuration: `vim.lsp.config("strata", ...)` changes it, and',
  '`vim.lsp.enable("strata", false)` disables it. A crashed server restarts and continues its conversation.',
  "|vim.lsp.status()| shows the server's progress.",
}

local SECTIONS = {
  { "Introduction", "strata-introduction" },
  { "Options", "strata-options" },
  { "Commands", "strata-commands" },
  { "Mappings", "strata-mappings" },
  { "Context buffer", "strata-context" },
  { "Compaction buffer", "strata-compaction" },
  { "Preview", "strata-preview" },
  { "Statusline", "strata-statusline" },
  { "Events", "strata-events" },
  { "Lua", "strata-lua" },
  { "Asking", "strata-ask" },
  { "Asking with curl", "strata-curl" },
  { "CodeCompanion", "strata-codecompanion" },
}

-- The schema is missing if the plugin was copied out of its repository.
if vim.fn.filereadable(SCHEMA) == 1 then
  table.insert(SECTIONS, 3, { "Settings", "strata-settings" })
end

local WRITE = {}

function WRITE.introduction()
  block(INTRODUCTION, "")
end

function WRITE.options()
  wrapped("Set options in one table, before the plugin is loaded:", "")
  block(
    { ">lua", '    vim.g.strata = { trusted = { "~/src" }, settings = { model = "gpt-5" } }', "<", "" },
    ""
  )
  for _, field in ipairs(fields("strata/options.lua", "strata.Options")) do
    local name = field.name:gsub("%?", "")
    tagged(("{%s} `%s`"):format(name, field.type), "strata-option-" .. name)
    wrapped(field.text, "    ")
    add("")
  end
end

function WRITE.settings()
  block({
    "Server settings, as {settings} in |strata-options| or through `vim.lsp.config`; a dot separates nested tables:",
    "",
    ">lua",
    '    vim.lsp.config("strata", { settings = { strata = { cache = { ttl = "1h" } } } })',
    "<",
    "",
    "Each setting with its default, if short:",
    "",
  }, "")
  for _, setting in ipairs(settings()) do
    tagged(vim.trim(("%s  %s"):format(setting.name, default_of(setting))), "strata-setting-" .. setting.name)
    wrapped(setting.text, "    ")
  end
end

function WRITE.commands()
  wrapped(
    "All commands are subcommands of `:Strata`, with completion. `:Strata` alone opens a menu.",
    ""
  )
  add("")
  for _, known in ipairs(require("strata.subcommands")) do
    tagged((":Strata %s %s"):format(known.name, known.takes), ":Strata-" .. known.name)
    wrapped(known.does, "    ")
    add("")
  end
end

function WRITE.mappings()
  wrapped("No keys are mapped by default. Each mapping runs the command of the same name:", "")
  add("")
  for _, line in ipairs(vim.fn.readfile(here .. "/plugin/strata.lua")) do
    local name, does = line:match('^  { "(%w+)", "(.*)" },$')
    if name then
      tagged(does, ("<Plug>(strata-%s)"):format(name))
    end
  end
  add("")
  block({
    "In Visual mode, `<Plug>(strata-add)` adds the selected lines.",
    "",
    ">lua",
    '    vim.keymap.set({ "n", "x" }, "<Leader>sa", "<Plug>(strata-add)")',
    '    vim.keymap.set("n", "<Leader>sc", "<Plug>(strata-context)")',
    "<",
  }, "")
end

function WRITE.context()
  block(brief("strata/context/init.lua"), "")
  for _, key in ipairs(require("strata.context").KEYS) do
    add(("    %-6s `<Plug>(strata-context-%s)`"):format(key[1], key[2]))
    wrapped(key[3], "           ")
  end
end

function WRITE.compaction()
  block(brief("strata/compaction.lua"), "")
  for _, key in ipairs(require("strata.compaction").KEYS) do
    add(("    %-6s `<Plug>(strata-compaction-%s)`"):format(key[1], key[2]))
    wrapped(key[3], "           ")
  end
end

function WRITE.preview()
  block(brief("strata/preview.lua"), "")
end

function WRITE.statusline()
  block({
    "|strata.statusline()| shows how full the window is, the cache hit rate, how long the cache lasts, and how close",
    "the next compaction is. |vim.lsp.status()| shows the progress of indexing and compactions.",
    "",
    ">vim",
    "    set statusline+=%{v:lua.require'strata'.statusline()}",
    "<",
    ">lua",
    '    require("lualine").setup({ sections = { lualine_x = { require("strata").statusline } } })',
    "<",
  }, "")
end

function WRITE.events()
  wrapped("Autocommands of the |User| event:", "")
  add("")
  tagged("StrataStatus", "StrataStatus")
  wrapped("The meter changed. `data` contains the `root` of the workspace and the `meter`:", "    ")
  field_list("strata/notices.lua", "strata.Meter")
  add("")
  tagged("StrataCompaction", "StrataCompaction")
  wrapped(
    "A compaction started, ended or failed. `data` contains the server's notification as `news`, and the `root`.",
    "    "
  )
end

function WRITE.lua()
  wrapped("For plugins that talk to a model:", "")
  block({
    ">lua",
    '    local strata = require("strata")',
    '    strata.assemble({ prompt = "Why does this fail?" }, function(err, prompt)',
    "      -- send prompt.body, then:",
    '      strata.record({ id = prompt.id, response = "Because ..." }, function() end)',
    "    end)",
    "<",
    "",
    "Without a callback, these functions wait and return the reply, or nil and the error. Pending edits are sent to the",
    "server first. All commands: docs/commands.md in the repository.",
    "",
  }, "")
  for _, known in ipairs(functions("strata/init.lua")) do
    describe(known)
  end
  tagged("strata.Error", "strata.Error")
  field_list("strata/calls.lua", "strata.Error")
  add("")
  tagged("strata.Summarize", "strata.Summarize")
  field_list("strata/requests.lua", "strata.Summarize")
end

function WRITE.ask()
  block(brief("strata/ask.lua"), "")
end

function WRITE.curl()
  block(brief("strata/adapters/curl.lua"), "")
end

function WRITE.codecompanion()
  block(brief("codecompanion/_extensions/strata/init.lua"), "")
  add("")
  block(brief("strata/codecompanion/init.lua"), "")
end

tagged("*strata.txt*  Manages what a language model sees", "strata")
add("")
contents(SECTIONS)
for _, section in ipairs(SECTIONS) do
  heading(section[1], section[2])
  WRITE[section[2]:gsub("^strata%-", "")]()
  add("")
end
add("vim:tw=78:ts=8:noet:ft=help:norl:")

local path = here .. "/doc/strata.txt"
if arg[1] == "--check" then
  local there = vim.fn.filereadable(path) == 1 and vim.fn.readfile(path) or {}
  if not vim.deep_equal(there, out) then
    io.stderr:write("doc/strata.txt is stale; regenerate it: nvim -l scripts/vimdoc.lua\n")
    os.exit(1)
  end
else
  vim.fn.writefile(out, path)
end
