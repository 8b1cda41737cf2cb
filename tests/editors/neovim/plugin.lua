-- The plugin of this repository, as a plugin manager would load it, and nothing else.
local top = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h:h:h")
vim.opt.runtimepath:prepend(top .. "/editors/neovim")
vim.g.strata = { path = vim.env.STRATA_BIN }
