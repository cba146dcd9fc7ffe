import Confinement
import Glibc

/// Finds the files, folders and devices that the account of this process cannot access, and the command that gives
/// access to each. Nothing is changed, because the owner of a file is for users to decide.
///
/// The check uses access(2), which considers the account and not its capabilities.
struct AccountAccess {
  private let account: Account
  /// One line for each path without access: the path, its owner, and the command to type.
  private(set) var flaws: [String] = []

  init(_ account: Account = .current) { self.account = account }

  /// Checks a folder in which files are created. An account can create a missing folder if it may write to the nearest
  /// existing parent.
  mutating func writes(folder: String) {
    var nearest = folder
    while access(nearest, F_OK) != 0, errno != EACCES, nearest != "/" { nearest = Self.folder(of: nearest) }
    guard access(nearest, R_OK | W_OK | X_OK) != 0, errno != EROFS else { return }
    // A folder of the operating system keeps its owner.
    let isShared = nearest.split(separator: "/").count < 3
    let way =
      nearest != folder
      ? "install -d -o \(account.name) \(folder)"
      : isShared ? "name a folder in which only this program keeps files" : "chown \(account.name): \(folder)"
    add(folder, "cannot be written to", way)
  }

  /// Checks a file that is changed, and the files beside it whose names begin with its name.
  mutating func writes(file: String) {
    let folder = Self.folder(of: file)
    let name = String(file.split(separator: "/", omittingEmptySubsequences: false).last ?? "")
    let closed = Machine.names(in: folder).filter { $0.hasPrefix(name) && access("\(folder)/\($0)", R_OK | W_OK) != 0 }
    guard let first = closed.first, errno != EROFS else { return }
    add("\(folder)/\(first)", "cannot be read and written", "chown -R \(account.name): \(file)*")
  }

  /// Checks a file that is only appended to. Its folder must be writable only if the file is missing.
  mutating func appends(to file: String) {
    if access(file, F_OK) == 0 {
      guard access(file, W_OK) != 0, errno != EROFS else { return }
      add(file, "cannot be written", "chown \(account.name): \(file)")
    } else if errno == ENOENT, access(Self.folder(of: file), W_OK | X_OK) != 0, errno != EROFS {
      add(file, "cannot be made", "touch \(file) && chown \(account.name): \(file)")
    }
  }

  /// Checks a file that is read, if the file exists.
  mutating func reads(_ file: String) {
    guard access(file, R_OK) != 0, errno == EACCES else { return }
    add(file, "cannot be read", "chgrp \(group) \(file) && chmod g+r \(file)")
  }

  /// Checks a device that is opened for reading and writing, if the device exists.
  mutating func drives(_ device: String) {
    guard access(device, R_OK | W_OK) != 0, errno == EACCES else { return }
    var status = stat()
    let isGroups = stat(device, &status) == 0 && status.st_gid != 0 && status.st_mode & 0o060 == 0o060
    let way =
      isGroups
      ? "usermod -aG \(Self.name(ofGroup: status.st_gid)) \(account.name)"
      : "a rule for udev that gives it to a group of \(account.name)'s"
    add(device, "cannot be opened", way)
  }

  private var group: String { Self.name(ofGroup: account.group) }

  private mutating func add(_ path: String, _ what: String, _ way: String) {
    // Files in a folder without access cannot be examined.
    let above = Self.folders(above: path).first { access($0, X_OK) != 0 && errno == EACCES }
    let line =
      above.map {
        "\(path) cannot be reached by \(account.name), since \(Self.owner(of: $0)) has closed \($0): chmod o+x \($0)"
      }
      ?? "\(path) belongs to \(Self.owner(of: path)) and \(what) by \(account.name): \(way)"
    if !flaws.contains(line) { flaws.append(line) }
  }

  /// Returns the parent folders of a path, such as `/`, `/var` and `/var/lib` for `/var/lib/tactus`.
  private static func folders(above path: String) -> [String] {
    var above: [String] = []
    var path = path
    while path != "/", path != "." {
      path = folder(of: path)
      above.insert(path, at: 0)
    }
    return above
  }

  /// Returns the owner of a file, or of its nearest existing parent folder.
  private static func owner(of path: String) -> String {
    var status = stat()
    var path = path
    while stat(path, &status) != 0, path != "/" { path = folder(of: path) }
    return getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "\(status.st_uid)"
  }

  private static func name(ofGroup group: gid_t) -> String {
    getgrgid(group).map { String(cString: $0.pointee.gr_name) } ?? "\(group)"
  }

  fileprivate static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

extension DaemonConfinement {
  /// The paths that the account of this process cannot access: files that the daemon writes, files that it reads after
  /// the start, and devices.
  var closedToAccount: [String] {
    var look = AccountAccess()
    for file in filesOfItsOwn {
      look.writes(folder: AccountAccess.folder(of: file))
      look.writes(file: file)
    }
    for folder in configuration.systems.all.flatMap(\.folders) { look.writes(folder: folder) }
    if let log = configuration.logFile { look.appends(to: log) }
    for file in filesRead { look.reads(file) }
    guard !isSimulated else { return look.flaws }
    for device in configuration.devices { look.drives(device) }
    return look.flaws
  }
}

extension Configuration {
  /// The paths of the devices that the systems and the guard use, as far as they have paths.
  fileprivate var devices: [String] {
    var devices: [String] = []
    for claim in claims {
      switch claim.resource {
      case .i2c(let bus, _): devices.append("/dev/i2c-\(bus)")
      case .serial(let path), .spi(let path): if path.hasPrefix("/") { devices.append(path) }
      // The chip of a line is known only when it is opened; all chips belong to one group.
      case .gpio: devices += Machine.names(in: "/dev").filter { $0.hasPrefix("gpiochip") }.map { "/dev/" + $0 }
      case .pwm(let path): devices.append(path + "/duty_cycle")
      case .part, .tcp, .udp, .radio: break
      }
    }
    if let watchdog { devices.append(watchdog.path) }
    return Array(Set(devices)).sorted()
  }
}
