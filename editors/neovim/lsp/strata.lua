-- Default configuration for `vim.lsp.enable("strata")`, which `vim.lsp.config("strata", ...)` extends.
return require("strata.server").config()
