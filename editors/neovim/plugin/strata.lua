-- Defines the command and the <Plug> mappings, and attaches files. The modules in lua/strata are loaded on first use.
if vim.g.loaded_strata then
  return
end
vim.g.loaded_strata = true

vim.api.nvim_create_user_command("Strata", function(call)
  require("strata.command").run(call)
end, {
  nargs = "*",
  range = true,
  bang = true,
  desc = "Manage what the model sees",
  complete = function(lead, line)
    return require("strata.command").complete(lead, line)
  end,
})

-- Each mapping is a subcommand.
local MAPPINGS = {
  { "add", "add this file to the context" },
  { "remove", "deselect this file" },
  { "toggle", "add or remove this file" },
  { "exclude", "exclude this file" },
  { "include", "include this file again" },
  { "pick", "choose a file to add" },
  { "context", "open the context buffer" },
  { "preview", "open the next prompt" },
  { "sessions", "choose a session" },
  { "compact", "compact the conversation" },
  { "compaction", "show how close a compaction is" },
  { "status", "show how full the window is" },
}
for _, mapping in ipairs(MAPPINGS) do
  local name, does = mapping[1], mapping[2]
  local plug = ("<Plug>(strata-%s)"):format(name)
  vim.keymap.set("n", plug, ("<Cmd>Strata %s<CR>"):format(name), { desc = "Strata: " .. does })
end
vim.keymap.set(
  "x",
  "<Plug>(strata-add)",
  ":Strata add<CR>",
  { desc = "Strata: add these lines", silent = true }
)

if (vim.g.strata or {}).autostart ~= false then
  local group = vim.api.nvim_create_augroup("strata.attach", {})
  if vim.lsp.enable then
    vim.lsp.enable("strata")
  end
  -- `vim.lsp.enable` does not attach buffers without a file type, and does not exist in Neovim 0.10.
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost", "FileType" }, {
    group = group,
    desc = "Strata tracks this buffer",
    callback = function(event)
      if vim.bo[event.buf].buftype == "" and vim.api.nvim_buf_get_name(event.buf) ~= "" then
        vim.schedule(function()
          require("strata.server").attach(event.buf)
        end)
      end
    end,
  })
end
