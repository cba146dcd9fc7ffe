import Foundation

/// Compiles Swift source against the modules of this very build, as an embedder's compiler would.
///
/// - Parameters:
///   - options: of the compiler, such as `-O`.
///   - asProgram: the source is a program, with statements outside of functions.
/// - Returns: the compiler's status, 0 when it accepted the source, and what it said.
public func compile(
  _ source: String, options: [String] = [], asProgram: Bool = false
) throws -> (status: Int32, output: String) {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tactus-proof-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  let file = folder.appendingPathComponent(asProgram ? "main.swift" : "Loop.swift")
  try source.write(to: file, atomically: true, encoding: .utf8)
  let build = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
  let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..").standardized
    .path
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments =
    [
      "swiftc", "-swift-version", "6", "-c", file.path, "-o",
      folder.appendingPathComponent("loop.o").path, "-I", build.appendingPathComponent("Modules").path,
      "-Xcc", "-fmodule-map-file=\(build.path)/CTactus.build/module.modulemap",
      "-Xcc", "-fmodule-map-file=\(build.path)/CBusesLinux.build/module.modulemap",
      "-Xcc", "-I\(root)/Sources/CTactus/include",
    ] + (asProgram ? [] : ["-parse-as-library"]) + options
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = pipe
  try process.run()
  let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  return (process.terminationStatus, output)
}
