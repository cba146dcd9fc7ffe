import PackagePlugin

/// Refuses control loops whose ticks are not proved to be free of locks and allocations: for every control loop of the
/// target it generates one call that carries `@_noLocks @_noAllocation`.
///
/// A protocol cannot require these attributes of `tick`, so a tick without them compiles unchecked. A target enables
/// the plugin by `plugins: [.plugin(name: "ProvedTicks", package: "tactus")]`; its loops are then proved whether they
/// carry the attributes or not.
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
