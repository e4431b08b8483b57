-- A walk through the language server with a real Neovim:
--   nvim --headless -u NONE -c "let g:ptx_dsl_command = ['target/debug/ptx-dsl', 'lsp']" -c "luafile editors/neovim/test.lua"
-- It ends with status 0 if each answer is right.
local here = debug.getinfo(1, "S").source:sub(2):match("(.*)/")
local function check(holds, what)
  if not holds then
    io.stderr:write("wrong: " .. what .. "\n")
    vim.cmd("cquit 1")
  end
end

local ok, problem = pcall(function()
  vim.cmd("filetype on")
  dofile(here .. "/ptx.lua")
  local file = vim.fn.tempname() .. ".ptx"
  vim.fn.writefile({
    ".version 8.0",
    ".target sm_90",
    ".address_size 64",
    ".visible .entry k(.param .u64 .ptr .global .align 4 x)",
    "{",
    "    .reg .b32 %v;",
    "    .reg .b64 %x;",
    "    ld.param.u64 %x, [x];",
    "    ld.globl.u32 %v, [%x];",
    "    st.global.u32 [%x], %v;",
    "    ret;",
    "}",
  }, file)
  vim.cmd("edit " .. file)
  local buffer = vim.api.nvim_get_current_buf()
  local function found()
    return vim.diagnostic.get(buffer)
  end
  check(vim.wait(10000, function() return #found() == 1 end), "one finding, not " .. vim.inspect(found()))
  check(found()[1].lnum == 8 and found()[1].message:find("did you mean `.global`", 1, true), vim.inspect(found()))

  local function ask(method, line, column, more)
    local params = vim.tbl_extend("force", {
      textDocument = vim.lsp.util.make_text_document_params(buffer),
      position = { line = line, character = column },
    }, more or {})
    local answers = vim.lsp.buf_request_sync(buffer, method, params, 10000)
    for _, answer in pairs(answers or {}) do
      check(not answer.error, vim.inspect(answer.error))
      return answer.result
    end
  end

  local hover = ask("textDocument/hover", 7, 6)
  check(hover.contents.value:find("PTX ISA 9.7.9.8", 1, true), vim.inspect(hover))
  local place = ask("textDocument/definition", 9, 20)
  check(place.range.start.line == 6, vim.inspect(place))
  local list = ask("textDocument/completion", 8, 7)
  check(#list > 5, vim.inspect(list))

  -- the edit of the finding, applied
  local at = { start = { line = 8, character = 7 }, ["end"] = { line = 8, character = 12 } }
  local actions = ask("textDocument/codeAction", 8, 7, { range = at, context = { diagnostics = {} } })
  vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
  check(vim.wait(10000, function() return #found() == 0 end), "no finding after the edit")

  -- a register renamed
  vim.lsp.util.apply_workspace_edit(ask("textDocument/rename", 6, 15, { newName = "%address" }), "utf-16")
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), "\n")
  check(text:find("st.global.u32 [%address], %v;", 1, true) and not text:find("%x", 1, true), text)
end)
check(ok, tostring(problem))
print("right\n")
vim.cmd("qall!")
