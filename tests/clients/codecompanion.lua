-- The plugin, plenary and CodeCompanion, as a plugin manager would load them, with CodeCompanion's own adapter for Anthropic and
-- Strata's, which sends through that.
local top = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h:h")
for _, folder in ipairs({ vim.env.PLENARY, vim.env.CODECOMPANION, top .. "/editors/neovim" }) do
  vim.opt.runtimepath:prepend(folder)
end
vim.g.strata = { path = vim.env.STRATA_BIN }
vim.opt.shortmess:append("F")

local function stand_in()
  return require("codecompanion.adapters").extend("anthropic", {
    url = vim.env.STAND_IN .. "/v1/messages",
    env = { api_key = "STAND_IN_KEY" },
    opts = { compaction = false },
    schema = { model = { default = vim.env.STRATA_MODEL, choices = { [vim.env.STRATA_MODEL] = { opts = {} } } } },
  })
end

vim.api.nvim_create_autocmd("VimEnter", {
  callback = function()
    require("codecompanion").setup({
      extensions = { strata = { opts = { adapter = "stand_in" } } },
      adapters = { http = { stand_in = stand_in } },
      interactions = { chat = { adapter = vim.env.CHAT_ADAPTER } },
    })
  end,
})
