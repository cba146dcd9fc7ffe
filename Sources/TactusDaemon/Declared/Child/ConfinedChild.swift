import CDaemon
import Confinement
@_spi(FromOutside) import Conversions
import Glibc

/// The command `tactus child COUNT READABLE… COUNT DEVICE… PROGRAM WORD…`, which confines this process and then
/// executes the program in it, with the socket to the daemon as descriptor 3.
enum ConfinedChild {
  static func arguments(readable: [String], devices: [String]) -> [String] {
    ["\(readable.count)"] + readable + ["\(devices.count)"] + devices
  }

  /// Executes the program. Returns an exit status only if the program could not be executed.
  static func run(_ words: [String]) -> Int32 {
    var rest = words[...]
    guard let readable = list(&rest), let devices = list(&rest), let program = rest.first, fcntl(3, F_GETFD) >= 0 else {
      complain("expected to be started by the daemon")
      return 64
    }
    var needs = Confinement([.programs], descriptors: 1024, memoryMebibytes: 1024)
    (needs.readable, needs.devices) = (readable + [program], devices)
    // Features that the kernel lacks are not logged here, since the guard's log line names them.
    _ = needs.apply()
    // The setting follows the change of account, which would clear it.
    daemon_die_with_parent()
    let arguments: [UnsafeMutablePointer<CChar>?] = rest.map { strdup($0) } + [nil]
    execv(program, arguments)
    complain("\(program): \(String(cString: strerror(errno)))")
    return 127
  }

  /// Takes a list that is preceded by its count, or returns `nil` if the words are not such a list.
  private static func list(_ words: inout ArraySlice<String>) -> [String]? {
    guard let count = words.popFirst().flatMap({ Int($0) }), (0...words.count).contains(count) else { return nil }
    defer { words.removeFirst(count) }
    return Array(words.prefix(count))
  }
}
