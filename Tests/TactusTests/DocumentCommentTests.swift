import Foundation
import TestSupport
import Testing

/// What an embedder reads in an editor and in the documentation: every public symbol of the library products says what it is.
@Suite("Document comments", .ownThread)
struct DocumentCommentTests {
  /// Modules that are not yet documented throughout, and how many of their public symbols have no comment. The numbers only
  /// ever fall.
  static let incomplete = ["Leg": 100, "Plants": 175, "Pump": 160, "Robot": 88, "Sprinkler": 177, "Wire": 26]

  @Test("every public symbol of a library product has one")
  func publicSymbols() throws {
    // What Conversions has only those see who ask for it by name, and no list of symbols has it.
    for module in try Self.productModules() where module != "Conversions" {
      let missing = try SymbolGraph(ofModule: module).undocumented
      if let known = Self.incomplete[module] {
        #expect(
          missing.count == known, "\(module): \(missing.count) without a comment, \(known) listed: keep the lower")
      } else {
        #expect(missing.isEmpty, "\(module): without a comment: \(missing.joined(separator: "; "))")
      }
    }
  }

  @Test("a symbol without a comment is found, with its file and line; one with a comment is not, nor a synthesised one")
  func finding() throws {
    let graph = try SymbolGraph(
      Data(
        """
        {"symbols": [
          {"pathComponents": ["A", "b"], "location": {"uri": "file:///x/A.swift", "position": {"line": 6, "character": 2}}},
          {"pathComponents": ["A", "c"], "location": {"uri": "file:///x/A.swift", "position": {"line": 9, "character": 2}},
           "docComment": {"lines": [{"text": "What it is."}]}},
          {"pathComponents": ["A", "d"], "location": {"uri": "file:///x/A.swift", "position": {"line": 11, "character": 2}},
           "docComment": {"lines": [{"text": " "}]}},
          {"pathComponents": ["A", "init(rawValue:)"]}
        ]}
        """.utf8))
    #expect(graph.undocumented == ["A.b (A.swift:7)", "A.d (A.swift:12)"])
  }

  @Test(
    "DocC builds the catalogues without a warning: every link leads somewhere, every parameter is described",
    .enabled("this toolchain has no docc") { try runs(["docc", "--help"]) })
  func catalogues() throws {
    let sources = HouseTests.root.appending(path: "Sources")
    let catalogues = try FileManager.default.contentsOfDirectory(atPath: sources.path).sorted()
      .map { (module: $0, folder: sources.appending(path: "\($0)/\($0).docc")) }
      .filter { FileManager.default.fileExists(atPath: $0.folder.path) }
    try #require(catalogues.map(\.module) == ["Buses", "Tactus", "TactusControl"])
    for (module, catalogue) in catalogues {
      try SymbolGraph.withFolder(ofModule: module) { graphs in
        let (status, output) = try run([
          "docc", "convert", catalogue.path, "--additional-symbol-graph-dir", graphs.path, "--fallback-display-name",
          module, "--fallback-bundle-identifier", module, "--output-path", graphs.appending(path: "out").path,
          "--warnings-as-errors",
        ])
        #expect(status == 0, "\(module): \(output)")
      }
    }
  }

  /// The Swift modules of the library products.
  static func productModules() throws -> [String] {
    let sources = HouseTests.root.appending(path: "Sources")
    return try products().filter { module in
      let folders = [sources.appending(path: module), sources.appending(path: "Systems/\(module)")]
      let isSwift = folders.contains { folder in
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return files?.contains { ($0 as? URL)?.pathExtension == "swift" } ?? false
      }
      // The rest are headers, with their words in them.
      try #require(isSwift || module.hasPrefix("C"), "\(module): no sources")
      return isSwift
    }
  }

  /// The modules of the library products, from the manifest.
  static func products() throws -> [String] {
    let manifest = try String(contentsOf: HouseTests.root.appending(path: "Package.swift"), encoding: .utf8)
    let products = manifest.matches(of: /\.library\(\s*name:\s*"\w+",\s*targets:\s*\[([^\]]+)\]\s*\)/)
    try #require(
      products.count == manifest.ranges(of: ".library(").count && products.count > 0, "a product is not understood")
    return Set(products.flatMap { $0.1.matches(of: /"(\w+)"/).map { String($0.1) } }).sorted()
  }
}

