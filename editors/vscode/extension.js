// Starts the language server for .ptx files.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = function () {
  const command = workspace.getConfiguration("ptx-dsl").get("command");
  client = new LanguageClient(
    "ptx-dsl",
    "PTX",
    { command, args: ["lsp"] },
    { documentSelector: [{ language: "ptx" }] }
  );
  return client.start();
};

exports.deactivate = function () {
  return client ? client.stop() : undefined;
};
