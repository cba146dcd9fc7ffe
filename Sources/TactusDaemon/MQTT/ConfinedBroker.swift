import CDaemon
import Confinement
import Glibc

/// The command `tactus broker PARENT PROGRAM WORD…`: confines this process and then runs the broker in it. It is
/// started by `MosquittoBroker` with the broker's configuration, passwords and access list as descriptors 4, 5 and 6
/// and the folder for its socket as 7; a failure is reported on descriptor 3.
enum ConfinedBroker {
  /// Runs the broker in this process. Returns only if that failed, with the exit status.
  static func run(_ words: [String]) -> Int32 {
    guard words.count >= 2, let parent = pid_t(words[0]), fcntl(3, F_SETFD, FD_CLOEXEC) == 0 else {
      complain("tactus broker: expected to be started by tactus run")
      return 64
    }
    let program = words[1]
    var needs = Confinement([.network, .oneProgram], descriptors: 4096, memoryMebibytes: 512)
    needs.accounts = ["mosquitto", "nobody"]
    // Debian's broker asks TCP wrappers about each connection, which refuse all when they cannot read their files.
    let files = [program, "/etc/hosts.allow", "/etc/hosts.deny"]
    needs.readable = files + (4...6).compactMap(target(ofDescriptor:))
    needs.folder = target(ofDescriptor: 7)
    // Features that the kernel lacks are not logged here, since the guard's log line names them.
    _ = needs.apply()
    // The setting follows the change of account, which would clear it.
    daemon_terminate_with_parent()
    guard getppid() == parent else { return 1 }
    // The broker gets no variables of ours, which may hold secrets.
    let arguments: [UnsafeMutablePointer<CChar>?] = words.dropFirst().map { strdup($0) } + [nil]
    let environment: [UnsafeMutablePointer<CChar>?] = [strdup("PATH=/usr/bin:/bin"), nil]
    execve(program, arguments, environment)
    let reason = Array("\(program): \(String(cString: strerror(errno)))".utf8)
    _ = write(3, reason, reason.count)
    return 127
  }

  private static func target(ofDescriptor number: Int32) -> String? {
    guard let path = realpath("/proc/self/fd/\(number)", nil) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }
}
