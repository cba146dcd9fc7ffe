import CBusesLinux

/// The way in which devices are opened, for a program that gives up the permission to open them itself.
package enum LinuxDevices {
  /// Sets a function, permanently, that opens devices that this process cannot open. It gets the path and the flags of open(2), and
  /// returns a descriptor or −errno. With −EPERM or −EPIPE the original error is reported.
  package static func setOpener(_ opener: @escaping @convention(c) (UnsafePointer<CChar>?, Int32) -> Int32) {
    tactus_set_device_opener(opener)
  }
}
