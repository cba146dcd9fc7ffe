import PackagePlugin

/// Refuses a tick that is not proved: for every control loop of the target, one call that carries `@_noLocks @_noAllocation`.
///
/// Types cannot demand the attributes of `tick`, so a tick without them compiles and nobody has looked at it. Switched on for a
/// target, `plugins: [.plugin(name: "ProvedTicks", package: "tactus")]`, its loops are proved whether they carry them or not.
@main
struct ProvedTicks: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let module = target as? SwiftSourceModuleTarget else { return [] }
    let sources = module.sourceFiles(withSuffix: ".swift").map(\.url)
    let output = context.pluginWorkDirectoryURL.appending(path: "ProvedTicks.swift")
    return [
      .buildCommand(
        displayName: "Proving the ticks of \(target.name)", executable: try context.tool(named: "ProvedTicksTool").url,
        arguments: ([output] + sources).map { $0.path(percentEncoded: false) }, inputFiles: sources,
        outputFiles: [output])
    ]
  }
}
