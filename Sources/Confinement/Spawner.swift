import CProcess
import Glibc

/// The small process that a confined program leaves behind to do what it cannot do any more: start the programs and open the devices of a
/// table. `CProcess.h` says it in full. One for each process, and a second that stands by for it.
public enum Spawner {
  /// Starts it. To be called once, by the only thread, before `Confinement.apply`.
  ///
  /// - Parameters:
  ///   - name: the program's own, for its command line.
  ///   - folders: in which the programs that it starts may write.
  /// - Returns: its process id, or −errno.
  public static func start(name: String, folders: [String]) -> pid_t {
    withCStrings(folders) { process_spawner_start(name, $0) }
  }

  /// Runs this process as a spawner. Returns its exit status when its parent is gone.
  public static func run(folders: [String]) -> Int32 {
    withArguments(folders) { process_spawner_main(Int32(folders.count), $0) }
  }

  /// Whether this process has started one.
  public static var isThere: Bool { process_has_spawner() != 0 }

  /// Whether the spawner and the one that stood by for it have ended, or were given up because they did not answer.
  public static var isLost: Bool { process_lost_spawners() == 2 }

  /// Whether one of the two is lost: the other does its work.
  public static var isAlone: Bool { process_lost_spawners() == 1 }

  /// Has it open a device. A new one is taken into its table as long as that is open; returns a descriptor, or −errno.
  public static let open: @convention(c) (UnsafePointer<CChar>?, Int32) -> Int32 = { path, flags in
    path.map { process_open_device($0, flags) } ?? -EINVAL
  }

  /// Has it start this process's own executable as a child of this process, with the standard streams of this process and `descriptors`
  /// from 3 on.
  ///
  /// - Returns: the process id, or −errno.
  public static func startSelf(_ words: [String], descriptors: [Int32]) -> pid_t {
    withArguments(words) {
      process_start("/proc/self/exe", $0, PROCESS_STREAMS_SHARED, descriptors, Int32(descriptors.count))
    }
  }

  /// Sends SIGTERM or SIGKILL to a child that it has started. Returns 0 or −errno.
  @discardableResult
  public static func signal(_ process: pid_t, _ signal: Int32) -> Int32 { process_signal(process, signal) }

  /// Ends the definitions: from here on it does what its table says, and nothing else. Returns 0 or −errno.
  public static func seal() -> Int32 { process_seal_spawner() }
}

/// The texts as a program's arguments, with NULL at the end, while `body` runs.
private func withArguments<Result>(
  _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = texts.map { strdup($0) } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
}
