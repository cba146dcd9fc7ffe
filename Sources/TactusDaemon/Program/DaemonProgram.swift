import ArgumentParser
import Confinement
import Glibc
import Synchronization

/// A daemon: what it is called, and the device systems that it can run.
///
///     // main.swift, the whole of it
///     DaemonProgram(name: "fan-daemon", version: "1.0.0", summary: "Keeps a box cool.", systems: [Fan.self]).main()
///
/// It has every command of `tactus` that fits its systems (`run`, `check`, `doctor`, `top`, `call`, `reload`, …), reads one YAML file,
/// and serves HTTP, WebSocket, MQTT and a page. A system runs when its section is in the file.
public struct DaemonProgram: Sendable {
  /// The version of this package, and of `tactus`.
  public static let packageVersion = "0.1.0"

  /// The command's name, in messages and in help.
  public let name: String
  /// `1.2.3`
  public let version: String
  /// One sentence for `--help`.
  public let summary: String
  /// What it can run, in the order of the reference and of every list.
  public let systems: [any DeviceSystem.Type]
  /// Those at the lower door, `SystemKind`: in their order, before the declared ones.
  private let own: [any SystemKind]
  /// Every system that it can run, in the order of the reference and of every list.
  var kinds: [any SystemKind] { own + systems.map { Self.kind($0) } }

  /// - Parameters:
  ///   - name: of the program's file: lower-case letters, digits and dashes.
  ///   - systems: declared, each with a `name` of its own that is no section of the daemon's (`service`, `runtime`, …): another traps.
  ///   - own: systems at the lower door, which need more than a declaration has; they stand before the declared ones.
  public init(
    name: String, version: String, summary: String, systems: [any DeviceSystem.Type] = [], own: [any SystemKind] = []
  ) {
    (self.name, self.version, self.summary) = (name, version, summary)
    (self.systems, self.own) = (systems, own)
  }

  private static func kind<System: DeviceSystem>(_ system: System.Type) -> any SystemKind { DeclaredKind(system) }

  private static let running = Mutex<DaemonProgram?>(nil)

  /// The one that this process is, from `adopt` on.
  public static var current: DaemonProgram {
    guard let program = running.withLock({ $0 }) else { preconditionFailure("no program runs yet") }
    return program
  }

  /// Makes this the program that this process is: what `main` does first.
  public func adopt() { Self.running.withLock { $0 = self } }

  /// Carries out the command line, and ends the process: 0 done, 64 bad usage, 78 bad configuration file, 1 anything else.
  public func main() -> Never {
    adopt()
    let words = Array(CommandLine.arguments.dropFirst())
    // The guard's process is recognised before anything else runs: it must be up in a few milliseconds.
    if words.first == "guard", let status = DaemonGuard.run(Array(words.dropFirst())) { exit(status) }
    // What a confined daemon has its guard and children started by.
    if words.first == "spawner" { exit(Spawner.run(folders: Array(words.dropFirst()))) }
    // Debian's broker, confined before it starts.
    if words.first == "broker" { exit(ConfinedBroker.run(Array(words.dropFirst()))) }
    if let unknown = UnknownCommand.first(in: words) {
      complain("\(unknown)")
      exit(64)
    }
    TactusCommand.main()
    exit(0)
  }

  /// The path of this process's program.
  static var path: String {
    var path = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    return String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The path of another program in the same folder.
  public static func beside(_ name: String) -> String {
    (path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".") + "/" + name
  }
}
