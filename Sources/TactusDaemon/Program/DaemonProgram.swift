import ArgumentParser
import Confinement
import Glibc
import Synchronization

/// A daemon program: its name, and the device systems that it can run.
///
///     // A complete main.swift:
///     DaemonProgram(name: "fan-daemon", version: "1.0.0", summary: "Keeps a box cool.", systems: [Fan.self]).main()
///
/// The program has every command of `tactus` that fits its systems (`run`, `check`, `doctor`, `top`, `call`, `reload`,
/// …), reads one YAML file, and serves HTTP, WebSocket, MQTT and a web page. A system runs if the file has its section.
public struct DaemonProgram: Sendable {
  /// The version of this package, and of `tactus`.
  public static let packageVersion = "0.1.0"

  /// The command's name, in messages and in help.
  public let name: String
  /// The program's version: `1.2.3`.
  public let version: String
  /// A description of the program in one sentence, for `--help`.
  public let summary: String
  /// The systems that the program can run, in the order of the reference and of every list.
  public let systems: [any DeviceSystem.Type]
  /// The systems of `systems`, as the command line and the file need to know them.
  var kinds: [any SystemKind] { systems.map { Self.kind($0) } }

  /// Makes a daemon program.
  ///
  /// - Parameters:
  ///   - name: the name of the program's file: lower-case letters, digits and dashes.
  ///   - systems: the systems, each with a unique `name` that is not a section of the daemon (`service`, `runtime`, …); any other name traps.
  public init(name: String, version: String, summary: String, systems: [any DeviceSystem.Type]) {
    (self.name, self.version, self.summary, self.systems) = (name, version, summary, systems)
  }

  private static func kind<System: DeviceSystem>(_ system: System.Type) -> any SystemKind { DeclaredKind(system) }

  private static let running = Mutex<DaemonProgram?>(nil)

  /// The program of this process, set by `adopt`.
  public static var current: DaemonProgram {
    guard let program = running.withLock({ $0 }) else { preconditionFailure("no program runs yet") }
    return program
  }

  /// Makes this program the `current` one, which `main` does first.
  public func adopt() { Self.running.withLock { $0 = self } }

  /// Carries out the command line and ends the process with status 0 if that succeeded, 64 for bad usage, 78 for a bad
  /// configuration file, or 1 for any other failure.
  public func main() -> Never {
    adopt()
    let words = Array(CommandLine.arguments.dropFirst())
    // The guard's process is recognised before anything else runs: it must be up in a few milliseconds.
    if words.first == "guard", let status = DaemonGuard.run(Array(words.dropFirst())) { exit(status) }
    // The process that starts the guard and the children of a confined daemon.
    if words.first == "spawner" { exit(Spawner.run(folders: Array(words.dropFirst()))) }
    // The process that confines itself and becomes Debian's broker.
    if words.first == "broker" { exit(ConfinedBroker.run(Array(words.dropFirst()))) }
    // The process that confines itself and becomes a child program of a system.
    if words.first == "child" { exit(ConfinedChild.run(Array(words.dropFirst()))) }
    if let unknown = UnknownCommand.first(in: words) {
      complain("\(unknown)")
      exit(64)
    }
    TactusCommand.main(CallCommand.stopWithoutUnknownOptions(words))
    exit(0)
  }

  /// The path of this process's executable.
  static var path: String {
    var path = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    return String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Returns the path of another program in the same folder.
  public static func beside(_ name: String) -> String {
    (path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".") + "/" + name
  }
}
