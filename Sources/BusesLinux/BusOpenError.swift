import Buses
import CBusesLinux

/// The reason why a bus, line or socket could not be opened. The error is thrown at setup only, never in a tick.
///
/// The description states what was opened, the expected and the actual state, and a remedy.
public enum BusOpenError: Error, Sendable, Hashable {
  /// The kind of device that was to be opened.
  public enum Device: Sendable, Hashable {
    /// An I2C adapter, /dev/i2c-N.
    case i2cAdapter
    /// A serial line, /dev/ttyX.
    case serialLine
    /// A chip select of an SPI bus, /dev/spidevB.C.
    case spiDevice
    /// An output of a PWM unit, /sys/class/pwm/pwmchipC/pwmN.
    case pwmUnit
  }

  /// The user that keeps a serial line busy.
  public enum Holder: Sendable, Hashable {
    /// The kernel, which writes its messages to the line (`console=` on the kernel's command line).
    case kernelConsole
    /// The holder is another program, which has opened the line exclusively.
    case anotherProcess
  }

  /// The path does not exist, or there is no device behind it.
  case noSuchDevice(Device, path: String)
  /// The user may not open the device.
  case noPermission(Device, path: String)
  /// The path was opened and is another kind of device.
  case wrongDevice(Device, path: String)
  /// The adapter lacks operations that its drivers need, given by their SMBus names.
  case adapterLacks(path: String, operations: [String])
  /// A kernel driver is bound to the chip's address.
  case addressClaimedByKernel(path: String, address: I2CAddress)
  /// Another program, or another part of this program, drives the chip.
  case addressInUse(path: String, address: I2CAddress)
  /// Another owner drives the PWM unit's output.
  case outputInUse(path: String)
  /// Another owner uses the serial line.
  case lineBusy(path: String, holder: Holder)
  /// The line or the kernel does not support this baud rate. `supported` lists the rates that are supported.
  case unsupportedBaudRate(path: String, asked: Int, supported: [Int])
  /// The text is not a numeric IPv4 or IPv6 address.
  case badBindAddress(String)
  /// The address belongs to no local interface.
  case addressNotHere(String)
  /// Another socket uses this port of the address.
  case portInUse(address: String, port: UInt16)
  /// The port is below 1024 and needs a privilege.
  case portNotPermitted(address: String, port: UInt16)
  /// The kernel reported another error.
  case system(what: String, errno: Int32)
}

extension BusOpenError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noSuchDevice(let device, let path):
      "\(path): expected \(device), found no such device; \(device.enabling)"
    case .noPermission(let device, let path):
      "\(path): expected to read and write it, permission denied; add the user to group \(device.group)"
        + " (sudo usermod -aG \(device.group) USER) and log in again"
    case .wrongDevice(let device, let path):
      "\(path): expected \(device), found something else; \(device.listing)"
    case .adapterLacks(let path, let operations):
      "\(path): the adapter lacks \(operations.joined(separator: ", ")); use another I2C bus (i2cdetect -F N shows what"
        + " bus N can do)"
    case .addressClaimedByKernel(let path, let address):
      "\(path): a kernel driver holds address 0x\(hex(address.value)) (UU in i2cdetect); remove its device-tree overlay"
        + " or unbind the driver"
    case .addressInUse(let path, let address):
      "\(path): another process drives the chip at address 0x\(hex(address.value)); find it with fuser -v \(path), or configure"
        + " another chip"
    case .outputInUse(let path):
      "\(path): another process drives this output; find it with fuser -v \(path)/duty_cycle, or configure another output"
    case .lineBusy(let path, .kernelConsole):
      "\(path): the kernel's console is on this line; switch it off with raspi-config (Interface Options → Serial Port:"
        + " login shell no, hardware yes) and reboot"
    case .lineBusy(let path, .anotherProcess):
      "\(path): another process holds this line; find it with fuser -v \(path), and stop a login there with systemctl"
        + " disable --now serial-getty@\(path.split(separator: "/").last ?? "TTY").service"
    case .unsupportedBaudRate(let path, let asked, let supported):
      "\(path): expected a rate of \(supported.map(String.init).joined(separator: ", ")) bit/s, got \(asked)"
    case .badBindAddress(let text):
      "bind address: expected a numeric IPv4 or IPv6 address (127.0.0.1, 0.0.0.0, ::), got \"\(text)\""
    case .addressNotHere(let text):
      "bind address \(text): no network interface has it; use 0.0.0.0 for all, or one that `ip address` lists"
    case .portInUse(let address, let port):
      "UDP port \(port) on \(address): already in use; find the program with ss -ulpn 'sport = :\(port)', or configure"
        + " another port"
    case .portNotPermitted(let address, let port):
      "UDP port \(port) on \(address): permission denied; use a port from 1024 up"
    case .system(let what, let errno):
      "\(what): \(errorText(errno)) (errno \(errno))"
    }
  }
}

extension BusOpenError.Device: CustomStringConvertible {
  public var description: String {
    switch self {
    case .i2cAdapter: "an I2C adapter"
    case .serialLine: "a serial line"
    case .spiDevice: "an SPI device"
    case .pwmUnit: "a PWM unit's output"
    }
  }

  var group: String {
    switch self {
    case .i2cAdapter: "i2c"
    case .serialLine: "dialout"
    case .spiDevice: "spi"
    case .pwmUnit: "gpio"
    }
  }

  var enabling: String {
    switch self {
    case .i2cAdapter: "enable I2C with raspi-config (Interface Options → I2C), and see what i2cdetect -l lists"
    case .serialLine: "enable the UART with raspi-config (Interface Options → Serial Port), or plug the adapter in"
    case .pwmUnit:
      "add dtoverlay=pwm to /boot/firmware/config.txt, reboot, and see what ls /sys/class/pwm lists"
    case .spiDevice: "enable SPI with raspi-config (Interface Options → SPI), and see what ls /dev/spidev* lists"
    }
  }

  var listing: String {
    switch self {
    case .i2cAdapter: "i2cdetect -l lists the adapters"
    case .serialLine: "ls /dev/tty* lists the lines"
    case .spiDevice: "ls /dev/spidev* lists the devices"
    case .pwmUnit: "ls /sys/class/pwm lists the units"
    }
  }

  /// Returns the error for an error number that every open(2) can give.
  func openError(path: String, errno: Int32) -> BusOpenError {
    switch errno {
    case 2, 6, 19, 20: .noSuchDevice(self, path: path)  // ENOENT, ENXIO, ENODEV, ENOTDIR
    case 1, 13: .noPermission(self, path: path)  // EPERM, EACCES
    case 16: .lineBusy(path: path, holder: .anotherProcess)  // EBUSY
    case 21, 25: .wrongDevice(self, path: path)  // EISDIR, ENOTTY
    default: .system(what: path, errno: errno)
    }
  }
}

/// Returns the C library's text for an error number.
func errorText(_ errno: Int32) -> String { String(cString: tactus_error_text(errno)) }

/// The way in which devices are opened, for a program that gives up the permission to open them itself.
package enum LinuxDevices {
  /// Sets a function, permanently, that opens devices that this process cannot open. It gets the path and the flags of open(2), and
  /// returns a descriptor or −errno. With −EPERM or −EPIPE the original error is reported.
  package static func setOpener(_ opener: @escaping @convention(c) (UnsafePointer<CChar>?, Int32) -> Int32) {
    tactus_set_device_opener(opener)
  }
}
