-- All that Neovim 0.11 needs to use Strata.
vim.lsp.config("strata", {
  cmd = { vim.env.STRATA_BIN, "serve" },
  root_markers = { ".git" },
  filetypes = { "rust", "python", "text" },
})
vim.lsp.enable("strata")
