import CProcess
import Glibc

/// The permissions that remain for a child of the daemon after it has confined itself. `CProcess.h` describes them in full.
public struct Confinement: Sendable {
  /// The permissions of a confined process besides using files, devices, its open descriptors and local sockets.
  public struct Permissions: OptionSet, Sendable {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    private init(_ permission: process_permission) { rawValue = Int32(bitPattern: permission.rawValue) }

    /// Permission to use IPv4 and IPv6.
    public static let network = Permissions(PROCESS_NETWORK)
    /// Permission to start programs, which are confined like the process itself.
    public static let programs = Permissions(PROCESS_PROGRAMS)
    /// Permission to become another program once after being confined, without any further process.
    public static let oneProgram = Permissions(PROCESS_ONE_PROGRAM)
    /// Permission to stay root, without any capability.
    public static let root = Permissions(PROCESS_ROOT)
    /// Permission for the work of a daemon itself: real-time threads and changing the owners of its files. No signals may be sent to other processes.
    public static let daemon = Permissions(PROCESS_DAEMON)
    /// Permission to lock its memory.
    public static let lockedMemory = Permissions(PROCESS_LOCKED_MEMORY)
  }

  /// The permissions of the process. All others are withheld, as far as the kernel can do so.
  public var permissions: Permissions
  /// The greatest number of open descriptors.
  public var descriptors: UInt32
  /// The greatest amount of private memory in mebibytes (`RLIMIT_DATA`), or 0 for no limit; at most half of the machine's memory counts.
  public var memoryMebibytes: UInt32
  /// The stack size of a thread in kibibytes, or 0 for the system's default.
  public var stackKibibytes: UInt32 = 0
  /// The accounts to which a root process changes: the first one that exists.
  public var accounts = ["nobody"]
  /// The names of the new account's supplementary groups, of which the first 16 that exist are taken. The value is used only if `leavesRoot` is true.
  public var groups: [String] = []
  /// Patterns of files and folders that may be read.
  public var readable: [String] = []
  /// Patterns of devices, and folders of devices, that may be read and written.
  public var devices: [String] = []
  /// The folder in which the process may create files, or `nil` if it may create none.
  public var folder: String?
  /// Patterns of files and folders that may be created, changed and removed, with everything below them.
  public var writable: [String] = []
  /// The numbers, as in linux/capability.h, of the capabilities that the process keeps if it has them.
  public var capabilities: Set<Int32> = []

  /// Creates a confinement without files, devices or a folder; these are set before `apply`.
  ///
  /// - Parameters:
  ///   - descriptors: the limit on open descriptors (`RLIMIT_NOFILE`), which only ever lowers the present one.
  ///   - memoryMebibytes: the limit on private memory, or 0 for none.
  public init(_ permissions: Permissions, descriptors: UInt32, memoryMebibytes: UInt32) {
    (self.permissions, self.descriptors, self.memoryMebibytes) = (permissions, descriptors, memoryMebibytes)
  }

  /// Confines this process permanently. The function must be called by its only thread.
  ///
  /// Returns, for a log, the parts that were omitted because the kernel lacks them, or `nil` if none were.
  public func apply() -> String? {
    withCStrings(accounts) { accounts in
      withCStrings(groups) { groups in
        withCStrings(readable) { readable in
          withCStrings(devices) { devices in
            withCStrings([folder].compactMap(\.self)) { folder in
              withCStrings(writable) { writable in
                var needs = process_needs(
                  permissions: permissions.rawValue, descriptors: descriptors, memory: UInt64(memoryMebibytes) << 20,
                  stack: Int(stackKibibytes) << 10, accounts: accounts, groups: groups,
                  readable: readable, devices: devices, folder: folder[0], writable: writable,
                  capabilities: capabilities.reduce(0) { $0 | 1 << UInt64($1) })
                return process_confine(&needs).map { String(cString: $0) }
              }
            }
          }
        }
      }
    }
  }

  /// Whether this process is root and `apply` changes it to another account.
  public var leavesRoot: Bool { process_is_root() != 0 && !permissions.contains(.root) }

  /// The part of this process's environment that a child may know: `process_child_environment`.
  public static var childEnvironment: [String: String] {
    guard let entries = process_child_environment() else { return [:] }
    defer { free(entries) }
    var result: [String: String] = [:]
    var next = entries
    while let entry = next.pointee {
      let pair = String(cString: entry)
      if let equals = pair.firstIndex(of: "=") { result[String(pair[..<equals])] = String(pair[equals...].dropFirst()) }
      next += 1
    }
    return result
  }

  /// The version of the kernel's Landlock, or 0 if it has none.
  public static var landlockVersion: Int { max(0, Int(process_landlock_version())) }

  /// Returns a number that changes when a device that matches the patterns appears or disappears. A confined process cannot open
  /// devices that appeared later.
  public static func state(ofDevices patterns: [String]) -> UInt {
    withCStrings(patterns) { process_devices($0) }
  }
}

/// Passes the texts to `body` as a NULL-terminated list of C strings, which is valid while `body` runs.
func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
  let copies = texts.map { Array($0.utf8CString) }
  func collect(_ index: Int, _ pointers: [UnsafePointer<CChar>?]) -> Result {
    guard index < copies.count else { return body(pointers + [nil]) }
    return copies[index].withUnsafeBufferPointer { collect(index + 1, pointers + [$0.baseAddress]) }
  }
  return collect(0, [])
}
