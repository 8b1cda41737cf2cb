-- Opens a chat of CodeCompanion, adds the context with `/strata`, changes a file and the selection, and checks what the chat would send.
local top = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h:h:h")
for _, folder in ipairs({ vim.env.PLENARY, vim.env.CODECOMPANION, top .. "/editors/neovim" }) do
  vim.opt.runtimepath:prepend(folder)
end
vim.cmd.runtime("plugin/strata.lua")
vim.cmd.runtime("plugin/codecompanion.lua")

local function check(what, holds)
  io.write(holds and "ok: " or "FAILED: ", what, "\n")
  if not holds then
    os.exit(1)
  end
end

local function waited(what, condition)
  check(what, vim.wait(30000, condition, 20))
end

require("codecompanion").setup({
  extensions = { strata = {} },
  adapters = {
    http = {
      -- Never used, since nothing is sent.
      nobody = function()
        return require("codecompanion.adapters").extend("openai", { env = { api_key = "none" } })
      end,
    },
  },
  interactions = { chat = { adapter = "nobody" } },
})

vim.cmd.cd(vim.env.REPO)
vim.cmd.edit("src/greet.txt")
local strata = require("strata")
waited("the server is ready", function()
  local reply = strata.command("server.status")
  return reply and reply.index == "ready" and #vim.lsp.get_clients({ bufnr = 0, name = "strata" }) == 1
end)
vim.api.nvim_buf_set_lines(0, 0, 0, false, { "typed é" })
local file = vim.api.nvim_get_current_buf()
strata.select({ "src/greet.txt" })

local chat = require("codecompanion").chat()
check("a chat is open", chat ~= nil)
local config = require("codecompanion.config").interactions.chat.slash_commands.strata
check("the slash command exists", config ~= nil)
require("codecompanion.interactions.chat.slash_commands").new():execute({ label = "strata", config = config }, chat)

local function sent()
  return table.concat(
    vim.tbl_map(function(message)
      return message.content
    end, chat.messages),
    "\n"
  )
end

check("the typed text is in the chat", sent():find("typed é\non disk", 1, true) ~= nil)
chat:check_context()
check("CodeCompanion does not drop the context", sent():find("typed é", 1, true) ~= nil)
local before = sent()
vim.api.nvim_buf_set_lines(file, 0, 0, false, { "typed later" })
chat:dispatch_cancellable("on_before_submit", { adapter = chat.adapter })
check("text typed later is in the next message", sent():find("\n+typed later\n", 1, true) ~= nil)
check("sent messages are unchanged", vim.startswith(sent(), before .. "\n"))
strata.deselect({ "src/greet.txt" })
chat:dispatch_cancellable("on_before_submit", { adapter = chat.adapter })
check("a deselected file is removed in the next message", sent():find("\n-on disk\n", 1, true) ~= nil)
local count = #chat.messages
chat:dispatch_cancellable("on_before_submit", { adapter = chat.adapter })
check("nothing is added without a change", #chat.messages == count)
require("codecompanion.interactions.chat.slash_commands").new():execute({ label = "strata", config = config }, chat)
check("the context is added once", #chat.messages == count)
vim.cmd("qall!")
