import Glibc

/// Distinguishes a missing mount from a first start, since an empty mount point looks like a folder in which nothing was ever stored.
///
/// A mount is expected at a path if `store.mount` of the configuration names a mount point above it, if `/etc/fstab` does, or if an
/// earlier start has noted that the store was on a mount. The note is on another file system than the store, since it would
/// disappear with the store otherwise.
public struct MountWatch: Sendable {
  /// The value of `store.mount`. With `/` no mount is expected.
  private let named: String?
  /// The path of the file with the notes, one "MOUNT PATH" per line, escaped as in `/etc/fstab`.
  private let notes: String?
  private let points: @Sendable () -> MountPoints

  /// A mount that is expected to be present.
  struct Expected: Equatable {
    let point: String
    /// The source of this expectation, for error messages.
    let known: String
  }

  /// Creates a watch for the mount that holds the store.
  ///
  /// - Parameters:
  ///   - named: the mount that must be present, as `store.mount` names it; with `/` none is expected, and with `nil` `/etc/fstab` and
  ///     the notes decide.
  ///   - notes: the path of the file with the notes, or `nil` to keep no notes.
  public init(named: String? = nil, notes: String? = nil) {
    self.init(named: named, notes: notes, points: { .current })
  }

  init(named: String?, notes: String?, points: @escaping @Sendable () -> MountPoints) {
    (self.named, self.notes, self.points) = (named, notes, points)
  }

  /// A watch that expects no mount and keeps no notes.
  static var none: MountWatch { MountWatch(named: "/", notes: nil) }

  /// Checks that the mount on which a file should be is present.
  ///
  /// - Throws: `notMounted` if the mount that the store should be on is not present.
  func check(_ file: String) throws(StoreError) {
    if let named, !MountPoints.isBelow(Self.resolved(file), Self.resolved(named)) {
      throw .failed(
        file: file, doing: "looking for store.mount", reason: "expected a folder above that file, got \(named)")
    }
    if let missing = missing(for: file) { throw missing }
  }

  /// Returns the error of a store whose expected mount is not present, or `nil` if no mount is missing.
  public func missing(for file: String) -> StoreError? {
    let points = points()
    // The mount may be expected at the target of a symbolic link, or at the link itself.
    let expected = expected(for: Self.resolved(file), points) ?? expected(for: file, points)
    guard let expected, points.mounted[expected.point] == nil else { return nil }
    return .notMounted(file: file, mount: expected.point, known: expected.known)
  }

  private func expected(for path: String, _ points: MountPoints) -> Expected? {
    if let named {
      let point = Self.resolved(named)
      // A configured mount that does not contain the file says nothing about it.
      if MountPoints.isBelow(path, point) { return point == "/" ? nil : Expected(point: point, known: "store.mount") }
    }
    if let point = MountPoints.innermost(of: points.configured, for: path), point != "/" {
      return Expected(point: point, known: "/etc/fstab")
    }
    guard let notes, let point = noted(in: notes).first(where: { MountPoints.isBelow(path, $0.mount) })?.mount else {
      return nil
    }
    return Expected(point: point, known: "noted in \(notes) when it was there")
  }

  /// Returns the mount point of a path's file system, and whether it is mounted at present.
  package func point(of path: String) -> (path: String, isMounted: Bool) {
    let points = points()
    let real = Self.resolved(path)
    let expected = expected(for: real, points) ?? expected(for: path, points)
    if let expected, points.mounted[expected.point] == nil { return (expected.point, false) }
    return (MountPoints.innermost(of: Set(points.mounted.keys), for: real) ?? "/", true)
  }

  /// Notes the mount on which an existing file is, unless the configuration states it.
  ///
  /// - Returns: a warning for people if a later start could not detect that the mount is missing, or `nil` if it could.
  public func remember(_ file: String) -> String? {
    let points = points()
    let path = Self.resolved(file)
    let mount = points.mount(of: path)
    let before = notes.map { noted(in: $0) } ?? []
    var after = before.filter { $0.path != path }
    var warning: String?
    if mount != "/", named == nil, !points.configured.contains(mount) {
      if let notes, points.mount(of: Self.resolved(notes)) != mount {
        after.append((mount, path))
      } else {
        warning = Self.unknown(mount, file)
      }
    }
    if let notes, after.map(Self.line) != before.map(Self.line) {
      do throws(StoreError) {
        try write(after, to: notes)
      } catch {
        warning = "\(Self.unknown(mount, file)) (\(error))"
      }
    }
    return warning
  }

  private static func unknown(_ mount: String, _ file: String) -> String {
    "neither /etc/fstab nor store.mount says that \(file) is on a disk mounted at \(mount): were that missing at a start, the file "
      + "would be made anew in its place"
  }

  private func write(_ noted: [(mount: String, path: String)], to notes: String) throws(StoreError) {
    try Disk.makeFolders(Disk.folder(of: notes))
    try Disk.remove(notes + ".new")
    try Disk.write(Array(noted.map(Self.line).joined().utf8), to: notes + ".new")
    try Disk.putInPlace(notes + ".new", as: notes)
  }

  private static func line(_ note: (mount: String, path: String)) -> String {
    "\(MountPoints.escaped(note.mount)) \(MountPoints.escaped(note.path))\n"
  }

  private func noted(in notes: String) -> [(mount: String, path: String)] {
    guard let bytes = try? Disk.read(notes) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      return fields.count == 2 ? (MountPoints.unescaped(fields[0]), MountPoints.unescaped(fields[1])) : nil
    }
  }

  /// Returns the path as an absolute path without links, as far as it exists.
  static func resolved(_ path: String) -> String {
    if let real = realpath(path, nil) {
      defer { free(real) }
      return String(cString: real)
    }
    let folder = Disk.folder(of: path)
    guard folder != path, let name = path.split(separator: "/").last else { return path }
    let above = resolved(folder)
    return above == "/" ? "/\(name)" : "\(above)/\(name)"
  }
}
