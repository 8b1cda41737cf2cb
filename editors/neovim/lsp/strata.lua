-- What `vim.lsp.config("strata", ...)` begins with; `vim.lsp.enable("strata")` finds it here.
return require("strata.server").config()
