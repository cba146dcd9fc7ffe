import DaemonSupport
import Foundation
import TestSupport
import Testing

@testable import Tactus
@testable import TactusDaemon

/// The files of a machine as a test makes them up, below a folder of its own.
struct MachineTree {
  let folder: TemporaryFolder
  var root: String { String(folder.path("").dropLast()) }

  init(_ files: [String: String]) throws {
    folder = try TemporaryFolder()
    for (path, text) in files { try write(path, text) }
  }

  func write(_ path: String, _ text: String) throws {
    let file = root + path
    let folder = String(file[..<file.lastIndex(of: "/")!])
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try text.write(toFile: file, atomically: false, encoding: .utf8)
  }

  func text(_ path: String) -> String? { try? String(contentsOfFile: root + path, encoding: .utf8) }

  /// Raspberry Pi OS bookworm as it comes, in essence: the settings that the system's image has, and its filters.
  static let firmware = """
    # For more options and information see
    # http://rptl.io/configtxt
    # Some settings may impact device functionality.

    # Uncomment some or all of these to enable the optional hardware interfaces
    #dtparam=i2c_arm=on
    #dtparam=i2s=on
    #dtparam=spi=on

    # Enable audio (loads snd_bcm2835)
    dtparam=audio=on
    camera_auto_detect=1
    dtoverlay=vc4-kms-v3d
    max_framebuffers=2
    arm_64bit=1

    [cm4]
    # Enable host mode on the 2711 built-in XHCI USB controller.
    otg_mode=1

    [all]

    """
  static let arguments =
    "console=serial0,115200 console=tty1 root=PARTUUID=4e639091-02 rootfstype=ext4 fsck.repair=yes rootwait\n"

  /// A Compute Module 4 with Raspberry Pi OS bookworm, nothing set up.
  static let computeModule = [
    "/boot/firmware/config.txt": firmware, "/boot/firmware/cmdline.txt": arguments,
    "/proc/cmdline": arguments, "/proc/sys/kernel/osrelease": "6.6.51+rpt-rpi-v8\n",
    "/proc/sys/kernel/version": "#1 SMP PREEMPT Debian 1:6.6.51-1+rpt3 (2024-10-08)\n",
    "/proc/sys/kernel/sched_rt_runtime_us": "950000\n", "/proc/sys/kernel/sched_rt_period_us": "1000000\n",
    "/proc/device-tree/soc/serial@7e201000/bluetooth/compatible": "brcm,bcm43438-bt\0",
    "/proc/irq/0/smp_affinity_list": "0-3\n", "/proc/irq/30/effective_affinity_list": "0\n",
    "/sys/devices/system/cpu/online": "0-3\n", "/sys/devices/system/cpu/isolated": "\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "ondemand\n",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource": "arch_sys_counter\n",
    "/sys/devices/platform/soc/soc:firmware/get_throttled": "50005\n",
    "/sys/class/watchdog/watchdog0/identity": "Broadcom BCM2835 Watchdog timer\n",
    "/sys/class/watchdog/watchdog0/state": "inactive\n", "/sys/class/watchdog/watchdog0/timeout": "15\n",
    "/sys/block/mmcblk0/device/life_time": "0x02 0x0a\n", "/sys/block/mmcblk0/device/pre_eol_info": "0x01\n",
    "/sys/block/mmcblk0boot0/size": "8192\n", "/sys/fs/ext4/mmcblk0p2/errors_count": "3\n",
    "/etc/group": "root:x:0:\ni2c:x:994:pi\n", "/dev/ttyAMA0": "",
  ]

  /// A plain Debian 12 on amd64.
  static let debian = [
    "/proc/cmdline": "BOOT_IMAGE=/boot/vmlinuz-6.1.0-26-amd64 root=UUID=1 ro quiet\n",
    "/proc/sys/kernel/osrelease": "6.1.0-26-amd64\n",
    "/proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC Debian 6.1.112-1\n",
    "/proc/sys/kernel/sched_rt_runtime_us": "950000\n", "/sys/devices/system/cpu/online": "0-7\n",
    "/sys/devices/system/cpu/isolated": "6-7\n", "/proc/irq/1/smp_affinity_list": "0-7\n",
    "/proc/irq/24/effective_affinity_list": "7\n", "/proc/irq/25/effective_affinity_list": "6\n",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n", "/etc/group": "root:x:0:\n",
  ]
}

