import Foundation
import StoreSupport
import Testing
import WallTime

@testable import Store

@Suite("a mount that is missing is no first start")
struct MountWatchTests {
  private static let root = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
  private static let usb = "30 22 8:17 / /mnt/usb rw,relatime shared:5 - ext4 /dev/sdb1 rw\n"

  private func watch(
    _ mounts: String, fstab: String = "", named: String? = nil, notes: String? = nil
  ) -> MountWatch {
    MountWatch(named: named, notes: notes) { MountPoints(mounts: mounts, table: fstab) }
  }

  @Test("/etc/fstab mounts something above the store: needed; comments, swap, the root and mounts elsewhere are not")
  func table() {
    let fstab = """
      # /dev/sdc1 /mnt ext4
      UUID=1 / ext4 defaults 0 1
      UUID=2 none swap sw 0 0
      LABEL=usb\t/mnt/usb\text4\tnofail 0 2
      LABEL=x /mnt/usb2 ext4 nofail 0 2
      """
    let missing = watch(Self.root, fstab: fstab).missing(for: "/mnt/usb/tactus/store.sqlite")
    #expect(
      missing
        == .notMounted(file: "/mnt/usb/tactus/store.sqlite", mount: "/mnt/usb", known: "/etc/fstab"))
    #expect(watch(Self.root + Self.usb, fstab: fstab).missing(for: "/mnt/usb/tactus/store.sqlite") == nil)
    #expect(watch(Self.root, fstab: fstab).missing(for: "/mnt/store.sqlite") == nil)
    #expect(watch(Self.root, fstab: fstab).missing(for: "/mnt/usb-3/store.sqlite") == nil)
  }

  @Test("store.mount: needed, whatever fstab says; / needs none; one that the store is not below is an error")
  func named() {
    let file = "/mnt/usb/store.sqlite"
    #expect(throws: StoreError.notMounted(file: file, mount: "/mnt/usb", known: "store.mount")) {
      try watch(Self.root, named: "/mnt/usb").check(file)
    }
    #expect(throws: Never.self) { try watch(Self.root + Self.usb, named: "/mnt/usb").check(file) }
    #expect(throws: Never.self) { try watch(Self.root, fstab: "a /mnt/usb b c", named: "/").check(file) }
    let error = #expect(throws: StoreError.self) { try watch(Self.root, named: "/mnt/other").check(file) }
    #expect("\(String(describing: error))".contains("expected a folder above that file, got /mnt/other"))
  }

  @Test("no one says so: noted in another file system when the store was on a mount, and needed from then on")
  func noted() throws {
    let folder = try StoreFolder()
    let notes = folder.path + "/state/mounts"
    let file = "/mnt/my disk#1/store.sqlite"
    let disk = "30 22 8:17 / /mnt/my\\040disk\\0431 rw - ext4 /dev/sdb1 rw\n"
    #expect(watch(Self.root, notes: notes).missing(for: file) == nil, "a first start")
    #expect(watch(Self.root + disk, notes: notes).remember(file) == nil)
    #expect(
      watch(Self.root, notes: notes).missing(for: file)
        == .notMounted(file: file, mount: "/mnt/my disk#1", known: "noted in \(notes) when it was there"))
    #expect(watch(Self.root + disk, notes: notes).missing(for: file) == nil)
    // Told that it is to be there without a mount: the note goes.
    #expect(watch(Self.root, named: "/", notes: notes).remember(file) == nil)
    #expect(watch(Self.root, notes: notes).missing(for: file) == nil)
  }

  @Test("the notes would be on the same mount: people are warned; not for parts of the root's device, as services see")
  func unknown() {
    let file = "/mnt/usb/tactus/store.sqlite"
    let warning = watch(Self.root + Self.usb, notes: "/mnt/usb/tactus/mounts").remember(file)
    #expect(warning?.contains("a disk mounted at /mnt/usb") == true && warning?.contains("store.mount") == true)
    #expect(watch(Self.root + Self.usb, fstab: "x /mnt/usb ext4", notes: nil).remember(file) == nil)
    let bound = "31 22 8:1 /var/lib/private/tactus /var/lib/private/tactus rw - ext4 /dev/sda1 rw\n"
    #expect(
      watch(Self.root + bound, notes: "/var/lib/private/tactus/mounts").remember(
        "/var/lib/private/tactus/store.sqlite") == nil)
  }

  @Test("a store below a mount that is missing: not opened, and not a thing is made; mounted: opened")
  func opening() throws {
    let folder = try StoreFolder()
    let point = MountWatch.resolved(folder.path)
    let isThere = IsThere()
    let mounts = MountWatch(named: nil, notes: nil) {
      MountPoints(
        mounts: Self.root + (isThere.value ? "30 22 8:17 / \(point) rw - ext4 /dev/sdb1 rw\n" : ""),
        table: "LABEL=x \(point) ext4 nofail 0 2")
    }
    let file = StoreFile(folder.store, systems: StoreSystem.all, mounts: mounts)
    #expect(throws: StoreError.self) { try file.open(at: StoreFolder.noon) }
    #expect(file.trouble?.wayOut.hasPrefix("mount \(point)") == true)
    #expect(try folder.names("").isEmpty)
    isThere.value = true
    #expect(try file.open(at: StoreFolder.noon).origin == .created)
    try file.close()
  }

  // Safe: one thread.
  private final class IsThere: @unchecked Sendable { var value = false }
}
