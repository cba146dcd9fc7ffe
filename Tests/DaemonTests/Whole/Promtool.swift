import Foundation

/// `promtool` of Debian's package prometheus: the judge of what Prometheus accepts.
enum Promtool {
  static let path = ["/usr/bin/promtool", "/usr/local/bin/promtool"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// Its exit status and what it said.
  static func run(_ arguments: [String], input: String = "") throws -> (status: Int32, said: String) {
    let process = Process()
    process.executableURL = URL(filePath: path!)
    process.arguments = arguments
    let (into, out) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput, process.standardError) = (into, out, out)
    try process.run()
    try into.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try into.fileHandleForWriting.close()
    let said = String(decoding: out.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, said)
  }
}
