/// The keys of the store, which survives the program.
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
