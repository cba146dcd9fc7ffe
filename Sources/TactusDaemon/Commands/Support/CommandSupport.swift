import ArgumentParser
import Glibc
import Service
import Synchronization
import Tactus
import WallTime

/// Returns the configuration in a file for a command. If the file has errors, prints all of them and throws the exit status 78.
///
/// - Parameter pipes: whether the file may be a pipe, such as `/dev/stdin` or `<(…)`: `true` in a command that a person
///   types, `false` in a service, which would wait forever for a named pipe.
func readConfiguration(_ path: String, waitingForPipes pipes: Bool = true) throws -> Configuration {
  try readWholeConfiguration(path, waitingForPipes: pipes).configuration
}

/// Reads a configuration file as `readConfiguration` does, and also returns the keys found in it with their places.
func readWholeConfiguration(
  _ path: String, waitingForPipes pipes: Bool = true
) throws -> (configuration: Configuration, found: ConfigReader.Result) {
  do {
    return try Configuration.readWhole(path: path, environment: processEnvironment(), waitingForPipes: pipes)
  } catch {
    complain("\(error)")
    throw ExitCode.badConfig
  }
}

/// Returns the time zone of the machine for a command. If `TZ` or `/etc/localtime` cannot be understood, prints why and throws the exit status 78.
///
/// It must be called before the program confines itself, because a file that `TZ` names may lie anywhere. The C library reads it here, too.
func machineZone() throws -> MachineZone {
  tzset()
  let surroundings = MachineZone.Surroundings(
    environment: processEnvironment(), contents: { try? readWhole($0, most: ZoneFile.mostBytes) },
    destination: { path in
      var bytes = [CChar](repeating: 0, count: Int(clamping: PATH_MAX))
      let count = readlink(path, &bytes, bytes.count)
      return count > 0 ? String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    })
  do throws(MachineZone.Failure) {
    return try MachineZone.find(surroundings)
  } catch {
    // The text has the value of `TZ`.
    complain(JSONLine.inOneLine("\(error)"))
    throw ExitCode.badConfig
  }
}

/// Writes one line for people to standard error.
public func complain(_ text: String) {
  LogSink.writeNow(text)
}

/// Writes the text to standard output at once; `print` would hold it back from a pipe. Text that a terminal does not accept is dropped.
public func printAtOnce(_ text: String) {
  var bytes = Array(text.utf8)[...]
  while !bytes.isEmpty {
    let count = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    guard count > 0 else { return }
    bytes = bytes.dropFirst(count)
  }
}

/// Asks the user, and returns whether the answer is yes. Without a terminal the answer is no.
///
/// - Parameter what: what would be done, for the refusal without a terminal.
func isAgreed(_ question: String = "Write this?", to what: String = "write") -> Bool {
  guard isatty(0) == 1 else {
    complain("expected a terminal to ask at; to \(what) without asking give --yes")
    return false
  }
  print("\(question) [y/N] ", terminator: "")
  fflush(nil)
  return ["y", "Y", "yes"].contains(readLine() ?? "")
}

/// Returns the environment variables of the process.
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

extension ServiceClient {
  /// Returns the answer to a GET request, for a command that has nothing else to do. Blocks for at most `limit`.
  func ask(_ path: String, _ bell: borrowing Doorbell, limit: Nanoseconds) -> Result<Answer, Failure>? {
    let box = AnswerBox()
    let button = bell.button
    get(path, limit: .nanoseconds(limit.count)) { result in
      box.content.withLock { $0 = result }
      button.ring()
    }
    // The answer comes within the client's own limit.
    bell.wait()
    return box.content.withLock { $0 }
  }
}

private final class AnswerBox: Sendable {
  let content = Mutex<Result<ServiceClient.Answer, ServiceClient.Failure>?>(nil)
}
