import Confinement
import Glibc

/// Which files, folders and devices are closed to the account that this process has become, and the command that opens each. Nothing is
/// changed: the owner of a file is for people to decide.
///
/// It asks with access(2), which looks at the account and not at capabilities.
struct AccountAccess {
  private let account: Account
  /// One line for each that is closed: what it is, its owner, what to type.
  private(set) var flaws: [String] = []

  init(_ account: Account = .current) { self.account = account }

  /// A folder in which files are made. A missing one can be made by an account that may write to the next one above it.
  mutating func writes(folder: String) {
    var nearest = folder
    while access(nearest, F_OK) != 0, errno != EACCES, nearest != "/" { nearest = Self.folder(of: nearest) }
    guard access(nearest, R_OK | W_OK | X_OK) != 0, errno != EROFS else { return }
    // A folder of the system's stays the system's.
    let isShared = nearest.split(separator: "/").count < 3
    let way =
      nearest != folder
      ? "install -d -o \(account.name) \(folder)"
      : isShared ? "name a folder in which only this program keeps files" : "chown \(account.name): \(folder)"
    add(folder, "cannot be written to", way)
  }

  /// A file that is changed, and what is kept beside it under longer names.
  mutating func writes(file: String) {
    let folder = Self.folder(of: file)
    let name = String(file.split(separator: "/", omittingEmptySubsequences: false).last ?? "")
    let closed = Machine.names(in: folder).filter { $0.hasPrefix(name) && access("\(folder)/\($0)", R_OK | W_OK) != 0 }
    guard let first = closed.first, errno != EROFS else { return }
    add("\(folder)/\(first)", "cannot be read and written", "chown -R \(account.name): \(file)*")
  }

  /// A file that is only added to: its folder has to be open only where it is missing.
  mutating func appends(to file: String) {
    if access(file, F_OK) == 0 {
      guard access(file, W_OK) != 0, errno != EROFS else { return }
      add(file, "cannot be written", "chown \(account.name): \(file)")
    } else if errno == ENOENT, access(Self.folder(of: file), W_OK | X_OK) != 0, errno != EROFS {
      add(file, "cannot be made", "touch \(file) && chown \(account.name): \(file)")
    }
  }

  /// A file that is read, if it is there.
  mutating func reads(_ file: String) {
    guard access(file, R_OK) != 0, errno == EACCES else { return }
    add(file, "cannot be read", "chgrp \(group) \(file) && chmod g+r \(file)")
  }

  /// A device that is driven, if it is there.
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
    // What lies in a folder that is closed cannot be looked at at all.
    let above = Self.folders(above: path).first { access($0, X_OK) != 0 && errno == EACCES }
    let line =
      above.map {
        "\(path) cannot be reached by \(account.name), since \(Self.owner(of: $0)) has closed \($0): chmod o+x \($0)"
      }
      ?? "\(path) belongs to \(Self.owner(of: path)) and \(what) by \(account.name): \(way)"
    if !flaws.contains(line) { flaws.append(line) }
  }

  /// `/`, `/var`, `/var/lib` of `/var/lib/tactus`
  private static func folders(above path: String) -> [String] {
    var above: [String] = []
    var path = path
    while path != "/", path != "." {
      path = folder(of: path)
      above.insert(path, at: 0)
    }
    return above
  }

  /// Of the file, or of the next folder above it that there is.
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
  /// What is closed to the account that this process has become: what it writes, what it reads after the start, what it drives.
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
  /// The paths of what its systems and the guard drive, as far as a path says it.
  fileprivate var devices: [String] {
    var devices: [String] = []
    for claim in claims {
      switch claim.resource {
      case .i2c(let bus, _): devices.append("/dev/i2c-\(bus)")
      case .serial(let path), .spi(let path): if path.hasPrefix("/") { devices.append(path) }
      // Which chip has the line is known when it is opened; all belong to one group.
      case .gpio: devices += Machine.names(in: "/dev").filter { $0.hasPrefix("gpiochip") }.map { "/dev/" + $0 }
      case .pwm(let path): devices.append(path + "/duty_cycle")
      case .part, .tcp, .udp, .radio: break
      }
    }
    if let watchdog { devices.append(watchdog.path) }
    return Array(Set(devices)).sorted()
  }
}
