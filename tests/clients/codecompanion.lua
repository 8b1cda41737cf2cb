-- The plugin, plenary and CodeCompanion, as a plugin manager would load them, with one of CodeCompanion's own adapters and
-- Strata's, which sends through that.
local top = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h:h")
for _, folder in ipairs({ vim.env.PLENARY, vim.env.CODECOMPANION, top .. "/editors/neovim" }) do
  vim.opt.runtimepath:prepend(folder)
end
vim.g.strata = { path = vim.env.STRATA_BIN }
vim.opt.shortmess:append("F")

-- Notes what the user is told. A long message would wait for a key.
_G.NOTIFIED = {}
vim.notify = function(message)
  table.insert(_G.NOTIFIED, message)
end

-- Where the stand-in takes the bodies of an adapter.
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

-- A tool of a user's, which asks nobody for leave.
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
        description = "Says what the weather is",
        parameters = {
          type = "object",
          properties = { city = { type = "string", description = "Where" } },
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
              description = "Says what the weather is",
              opts = { require_approval_before = false },
            },
          },
        },
      },
    })
  end,
})
