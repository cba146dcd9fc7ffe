@_spi(FromOutside) import Conversions
import Glibc

/// The mounted file systems, and those that the machine's configuration requires.
struct MountPoints: Sendable {
  /// The device that is mounted at each mount point, such as `8:1`.
  let mounted: [String: String]
  /// The mount points that `/etc/fstab` lists.
  let configured: Set<String>

  /// Reads the mount points from the texts of the kernel and of the configuration.
  ///
  /// - Parameters:
  ///   - mounts: the text of `/proc/self/mountinfo`.
  ///   - table: the text of `/etc/fstab`.
  init(mounts: String, table: String) {
    func fields(_ text: String) -> [[Substring]] {
      text.split(separator: "\n").map { $0.split(whereSeparator: { $0 == " " || $0 == "\t" }) }
    }
    var mounted = ["/": ""]
    // A mount over another one comes later in the file and replaces it here.
    for line in fields(mounts) where line.count > 4 { mounted[Self.unescaped(line[4])] = String(line[2]) }
    self.mounted = mounted
    configured = Set(
      fields(table).compactMap { line in
        line.count > 1 && line[0].first != "#" && line[1].first == "/" ? Self.unescaped(line[1]) : nil
      })
  }

  /// Returns the mount point of a path's file system. If one device is mounted several times, the outermost mount counts: the inner
  /// ones are parts of it, such as a service manager mounts for the folders that a service may write.
  func mount(of path: String) -> String {
    guard let inner = Self.innermost(of: Set(mounted.keys), for: path), let device = mounted[inner] else { return "/" }
    return mounted.filter { $0.value == device && Self.isBelow(path, $0.key) }.keys
      .min { $0.utf8.count < $1.utf8.count } ?? inner
  }

  /// The present mount points. A list that cannot be read counts as empty, so that no mount counts as missing.
  static var current: MountPoints {
    func text(_ path: String) -> String { (try? Disk.read(path)).map { String(decoding: $0, as: UTF8.self) } ?? "" }
    return MountPoints(mounts: text("/proc/self/mountinfo"), table: text("/etc/fstab"))
  }

  /// Returns the innermost of these points that is the path or a parent of it, or `nil` if none is.
  static func innermost(of points: Set<String>, for path: String) -> String? {
    points.filter { isBelow(path, $0) }.max { $0.utf8.count < $1.utf8.count }
  }

  static func isBelow(_ path: String, _ point: String) -> Bool {
    point == "/" || path == point || path.hasPrefix(point.hasSuffix("/") ? point : point + "/")
  }

  /// Returns the text with its escapes decoded, such as `\040` for a space, as both files contain them.
  static func unescaped(_ text: some StringProtocol) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3,
        let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
      {
        bytes.append(code)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func escaped(_ text: String) -> String {
    text.utf8.reduce(into: "") { result, byte in
      if byte > 0x20, byte != UInt8(ascii: "\\"), byte != UInt8(ascii: "#"), byte != 0x7F, byte < 0x80 {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 8)
        result += "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
      }
    }
  }
}
