// Starts the language server for .ptx files, and beside rust-analyzer for `ptx!` in .rs files. Starts the debugger of a kernel.
const { debug, window, workspace, DebugAdapterExecutable, ViewColumn } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = function (context) {
  const settings = workspace.getConfiguration("ptx-dsl");
  context.subscriptions.push(
    debug.registerDebugAdapterDescriptorFactory("ptx", {
      createDebugAdapterDescriptor: () => new DebugAdapterExecutable(settings.get("command"), ["debug", "--dap"]),
    })
  );
  const documentSelector = [{ language: "ptx" }];
  if (settings.get("rust")) documentSelector.push({ language: "rust" });
  client = new LanguageClient(
    "ptx-dsl",
    "PTX",
    { command: settings.get("command"), args: ["lsp"] },
    {
      documentSelector,
      middleware: {
        // what `check`, `run` and `explore` of a lens say, beside the file
        executeCommand: async (command, args, next) => {
          const content = await next(command, args);
          const document = await workspace.openTextDocument({ content });
          await window.showTextDocument(document, { viewColumn: ViewColumn.Beside, preserveFocus: true });
        },
      },
    }
  );
  return client.start();
};

exports.deactivate = function () {
  return client ? client.stop() : undefined;
};
