import Glibc
import Service
import Store

extension Configuration {
  /// The place of the store and the number of its snapshots.
  struct Store: Equatable {
    /// The folder that the file names, or `nil` for the standard folder.
    var folder: String?
    /// The mount point that the file requires for the store, or `nil` if the file names none.
    var mount: String?
    var snapshots: Int
    var snapshotDays: Int

    init(_ given: GivenValues) {
      folder = given.optionalText("store.folder")
      mount = given.optionalText("store.mount")
      snapshots = given.integer("store.snapshots")
      snapshotDays = given.integer("store.snapshot_days")
    }

    var policy: SnapshotPolicy { SnapshotPolicy(recent: snapshots, days: snapshotDays) }
  }

  /// Returns the path of the store, or `nil` if no system stores data.
  ///
  /// Unless the file names a folder, the store is in the program's folder of state, and files of different names share none: the store of
  /// `tactus.yaml` (or `NAME.yaml` for a program `NAME`) is directly in that folder, and the store of any other file is in a folder that has the
  /// file's name.
  ///
  /// A simulation never uses the store of real hardware: with `--simulate`, or if every system that stores data is
  /// simulated by its own section and no folder is given, the file is in a separate folder.
  func storePath(simulate: Bool, environment: [String: String]) -> String? {
    guard let store, let isApart = isStoreApart(simulate: simulate) else { return nil }
    let folder = store.folder ?? Self.stateFolder(environment: environment) + ownFolder
    return folder + (isApart ? "/simulated" : "") + "/store.sqlite"
  }

  /// Returns the path of the store of the program's own file, which all files shared in earlier versions; `nil` if this file's store is there or in a
  /// folder that the file names.
  func sharedStorePath(simulate: Bool, environment: [String: String]) -> String? {
    guard let store, store.folder == nil, !ownFolder.isEmpty, let isApart = isStoreApart(simulate: simulate) else {
      return nil
    }
    return Self.stateFolder(environment: environment) + (isApart ? "/simulated" : "") + "/store.sqlite"
  }

  /// Returns a warning if this file uses the store at `path` without naming a folder and another existing file used it last, as two files of one name
  /// in two folders do.
  func sharing(of path: String) -> String? {
    guard store?.folder == nil, let own = ownPath, let other = YAMLFile.contents(of: Self.note(beside: path)),
      other != own, access(other, F_OK) == 0
    else { return nil }
    return "\(other) has the same by silence: expected store.folder in one of the two files"
  }

  /// Writes a note next to the store at `path`, saying that this file uses the store without naming a folder. A note that cannot be written is no
  /// error.
  func noteSharing(of path: String) {
    guard store?.folder == nil, let own = ownPath, YAMLFile.contents(of: Self.note(beside: path)) != own else { return }
    try? WholeFile.write(own, to: Self.note(beside: path))
  }

  private static func note(beside path: String) -> String { path + ".config" }

  /// The full path of this file, or `nil` if the file does not exist.
  private var ownPath: String? {
    guard let path = realpath(file, nil) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }

  /// Returns whether the store is in a separate folder because it belongs to a simulation, or `nil` if no system stores data.
  private func isStoreApart(simulate: Bool) -> Bool? {
    let keeping = Set(DaemonProgram.current.kinds.filter { $0.keeping != nil }.map(\.name))
    // The name of one of several systems begins with the name of their kind.
    let keepers = systems.all.filter { system in keeping.contains(String(system.name.prefix { $0 != "/" })) }
    guard !keepers.isEmpty else { return nil }
    return keepers.allSatisfy(\.isSimulated) ? store?.folder == nil : simulate
  }

  /// The name of the folder of the file's store within the program's folder. It is the file's name with its ending, so that it differs from the names
  /// of the program's own folders, and is empty for the file that has the program's name.
  private var ownFolder: String {
    let name = file.split(separator: "/").last.map(String.init) ?? ""
    if name.isEmpty || name == DaemonProgram.current.name + ".yaml" { return "" }
    return "/" + (name.contains(".") ? name : name + ".yaml")
  }

  /// Returns the mounts that must be present for the store and the token file. They are remembered beside the standard
  /// token file, because a store on its own disk is in another file system.
  func mounts(simulate: Bool, environment: [String: String]) -> MountWatch {
    MountWatch(
      named: simulate ? nil : store?.mount, notes: Self.stateFolder(environment: environment) + "/mounts")
  }

  /// Returns the path of the token file.
  func tokenPath(environment: [String: String]) -> String {
    tokenFile ?? TokenFile.standardPath(of: DaemonProgram.current.name, environment: environment)
  }

  /// Returns the folder of the standard token file, in which the program keeps its lasting state.
  static func stateFolder(environment: [String: String]) -> String {
    folder(of: TokenFile.standardPath(of: DaemonProgram.current.name, environment: environment))
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }
}

/// The keys of the store.
extension ConfigTable {
  /// The section of the store, which exists if a system of the program stores data.
  static let storeSection = ConfigSection(
    name: "store",
    doc:
      "What survives the program: one file for every system that keeps something, checked when it is opened, and copies of it. "
      + "There is none when no such system runs.")

  /// Returns the keys of the store of a program, whose folders have its name.
  static func store(of program: DaemonProgram) -> [ConfigKey] {
    let name = program.name
    return [
      ConfigKey(
        "store.folder", .text, nil,
        "Folder of store.sqlite. Unless given: $XDG_STATE_HOME/\(name) if that variable is set, else /var/lib/\(name) where that may be "
          + "written to, else ~/.local/state/\(name); of a file that is not called \(name).yaml the folder there that has the file's name. "
          + "Under --simulate, or when all that keep something are simulated and none is given, its folder simulated."),
      ConfigKey(
        "store.mount", .text, nil,
        "Where the disk of the store is mounted: while it is not, the daemon runs without the store. Unless given: what /etc/fstab "
          + "says, else where the store was on a mount before. /: on none."),
      ConfigKey(
        "store.snapshots", .integer(1...100), .integer(8),
        "The last copies of the store, made after changes, that are kept."),
      ConfigKey(
        "store.snapshot_days", .integer(0...366), .integer(14),
        "Besides them, the last copy of each of so many days on which there are any."),
    ]
  }
}
