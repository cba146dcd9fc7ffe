import Foundation
import StoreSupport
import TestSupport
import Testing

@testable import Store

@Suite("a named pipe in the place of one of the store's files", .ownThread)
struct NamedPipeTests {
  @Test(
    "the file itself, its lock and SQLite's: the store is not opened, and the error names it, at once",
    arguments: ["", ".lock", "-wal", "-journal", "-shm"])
  func files(suffix: String) throws {
    let folder = try StoreFolder()
    try folder.open().file.close()
    let file = folder.store + suffix
    unlink(file)
    try #require(mkfifo(file, 0o600) == 0)
    #expect(throws: StoreError.failed(file: file, doing: "opening", reason: "it is not a regular file")) {
      try folder.open()
    }
    unlink(file)
    if suffix != "" { #expect(try folder.open().report.origin == .found) }
  }

  @Test("the folder of the store or of its snapshots: refused with its name")
  func folders() throws {
    let folder = try StoreFolder()
    try folder.open().file.close()
    try FileManager.default.removeItem(atPath: folder.snapshots)
    try #require(mkfifo(folder.snapshots, 0o600) == 0)
    #expect { try folder.open() } throws: { "\($0)".hasPrefix("\(folder.snapshots): listing: Not a directory") }
    try FileManager.default.removeItem(atPath: folder.path + "/data")
    try #require(mkfifo(folder.path + "/data", 0o600) == 0)
    #expect { try folder.open() } throws: { "\($0)".contains("Not a directory") }
  }

  @Test("the notes of mounts: nothing is noted, at once")
  func notes() throws {
    let folder = try StoreFolder()
    let notes = folder.path + "/notes"
    try #require(mkfifo(notes, 0o600) == 0)
    #expect(MountWatch(notes: notes).missing(for: folder.store) == nil)
  }
}