@Suite("tactus setup pi", .ownThread)
struct PiSetupTests {
  private func changes(_ tree: MachineTree, _ change: (inout PiSetup.Wishes) -> Void) throws -> [PiSetup.Change] {
    var wishes = PiSetup.Wishes()
    change(&wishes)
    return try PiSetup(wishes: wishes) { tree.text($0) }.changes()
  }

  @Test("a Pi as it comes: each file's difference, as diff -u shows it")
  func differences() throws {
    let tree = try MachineTree(MachineTree.computeModule)
    let found = try changes(tree) {
      ($0.hasI2C, $0.hasSPI, $0.hasSerialLine, $0.isolated) = (true, true, true, [3])
    }
    #expect(
      found.map(\.path) == [
        "/boot/firmware/config.txt", "/boot/firmware/cmdline.txt", "/etc/modules-load.d/tactus.conf",
        "/etc/systemd/system.conf.d/tactus.conf", "/etc/tmpfiles.d/tactus.conf",
      ])
    #expect(
      found[0].difference == """
        --- /boot/firmware/config.txt
        +++ /boot/firmware/config.txt
        @@ -19,3 +19,9 @@
         otg_mode=1
         \n\
         [all]
        +# Added by tactus setup pi.
        +dtparam=i2c_arm=on
        +dtparam=spi=on
        +enable_uart=1
        +dtoverlay=disable-bt
        +dtparam=watchdog=on

        """)
    let arguments = "console=tty1 root=PARTUUID=4e639091-02 rootfstype=ext4 fsck.repair=yes rootwait"
    #expect(
      found[1].difference == """
        --- /boot/firmware/cmdline.txt
        +++ /boot/firmware/cmdline.txt
        @@ -1 +1 @@
        -console=serial0,115200 \(arguments)
        +\(arguments) isolcpus=3 irqaffinity=0-2

        """)
    #expect(
      found[2].difference == """
        --- /dev/null
        +++ /etc/modules-load.d/tactus.conf
        @@ -0,0 +1,2 @@
        +# Added by tactus setup pi.
        +i2c-dev

        """)
  }

  @Test("a difference shows by its number what is not seen, and tabs as they are")
  func unseen() {
    let difference = UnifiedDifference.text(
      of: "c.yaml", from: "a\u{202E}b\n", to: "a\u{202E}b\n\tx: \u{2028}\u{1B}[2J\n")
    #expect(
      difference == #"""
        --- c.yaml
        +++ c.yaml
        @@ -1 +1,2 @@
         a\u202eb
        +\#tx: \u2028\u001b[2J

        """#)
  }

  @Test("what is there already stays: written once, nothing is left to change; what somebody chose is not changed")
  func again() throws {
    let tree = try MachineTree(MachineTree.computeModule)
    func wish(_ wishes: inout PiSetup.Wishes) {
      (wishes.hasI2C, wishes.hasPWM, wishes.hasSerialLine, wishes.isolated) = (true, true, true, [2, 3])
    }
    for change in try changes(tree, wish) { try tree.write(change.path, change.new) }
    #expect(try changes(tree, wish) == [])
    let chosen = try MachineTree([
      "/boot/config.txt": "dtparam=i2c=on,spi=on\r\ndtoverlay=miniuart-bt\r\nenable_uart=1\r\ndtparam=watchdog\r\n",
      "/boot/cmdline.txt": "root=/dev/mmcblk0p2 isolcpus=1",
    ])
    let found = try changes(chosen) {
      ($0.hasI2C, $0.hasSPI, $0.hasSerialLine, $0.isolated) = (true, true, true, [3])
    }
    #expect(!found.contains { $0.path.hasPrefix("/boot") })
  }

  @Test("a setting under a filter holds for other boards: added for all; the last value of a parameter holds")
  func filters() throws {
    let tree = try MachineTree([
      "/boot/firmware/config.txt": "dtparam=spi=on\n[pi5]\ndtparam=i2c_arm=on\n",
      "/boot/firmware/cmdline.txt": "root=x",
    ])
    let text = try changes(tree) { ($0.hasI2C, $0.hasSPI) = (true, true) }[0].new
    #expect(
      text.hasSuffix(
        "[pi5]\ndtparam=i2c_arm=on\n\n[all]\n# Added by tactus setup pi.\ndtparam=i2c_arm=on\ndtparam=watchdog=on\n"))
    try tree.write("/boot/firmware/config.txt", "dtparam=spi=on\ndtparam=spi=off,watchdog=on\n")
    #expect(
      try changes(tree) { $0.hasSPI = true }[0].new.hasSuffix(
        "off,watchdog=on\n# Added by tactus setup pi.\ndtparam=spi=on\n"))
  }

  @Test(
    "what is not understood is refused with its file and line",
    arguments: [
      (
        "/boot/firmware/config.txt", "a=1\ninclude more.txt\n",
        "2: expected KEY=VALUE, [FILTER] or # a comment, got include more.txt"
      ),
      ("/boot/firmware/config.txt", "[cm4\n", "1: expected a filter as [all], got [cm4"),
      ("/boot/firmware/cmdline.txt", "root=x\n\nquiet\n", "3: expected one line in all, got quiet"),
      ("/boot/firmware/cmdline.txt", "\n", "1: expected the kernel's arguments, got nothing"),
    ])
  func refusals(path: String, text: String, reason: String) throws {
    let tree = try MachineTree(MachineTree.computeModule)
    try tree.write(path, text)
    let error = #expect(throws: BootFileError.self) { try changes(tree) { $0.hasI2C = true } }
    #expect(error?.description == "\(path):\(reason)")
  }

  @Test("the wishes of a configuration: its buses, its serial line, its radio; nothing for what is simulated")
  func wishes() throws {
    func wishes(_ text: String) throws -> PiSetup.Wishes {
      PiSetup.Wishes(try Configuration.read(YAMLFile(text: text, name: "c.yaml"), environment: [:]))
    }
    #expect(try wishes("motors: { backend: sim }") == PiSetup.Wishes())
    let rider = try wishes("motors: { backend: xgo-rider, serial_device: /dev/ttyAMA0 }")
    #expect(rider.hasSerialLine && !rider.hasI2C && !rider.keepsBluetooth)
    #expect(try wishes("motors: { backend: yb-pcb-car }").hasI2C)
    #expect(try wishes("plants: { sensors: [{ chip: mcp3008 }] }").hasSPI)
    #if Bluetooth
      #expect(try wishes("leg: { bluetooth: true }").keepsBluetooth)
    #endif
  }

  @Test(
    "the command: shows, writes nothing without a yes, keeps each file, then has nothing to change, and doctor is content"
  )
  func command() throws {
    let tree = try MachineTree(MachineTree.computeModule)
    let arguments = ["setup", "pi", "--root", tree.root, "--i2c", "--serial"]
    let asked = try TactusProcess(arguments)
    #expect(asked.finish() == 1)
    #expect(asked.said.contains("+dtoverlay=disable-bt") && asked.said.contains("give --yes"), "\(asked.said)")
    #expect(tree.text("/boot/firmware/config.txt") == MachineTree.firmware)
    let written = try TactusProcess(arguments + ["--yes"])
    #expect(written.finish() == 0, "\(written.said)")
    #expect(tree.text("/boot/firmware/config.txt.tactus-1") == MachineTree.firmware)
    #expect(tree.text("/boot/firmware/cmdline.txt.tactus-1") == MachineTree.arguments)
    #expect(tree.text("/boot/firmware/config.txt")?.contains("\ndtparam=i2c_arm=on\n") == true)
    let again = try TactusProcess(arguments + ["--yes"])
    #expect(again.finish() == 0 && again.said == "nothing to change\n")
    #expect(tree.text("/boot/firmware/config.txt.tactus-2") == nil)
    try tree.write("/boot/firmware/config.txt", "include x\n")
    let refused = try TactusProcess(arguments + ["--yes"])
    #expect(refused.finish() == 1)
    #expect(refused.said.contains("\(tree.root)/boot/firmware/config.txt:1: expected KEY=VALUE"), "\(refused.said)")
    #expect(tree.text("/boot/firmware/config.txt") == "include x\n")
  }
}
