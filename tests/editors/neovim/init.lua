-- The complete configuration of Strata for Neovim 0.11 without the plugin.
vim.lsp.config("strata", {
  cmd = { vim.env.STRATA_BIN, "serve" },
  root_markers = { ".git" },
  filetypes = { "rust", "python", "text" },
})
vim.lsp.enable("strata")
