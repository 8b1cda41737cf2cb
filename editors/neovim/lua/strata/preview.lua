---@brief
---`:Strata preview [text]` opens the next prompt as the model would see it, with `text` as the question. Press `R` to update it. Each
---part is a fold.
---
--- Owns the preview buffer.

local calls = require("strata.calls")
local display = require("strata.display")
local window = require("strata.window")

local M = {}

local NAME = "strata://preview"
local space = vim.api.nvim_create_namespace("strata.preview")

---@type table<integer, { request?: string, folds: table<integer, string> }>
local shown = {}

---Shows the size and tier of each part after its first line, and sets its fold.
local function annotate(buffer, parts)
  vim.api.nvim_buf_clear_namespace(buffer, space, 0, -1)
  local folds = {}
  for _, part in ipairs(parts or {}) do
    local notes =
      { ("%s tokens"):format(window.number(part.tokens)), part.tier, part.marked and "cache mark" or nil }
    local text = { "  " .. display.line(table.concat(vim.tbl_values(notes), ", ")), "Comment" }
    pcall(
      vim.api.nvim_buf_set_extmark,
      buffer,
      space,
      part.line,
      0,
      { virt_text = { text }, virt_text_pos = "eol" }
    )
    folds[part.line + 1] = ">1"
  end
  shown[buffer].folds = folds
end

---For 'foldexpr'.
---@return string
function M.fold()
  local known = shown[vim.api.nvim_get_current_buf()]
  return known and known.folds[vim.v.lnum] or "="
end

---Reloads the prompt.
---@param buffer integer
function M.refresh(buffer)
  local request = shown[buffer].request
  calls.send("prompt.preview", request and { prompt = request }, function(err, reply)
    if err then
      return calls.complain(err)
    end
    if not shown[buffer] or not vim.api.nvim_buf_is_loaded(buffer) then
      return
    end
    vim.bo[buffer].modifiable = true
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(reply.text, "\n", { plain = true }))
    vim.bo[buffer].modifiable = false
    vim.bo[buffer].modified = false
    annotate(buffer, reply.parts)
    for _, at in ipairs(vim.fn.win_findbuf(buffer)) do
      local size = window.number(reply.tokens)
      display.winbar(at, "Next prompt", size .. " tokens", "R reloads")
      -- Setting the expression makes Neovim evaluate it again.
      vim.wo[at][0].foldexpr = "v:lua.require'strata.preview'.fold()"
    end
  end, vim.b[buffer].strata_root)
end

---Opens the preview.
---@param root string
---@param request? string
---@param mods? table
function M.open(root, request, mods)
  local buffer = window.open(NAME, mods)
  vim.b[buffer].strata_root = root
  if not shown[buffer] then
    vim.bo[buffer].swapfile = false
    vim.bo[buffer].filetype = "markdown"
    vim.keymap.set("n", "R", function()
      M.refresh(buffer)
    end, { buffer = buffer, desc = "Strata: reload the prompt" })
    vim.api.nvim_create_autocmd("BufWipeout", {
      buffer = buffer,
      callback = function()
        shown[buffer] = nil
      end,
    })
  end
  shown[buffer] = { request = request, folds = {} }
  vim.wo[0][0].linebreak = true
  vim.wo[0][0].foldmethod = "expr"
  vim.wo[0][0].foldlevel = 99
  M.refresh(buffer)
end

return M
