import ArgumentParser
import Glibc

/// Reads a configuration file for a command: prints all its errors and ends with status 78 when there are any.
func readConfiguration(_ path: String) throws -> Configuration { try readWholeConfiguration(path).configuration }

/// The same, with what the file says and where.
func readWholeConfiguration(_ path: String) throws -> (configuration: Configuration, found: ConfigReader.Result) {
  do {
    return try Configuration.readWhole(path: path, environment: processEnvironment())
  } catch {
    complain("\(error)")
    throw ExitCode.badConfig
  }
}

/// One line for people, on standard error.
public func complain(_ text: String) {
  LogSink.writeNow(text)
}

/// The process's environment.
func processEnvironment() -> [String: String] {
  var result: [String: String] = [:]
  var entry = environ
  while let text = entry.pointee {
    let pair = String(cString: text)
    if let equals = pair.firstIndex(of: "=") {
      result[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
    }
    entry += 1
  }
  return result
}
