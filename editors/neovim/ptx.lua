-- PTX in Neovim: put this file into `plugin/` of the configuration. It wants `ptx-dsl` with the feature `lsp` on the path.
local function start(buffer)
  local client = vim.lsp.start_client({
    name = "ptx-dsl",
    cmd = vim.g.ptx_dsl_command or { "ptx-dsl", "lsp" },
    root_dir = vim.fn.getcwd(),
  })
  if client then
    vim.lsp.buf_attach_client(buffer, client)
  end
end

vim.cmd("autocmd BufRead,BufNewFile *.ptx setfiletype ptx")
vim.api.nvim_create_autocmd("FileType", {
  pattern = "ptx",
  callback = function(event)
    vim.bo[event.buf].commentstring = "// %s"
    vim.bo[event.buf].omnifunc = "v:lua.vim.lsp.omnifunc"
    start(event.buf)
  end,
})
