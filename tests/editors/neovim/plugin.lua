-- Loads only the plugin of this repository, like a plugin manager.
local top = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h:h:h")
vim.opt.runtimepath:prepend(top .. "/editors/neovim")
vim.g.strata = { path = vim.env.STRATA_BIN }
