import Foundation
import PackagePlugin

/// Fails the build if a Swift file imports a module that its target does not declare in Package.swift.
///
/// SwiftPM's option `--explicit-target-dependency-import-check` reports no violations with this toolchain. The plugin
/// is applied only to the program's target but reads every target of the package, so builds that use the package as a
/// dependency never run it.
@main
struct DeclaredImports: BuildToolPlugin {
  /// The modules that come with the toolchain.
  static let system: Set<String> = [
    "Dispatch", "Foundation", "FoundationNetworking", "Glibc", "Darwin", "Network", "Observation", "PackageDescription",
    "Security", "Swift", "Synchronization", "Testing",
  ]

  /// The compilation conditions that Package.swift sets for its traits.
  static let traits: Set<String> = ["TLS", "Video"]

  func createBuildCommands(context: PluginContext, target: Target) async throws -> [Command] {
    // Built for somebody who depends on this package and on no other: there is no product then that a target could declare.
    guard !context.package.dependencies.isEmpty else { return [] }
    for target in context.package.targets {
      guard let module = target as? SwiftSourceModuleTarget else { continue }
      let allowed = Self.system.union(declared(by: module))
      for file in module.sourceFiles(withSuffix: ".swift") { try check(file.url, module.name, allowed) }
    }
    return []
  }

  private func declared(by target: SwiftSourceModuleTarget) -> Set<String> {
    var names: Set<String> = []
    for dependency in target.dependencies {
      switch dependency {
      case .target(let target): names.insert((target as? SourceModuleTarget)?.moduleName ?? target.name)
      case .product(let product): names.insert(product.name)
      @unknown default: break
      }
    }
    return names
  }

  private func check(_ file: URL, _ target: String, _ allowed: Set<String>) throws {
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    var isConditional = false
    for (number, line) in lines.enumerated() {
      // A dependency that hangs on a trait is not shown while the trait is off.
      let plain = line.drop { $0 == " " }
      if plain.hasPrefix("#if "), Self.traits.contains(String(plain.dropFirst(4))) { isConditional = true }
      if plain.hasPrefix("#else") || plain.hasPrefix("#endif") { isConditional = false }
      guard !isConditional else { continue }
      var words = line.split(separator: " ")[...]
      while let word = words.first, word.hasPrefix("@") || ["public", "internal", "package", "private"].contains(word) {
        words = words.dropFirst()
      }
      guard words.first == "import", words.count >= 2 else { continue }
      let name = String(words[words.startIndex + 1].prefix { $0 != "." })
      guard !allowed.contains(name) else { continue }
      Diagnostics.error(
        "target \(target) imports \(name), which its dependencies in Package.swift do not name", file: file.path,
        line: number + 1)
    }
  }
}
