import CProcess
import Glibc

/// What a child of the daemon may still do once it has confined itself: `CProcess.h` says it in full.
public struct Confinement: Sendable {
  /// What a confined process may do besides using files, devices, its open descriptors and local sockets.
  public struct Permissions: OptionSet, Sendable {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    private init(_ permission: process_permission) { rawValue = Int32(bitPattern: permission.rawValue) }

    /// IPv4 and IPv6.
    public static let network = Permissions(PROCESS_NETWORK)
    /// To start programs, confined as itself.
    public static let programs = Permissions(PROCESS_PROGRAMS)
    /// To become another program, once it is confined, without any further process.
    public static let oneProgram = Permissions(PROCESS_ONE_PROGRAM)
    /// To stay root, without any capability.
    public static let root = Permissions(PROCESS_ROOT)
    /// What a daemon does itself: real-time threads, owners of its files; no signal to anybody else.
    public static let daemon = Permissions(PROCESS_DAEMON)
    /// To lock its memory.
    public static let lockedMemory = Permissions(PROCESS_LOCKED_MEMORY)
  }

  /// Permissions that are missing here are withheld, as far as the kernel can.
  public var permissions: Permissions
  /// How many descriptors it may have open.
  public var descriptors: UInt32
  /// Who a root process becomes: the first account that exists.
  public var accounts = ["nobody"]
  /// Names of that account's supplementary groups: the first 16 that exist are taken. Only where `leavesRoot`.
  public var groups: [String] = []
  /// Files and folders to read; patterns.
  public var readable: [String] = []
  /// Devices, and folders of devices, to read and write; patterns.
  public var devices: [String] = []
  /// Where it may make files, or `nil` if nowhere.
  public var folder: String?
  /// Files and folders that may be made, changed and removed, with everything below them; patterns.
  public var writable: [String] = []
  /// The capabilities to keep of those that it has, by their numbers in linux/capability.h.
  public var capabilities: Set<Int32> = []

  /// A confinement without files, devices or a folder of its own: those are set before `apply`.
  ///
  /// - Parameter descriptors: the limit on open descriptors (`RLIMIT_NOFILE`), which only ever lowers the present one.
  public init(_ permissions: Permissions, descriptors: UInt32) {
    (self.permissions, self.descriptors) = (permissions, descriptors)
  }

  /// Confines this process for good. To be called by its only thread.
  ///
  /// Returns what the kernel lacks and was left out, for a log, or `nil` if nothing was.
  public func apply() -> String? {
    withCStrings(accounts) { accounts in
      withCStrings(groups) { groups in
        withCStrings(readable) { readable in
          withCStrings(devices) { devices in
            withCStrings([folder].compactMap(\.self)) { folder in
              withCStrings(writable) { writable in
                var needs = process_needs(
                  permissions: permissions.rawValue, descriptors: descriptors, accounts: accounts, groups: groups,
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

  /// Whether this process is root, and `apply` makes it somebody else.
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

  /// The version of the kernel's Landlock; 0 if it has none.
  public static var landlockVersion: Int { max(0, Int(process_landlock_version())) }

  /// A number that changes when a device that matches the patterns comes or goes. A confined process cannot open what came later.
  public static func state(ofDevices patterns: [String]) -> UInt {
    withCStrings(patterns) { process_devices($0) }
  }
}

/// The texts as C has lists of them, with NULL at the end, while `body` runs.
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
