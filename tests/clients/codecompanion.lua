-- Loads the plugin, plenary and CodeCompanion like a plugin manager, and sets up one of CodeCompanion's own adapters and Strata's adapter,
-- which sends through the other.
local top = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h:h")
for _, folder in ipairs({ vim.env.PLENARY, vim.env.CODECOMPANION, top .. "/editors/neovim" }) do
  vim.opt.runtimepath:prepend(folder)
end
vim.g.strata = { path = vim.env.STRATA_BIN }
vim.opt.shortmess:append("F")

-- Records notifications instead of showing them, since a long message would wait for a key.
_G.NOTIFIED = {}
vim.notify = function(message)
  table.insert(_G.NOTIFIED, message)
end

-- The stand-in's path for the bodies of each adapter.
local PATHS =
  { anthropic = "/v1/messages", openai = "/v1/chat/completions", openai_responses = "/v1/responses" }

local function stand_in()
  local base, model = vim.env.BASE_ADAPTER, vim.env.STRATA_MODEL
  return require("codecompanion.adapters").extend(base, {
    url = vim.env.STAND_IN .. PATHS[base],
    env = { api_key = "STAND_IN_KEY" },
    opts = { compaction = false },
    schema = { model = { default = model, choices = { [model] = { opts = { can_use_tools = true } } } } },
  })
end

-- A user's own tool, which needs no approval.
local function weather()
  return {
    name = "weather",
    cmds = {
      function(_, arguments)
        return { status = "success", data = "It rains in " .. arguments.city .. "." }
      end,
    },
    schema = {
      type = "function",
      ["function"] = {
        name = "weather",
        description = "Returns the weather in a city",
        parameters = {
          type = "object",
          properties = { city = { type = "string", description = "Name of the city" } },
          required = { "city" },
        },
      },
    },
    output = {
      success = function(self, stdout, meta)
        meta.tools.chat:add_tool_output(self, type(stdout) == "table" and stdout[1] or stdout)
      end,
    },
  }
end

vim.api.nvim_create_autocmd("VimEnter", {
  callback = function()
    require("codecompanion").setup({
      extensions = { strata = { opts = { adapter = "stand_in" } } },
      adapters = { http = { stand_in = stand_in } },
      interactions = {
        chat = {
          adapter = vim.env.CHAT_ADAPTER,
          tools = {
            opts = { default_tools = vim.env.CHAT_TOOL and { vim.env.CHAT_TOOL } or {} },
            weather = {
              callback = weather,
              description = "Returns the weather in a city",
              opts = { require_approval_before = false },
            },
          },
        },
      },
    })
  end,
})
