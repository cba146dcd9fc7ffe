import DaemonSupport
import Foundation
import TestSupport
import Testing

@testable import TactusDaemon

@Suite("an archive of tar", .ownThread)
struct TarArchiveTests {
  private static let entries = [
    TarArchive.Entry(name: "manifest.json", bytes: Array("{}\n".utf8)),
    TarArchive.Entry(name: "a-whole-block", bytes: [UInt8](repeating: 7, count: 512)),
    TarArchive.Entry(name: "empty", bytes: []),
  ]
  private static let archive = TarArchive.encode(entries, at: 1_790_000_000)

  private func failure(_ bytes: [UInt8]) -> String? {
    do throws(TarArchive.Failure) {
      _ = try TarArchive.decode(bytes)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test("what was written is read; an archive begins as one, an SQLite file does not")
  func round() throws {
    #expect(try TarArchive.decode(Self.archive) == Self.entries && Self.archive.count.isMultiple(of: 512))
    #expect(TarArchive.isArchive(Self.archive) && !TarArchive.isArchive(Array("SQLite format 3\0".utf8)))
    #expect(!TarArchive.isArchive([]) && !TarArchive.isArchive([UInt8](repeating: 0, count: 4096)))
  }

  @Test("cut anywhere: refused, by the entry that is not whole")
  func cut() {
    for count in stride(from: 0, to: Self.archive.count - 512, by: 100) {
      #expect(failure(Array(Self.archive[..<count])) != nil, "\(count)")
    }
    #expect(
      failure(Array(Self.archive[..<1700]))
        == "a-whole-block: expected all of the file, got 164 bytes at most")
    #expect(failure([]) == "expected an empty block at the end, got the end at byte 0")
  }

  @Test("a header that was changed, more behind the end, and what is no file: refused")
  func damaged() {
    for place in 0..<512 where !(148..<156).contains(place) {
      var bytes = Self.archive
      bytes[place] ^= 1
      #expect(failure(bytes)?.hasPrefix("the first entry: expected a header of tar") == true, "\(place)")
    }
    #expect(failure(Self.archive + [1])?.hasPrefix("expected nothing behind the end, got more from byte ") == true)
    var folder = Self.archive
    // The kind, and with it the sum.
    folder[156] = UInt8(ascii: "5")
    folder[153] += 5
    #expect(failure(folder) != nil)
  }

  @Test("tar of this machine reads it", .enabled("this machine has no tar") { access("/bin/tar", X_OK) == 0 })
  func outside() throws {
    let folder = try TemporaryFolder()
    try Data(Self.archive).write(to: URL(fileURLWithPath: folder.path("a.tar")))
    let tar = Process()
    tar.executableURL = URL(fileURLWithPath: "/bin/tar")
    tar.arguments = ["-xf", folder.path("a.tar"), "-C", folder.url.path]
    try tar.run()
    tar.waitUntilExit()
    #expect(tar.terminationStatus == 0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("a-whole-block"))).count == 512)
  }
}
