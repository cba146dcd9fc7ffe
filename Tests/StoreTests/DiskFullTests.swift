import Foundation
import Glibc
import StoreSupport
import TestSupport
import Testing
import WallTime

@testable import Store

@Suite("Disk full", .ownThread)
struct DiskFullTests {
  /// Whether a mount namespace of its own, with a small disk in it, is to be had here.
  static let hasNamespace: Bool = {
    guard
      let probe = try? ProbeProcess(
        ["-mr", "sh", "-c", "mount -t tmpfs -o size=100k none /mnt && echo yes"], executable: "/usr/bin/unshare")
    else { return false }
    defer { probe.kill() }
    return probe.line() == "yes"
  }()

  @Test(
    "a disk of 2 MB runs full: the error says so, all that was acknowledged is there, writes go on once there is room",
    .enabled(if: hasNamespace, "no mount namespace to be had: unshare -mr fails"))
  func full() throws {
    let folder = try StoreFolder()
    // The same disk twice: first until it is full, then with another file gone.
    let script = """
      mount -t tmpfs -o size=2m none "$1" && head -c 500000 /dev/zero > "$1/other" || exit
      "$0" "$1/data/store.sqlite"; rm "$1/other"; echo again; "$0" "$1/data/store.sqlite"
      """
    let probe = try ProbeProcess(
      ["-mr", "sh", "-c", script, ProbeProcess.executable, folder.path], executable: "/usr/bin/unshare")
    var acknowledged: [UInt64] = []
    var stops: [String] = []
    var atFirstStop: Int?
    while let line = probe.line() {
      if let number = UInt64(line) {
        acknowledged.append(number)
      } else if line == "again" {
        atFirstStop = acknowledged.count
      } else if !line.hasPrefix("# ") {
        stops.append(line)
      } else {
        #expect(!line.contains("lost") && !line.contains("damaged"), "\(line)")
      }
    }
    #expect(stops.count == 2 && stops.allSatisfy { $0.hasSuffix("the disk is full") }, "\(stops)")
    // The second one went on behind the last number: nothing of the first was lost, nothing came twice.
    #expect(acknowledged == Array(1...UInt64(acknowledged.count)))
    let first = try #require(atFirstStop)
    #expect(first > 10 && acknowledged.count > first, "\(first) of \(acknowledged.count)")
  }
}
