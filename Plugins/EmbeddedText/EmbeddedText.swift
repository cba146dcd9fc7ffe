import Foundation
import PackagePlugin

/// Builds a target's text files into it: `EmbeddedText.files`, by their paths below the target's folder, as string literals.
///
/// SwiftPM's own `.embedInCode` writes an array of bytes, over which the compiler takes minutes and gigabytes.
@main
struct EmbeddedText: BuildToolPlugin {
  static let suffixes: Set<String> = ["css", "html", "js", "json"]

  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let folder = target.directoryURL.path(percentEncoded: false)
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
      .filter { Self.suffixes.contains(($0 as NSString).pathExtension) }.sorted()
    let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedText.swift")
    // The literals' delimiter has more signs than any file that is embedded.
    let script = ######"""
      cd "$1"; output="$2"; shift 2
      {
        printf 'enum EmbeddedText {\n  static let files: [(name: String, text: String)] = [\n'
        for name in "$@"; do printf '("%s", ####"""\n' "$name"; cat "$name"; printf '\n"""####),\n'; done
        printf '  ]\n}\n'
      } > "$output"
      """######
    return [
      .buildCommand(
        displayName: "Embedding \(names.count) files in \(target.name)", executable: URL(filePath: "/bin/sh"),
        arguments: ["-ec", script, "sh", folder, output.path(percentEncoded: false)] + names,
        inputFiles: names.map { target.directoryURL.appending(path: $0) }, outputFiles: [output])
    ]
  }
}