/// What the compiler says of a module's public symbols.
private struct SymbolGraph: Decodable {
  struct Symbol: Decodable {
    struct Location: Decodable {
      struct Position: Decodable { var line: Int }
      var uri: String
      var position: Position
    }
    struct Comment: Decodable {
      struct Line: Decodable { var text: String }
      var lines: [Line]
    }
    var pathComponents: [String]
    /// `nil` for what the compiler has synthesised.
    var location: Location?
    /// Its own, or that of the requirement that it implements.
    var docComment: Comment?
  }
  var symbols: [Symbol]

  init(_ data: Data) throws { self = try JSONDecoder().decode(Self.self, from: data) }

  /// Extracts the graph of a module that was built with this test, with what it adds to the types of other modules.
  init(ofModule module: String) throws {
    symbols = try Self.withFolder(ofModule: module) { folder in
      try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        .flatMap { try SymbolGraph(Data(contentsOf: $0)).symbols }
    }
    try #require(!symbols.isEmpty, "no symbols of \(module)")
  }

  /// Hands `body` a folder with the module's graphs, which is removed afterwards.
  static func withFolder<Result>(ofModule module: String, _ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tactus-symbols-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let build = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().resolvingSymlinksInPath()
    // The C modules that it imports, of this package and of others: some have a module map of their own, of the rest SwiftPM makes one.
    let checkouts = HouseTests.root.appending(path: ".build/checkouts")
    let packages = (try? FileManager.default.contentsOfDirectory(at: checkouts, includingPropertiesForKeys: nil)) ?? []
    let headers = try ([HouseTests.root] + packages).map { $0.appending(path: "Sources") }
      .filter { FileManager.default.fileExists(atPath: $0.path) }
      .flatMap { try FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil) }
      .map { folder in
        // A system library's module map stands in its folder.
        let isLibrary = FileManager.default.fileExists(atPath: folder.appending(path: "module.modulemap").path)
        return isLibrary ? folder : folder.appending(path: "include")
      }
      .filter { FileManager.default.fileExists(atPath: $0.path) }
    let maps = try FileManager.default.contentsOfDirectory(at: build, includingPropertiesForKeys: nil)
      .map { $0.appending(path: "module.modulemap") }.filter { FileManager.default.fileExists(atPath: $0.path) }
    let shims =
      maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0.path)"] } + headers.flatMap { ["-Xcc", "-I\($0.path)"] }
    let (status, output) = try run(
      [
        "swift-symbolgraph-extract", "-module-name", module, "-target",
        build.deletingLastPathComponent().lastPathComponent, "-I", build.appending(path: "Modules").path,
        "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir", folder.path,
      ] + shims)
    try #require(status == 0, "no symbols of \(module): \(output)")
    return try body(folder)
  }

  var undocumented: [String] {
    symbols.compactMap { symbol in
      guard let location = symbol.location else { return nil }
      guard symbol.docComment?.lines.contains(where: { $0.text.contains { !$0.isWhitespace } }) != true else {
        return nil
      }
      let file = location.uri.split(separator: "/").last ?? ""
      return "\(symbol.pathComponents.joined(separator: ".")) (\(file):\(location.position.line + 1))"
    }.sorted()
  }
}

/// Runs a program of the toolchain. Returns its status and what it said.
private func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = arguments
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = pipe
  try process.run()
  let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  return (process.terminationStatus, output)
}

private func runs(_ arguments: [String]) throws -> Bool { try run(arguments).status == 0 }
