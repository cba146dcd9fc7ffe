import Service
import Store

extension Configuration {
  /// Where the store is and how many copies of it are kept.
  struct Store: Equatable {
    /// The folder as the file gives it; `nil` for the standard folder.
    var folder: String?
    /// The mount that the store must be on, as the file gives it, or `nil` if the file names none.
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

  /// Path of the store, or `nil` if no system keeps anything.
  ///
  /// What is simulated never touches the store of real hardware: with `--simulate`, or when every keeper is simulated by its
  /// own section and no folder is given, the file is in a folder of its own.
  func storePath(simulate: Bool, environment: [String: String]) -> String? {
    let keeping = Set(DaemonProgram.current.kinds.filter { $0.keeping != nil }.map(\.name))
    // Of several systems each name begins with that of their kind.
    let keepers = systems.all.filter { system in keeping.contains(String(system.name.prefix { $0 != "/" })) }
    guard let store, !keepers.isEmpty else { return nil }
    let folder = store.folder ?? Self.folder(of: TokenFile.standardPath(environment: environment))
    let isApart = keepers.allSatisfy(\.isSimulated) ? store.folder == nil : simulate
    return folder + (isApart ? "/simulated" : "") + "/store.sqlite"
  }

  /// What must be mounted for the store and the token file. What is noted of it is beside the tokens' usual place, since that is in another
  /// file system than a store on a disk of its own.
  func mounts(simulate: Bool, environment: [String: String]) -> MountWatch {
    MountWatch(
      named: simulate ? nil : store?.mount,
      notes: Self.folder(of: TokenFile.standardPath(environment: environment)) + "/mounts")
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }
}
