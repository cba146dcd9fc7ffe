import CProcess
import Glibc

/// The small process that a confined program leaves behind for work that it is no longer permitted to do: starting the programs and
/// opening the devices of a table. `CProcess.h` describes it in full. Each process has one, and a second that stands by for it.
public enum Spawner {
  /// Starts the spawner. The function must be called once, by the only thread, before `Confinement.apply`.
  ///
  /// - Parameters:
  ///   - name: the name of the program, for the spawner's command line.
  ///   - folders: the folders in which the programs that the spawner starts may write.
  /// - Returns: the process id of the spawner, or −errno.
  public static func start(name: String, folders: [String]) -> pid_t {
    withCStrings(folders) { process_spawner_start(name, $0) }
  }

  /// Runs this process as a spawner. Returns its exit status after its parent has ended.
  public static func run(folders: [String]) -> Int32 {
    withArguments(folders) { process_spawner_main(Int32(folders.count), $0) }
  }

  /// Whether this process has started a spawner.
  public static var isThere: Bool { process_has_spawner() != 0 }

  /// Whether both the spawner and the standby spawner have ended, or were given up because they did not answer.
  public static var isLost: Bool { process_lost_spawners() == 2 }

  /// Whether one of the two spawners has ended while the other one works.
  public static var isAlone: Bool { process_lost_spawners() == 1 }

  /// Opens a device through the spawner. Before the table is sealed a new device is added to it. Returns a descriptor, or −errno.
  public static let open: @convention(c) (UnsafePointer<CChar>?, Int32) -> Int32 = { path, flags in
    path.map { process_open_device($0, flags) } ?? -EINVAL
  }

  /// Starts this process's own executable through the spawner as a child of this process, with the standard streams of this process
  /// and `descriptors` from 3 on.
  ///
  /// - Returns: the process id, or −errno.
  public static func startSelf(_ words: [String], descriptors: [Int32]) -> pid_t {
    withArguments(words) {
      process_start("/proc/self/exe", $0, PROCESS_STREAMS_SHARED, descriptors, Int32(descriptors.count))
    }
  }

  /// Adds this executable with these arguments and this number of descriptors to the table, so that it can be started after the
  /// table is sealed. Returns 0 or −errno.
  public static func declareSelf(_ words: [String], descriptors count: Int) -> Int32 {
    withArguments(words) { process_declare("/proc/self/exe", $0, PROCESS_STREAMS_SHARED, Int32(clamping: count)) }
  }

  /// Sends SIGTERM or SIGKILL to a child that the spawner has started. Returns 0 or −errno.
  @discardableResult
  public static func signal(_ process: pid_t, _ signal: Int32) -> Int32 { process_signal(process, signal) }

  /// Seals the table: from here on the spawner does only what its table lists. Returns 0 or −errno.
  public static func seal() -> Int32 { process_seal_spawner() }
}

/// Passes the texts to `body` as a program's NULL-terminated arguments, which are valid while `body` runs.
private func withArguments<Result>(
  _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = texts.map { strdup($0) } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
}
